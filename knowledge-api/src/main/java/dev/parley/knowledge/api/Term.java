package dev.parley.knowledge.api;

import static java.util.Objects.requireNonNull;

import dev.parley.protocol.InvalidField;
import java.math.BigDecimal;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Subject or object of a statement: a resource or a literal value, as in RDF.
 *
 * <p>Source: knowledge graph extension, model KGObject; RDF 1.1 Concepts, section 3.
 */
public sealed interface Term {
    /** The namespace of RDF's own names. */
    String RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#";

    /** The namespace of RDF Schema. */
    String RDFS = "http://www.w3.org/2000/01/rdf-schema#";

    /** The namespace of OWL. */
    String OWL = "http://www.w3.org/2002/07/owl#";

    /** The namespace of the datatypes of XML Schema. */
    String XSD = "http://www.w3.org/2001/XMLSchema#";

    /** The predicate that says what kind of thing its subject is. */
    String TYPE = RDF + "type";

    /** Characters that a name may have: names are kept in memory where values are not. */
    int MAX_NAME = 4_096;

    /**
     * Something that has a name: an IRI, a compact IRI such as {@code ex:p1}, or any other text. Names are compared as
     * they are written, except that {@code rdf:}, {@code rdfs:}, {@code owl:} and {@code xsd:} stand for their namespaces.
     *
     * @param type what kind of thing it is, as a hint for the reader; does not make it another resource
     */
    record Resource(String id, @Nullable String type) implements Term {
        public Resource {
            id = name("id", id);
            type = type == null ? null : name("type", type);
        }

        public static Resource of(String id) {
            return new Resource(id, null);
        }

        /** True if both are the same resource, whatever their hints say. */
        @Override
        public boolean equals(@Nullable Object other) {
            return other instanceof Resource resource && resource.id.equals(id);
        }

        @Override
        public int hashCode() {
            return id.hashCode();
        }
    }

    /**
     * A value.
     *
     * @param lexical the value as text
     * @param datatype the IRI of its type
     * @param language a BCP 47 tag for text in a natural language; the datatype is then {@code rdf:langString}
     */
    record Literal(
            String lexical, String datatype, @Nullable String language) implements Term {
        public static final String STRING = XSD + "string";
        public static final String BOOLEAN = XSD + "boolean";
        public static final String INTEGER = XSD + "integer";
        public static final String DECIMAL = XSD + "decimal";
        public static final String DOUBLE = XSD + "double";
        public static final String LANG_STRING = RDF + "langString";

        /** Numbers beyond a double's range are written as text, because their digits could be a billion. */
        private static final int MAX_EXPONENT = 308;

        private static final int MAX_LANGUAGE = 100;

        /** Source: BCP 47, section 2.1, which has more to say about each part. */
        private static final Pattern TAG = Pattern.compile("[A-Za-z]{1,8}(-[A-Za-z0-9]{1,8})*");

        /** Characters of a number, time or the like: reading a million digits takes a processor seconds. */
        private static final int MAX_VALUE = 1_000;

        private static final Set<String> TEXTS = Stream.of(
                        "string", "normalizedString", "token", "anyURI", "base64Binary", "hexBinary")
                .map(name -> XSD + name)
                .collect(Collectors.toUnmodifiableSet());

        public Literal {
            unicode("value", requireNonNull(lexical, "lexical"));
            datatype = name("type", datatype);
            if (datatype.startsWith("@")) {
                throw InvalidField.of("type", datatype + " (expected: a datatype; this is a keyword of JSON-LD)");
            }
            if (isTooLong(lexical, datatype)) {
                throw InvalidField.of(
                        "value",
                        lexical.length() + " characters (expected: at most " + MAX_VALUE + " of type " + datatype
                                + ")");
            }
            if (language != null
                    && (language.length() > MAX_LANGUAGE
                            || !TAG.matcher(language).matches())) {
                throw InvalidField.of("language", "no language (expected: a tag such as de or en-GB)");
            }
            if ((language != null) != datatype.equals(LANG_STRING)) {
                throw InvalidField.of(
                        "type", datatype + " (expected: " + LANG_STRING + " if, and only if, there is a language)");
            }
        }

        /** True if a value of this type that is not text would take long to be understood. */
        public static boolean isTooLong(String lexical, String datatype) {
            return lexical.length() > MAX_VALUE && datatype.startsWith(XSD) && !TEXTS.contains(datatype);
        }

        public static Literal of(String text) {
            return new Literal(text, STRING, null);
        }

        public static Literal of(boolean value) {
            return new Literal(Boolean.toString(value), BOOLEAN, null);
        }

        public static Literal of(long value) {
            return new Literal(Long.toString(value), INTEGER, null);
        }

        /**
         * A number as JSON has it: an integer if it is written without point and exponent, else a decimal.
         *
         * @throws InvalidField if its exponent is beyond that of a double
         */
        public static Literal of(BigDecimal value) {
            if (value.signum() != 0 && Math.abs((long) value.precision() - value.scale()) > MAX_EXPONENT
                    || Math.abs((long) value.scale()) > 2 * MAX_EXPONENT) {
                throw InvalidField.of("value", "a number out of range (expected: at most 1e308)");
            }
            return new Literal(value.toPlainString(), value.scale() > 0 ? DECIMAL : INTEGER, null);
        }

        /** Text in a natural language. */
        public static Literal of(String text, String language) {
            return new Literal(text, LANG_STRING, language);
        }

        /** The value as JSON has it: a {@link Boolean} or {@link BigDecimal} if it is one, else its text. */
        public Object value() {
            return switch (datatype) {
                case BOOLEAN -> truth();
                case INTEGER, DECIMAL -> number();
                default -> lexical;
            };
        }

        private Object truth() {
            boolean isTrue = lexical.equals("true") || lexical.equals("1");
            return isTrue || lexical.equals("false") || lexical.equals("0") ? (Object) isTrue : lexical;
        }

        private Object number() {
            try {
                return new BigDecimal(lexical);
            } catch (NumberFormatException noNumber) {
                return lexical;
            }
        }

        /** True if {@link #value()}, read back from JSON without a type, is this literal. */
        public boolean isPlain() {
            return switch (datatype) {
                case STRING -> true;
                case BOOLEAN -> value() instanceof Boolean is && is.toString().equals(lexical);
                case INTEGER, DECIMAL ->
                    value() instanceof BigDecimal number
                            && isWithinRange(number)
                            && of(number).equals(this);
                default -> false;
            };
        }

        private static boolean isWithinRange(BigDecimal number) {
            return Math.abs((long) number.scale()) <= MAX_EXPONENT && number.precision() <= MAX_EXPONENT;
        }
    }

    /** Returns a name as it is compared, or says in which field something stands that is not one. */
    static String name(String field, String name) {
        requireNonNull(name, field);
        if (name.isEmpty()) {
            throw InvalidField.of(field, "must not be empty");
        }
        if (name.length() > MAX_NAME) {
            throw InvalidField.of(field, name.length() + " characters (expected: at most " + MAX_NAME + ")");
        }
        unicode(field, name);
        return expand(name);
    }

    /**
     * Refuses invalid UTF-16, and U+0000, which not every database keeps.
     *
     * @throws InvalidField if there is such a thing in {@code text}
     */
    static void unicode(String field, String text) {
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            if (c == 0) {
                throw InvalidField.of(field, "U+0000 at " + i + " (expected: characters other than that)");
            }
            if (Character.isSurrogate(c)) {
                if (i + 1 == text.length() || !Character.isSurrogatePair(c, text.charAt(i + 1))) {
                    throw InvalidField.of(field, "half a character at " + i + " (expected: pairs of surrogates)");
                }
                i++;
            }
        }
    }

    /** Writes out the namespaces that have one fixed abbreviation. */
    static String expand(String id) {
        int colon = id.indexOf(':');
        return switch (colon < 0 ? "" : id.substring(0, colon)) {
            case "rdf" -> RDF + id.substring(colon + 1);
            case "rdfs" -> RDFS + id.substring(colon + 1);
            case "owl" -> OWL + id.substring(colon + 1);
            case "xsd" -> XSD + id.substring(colon + 1);
            default -> id;
        };
    }
}
