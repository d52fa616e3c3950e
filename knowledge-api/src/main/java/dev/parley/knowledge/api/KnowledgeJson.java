package dev.parley.knowledge.api;

import static dev.parley.protocol.json.Codecs.BOOLEAN;
import static dev.parley.protocol.json.Codecs.DOUBLE;
import static dev.parley.protocol.json.Codecs.FREE;
import static dev.parley.protocol.json.Codecs.INT;
import static dev.parley.protocol.json.Codecs.OLD_TIMESTAMP;
import static dev.parley.protocol.json.Codecs.STRUCT;
import static dev.parley.protocol.json.Codecs.TEXT;
import static dev.parley.protocol.json.Codecs.TEXTS;
import static java.util.Objects.requireNonNull;

import dev.parley.knowledge.api.KnowledgeOperation.Change;
import dev.parley.knowledge.api.KnowledgeOperation.Query;
import dev.parley.knowledge.api.KnowledgeOperation.QueryResult;
import dev.parley.knowledge.api.KnowledgeOperation.Subscribe;
import dev.parley.knowledge.api.KnowledgeOperation.Update;
import dev.parley.knowledge.api.KnowledgeOperation.UpdateResult;
import dev.parley.knowledge.api.Term.Literal;
import dev.parley.knowledge.api.Term.Resource;
import dev.parley.protocol.InvalidField;
import dev.parley.protocol.json.Codec;
import dev.parley.protocol.json.Codecs;
import dev.parley.protocol.json.FieldPath;
import dev.parley.protocol.json.ObjectCodec;
import java.math.BigDecimal;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JsonGenerator;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;

/**
 * JSON form of the data of the knowledge graph extension.
 *
 * <p>Its published schema knows no null members and no identifiers without dashes, so none are written; both are read,
 * and so are times without an offset, because the published clients send them.
 *
 * <p>Source: knowledge graph extension, "Data models".
 */
final class KnowledgeJson {
    private KnowledgeJson() {}

    /** A string, a boolean or a {@link BigDecimal}: digits count. */
    private static final Codec<Object> SCALAR = new Codec<>() {
        @Override
        public String expected() {
            return "a string, a number, true or false";
        }

        @Override
        public Object read(JsonParser in) {
            return switch (in.currentToken()) {
                case VALUE_STRING -> in.getString();
                case VALUE_TRUE -> true;
                case VALUE_FALSE -> false;
                case VALUE_NUMBER_INT, VALUE_NUMBER_FLOAT -> in.getDecimalValue();
                default -> throw FieldPath.unexpected(in, expected());
            };
        }

        @Override
        public void write(JsonGenerator out, Object value) {
            FREE.write(out, value);
        }

        @Override
        public Map<String, Object> schema(Function<Codec<?>, Map<String, Object>> others) {
            return Map.of("anyOf", List.of(others.apply(TEXT), others.apply(DOUBLE), others.apply(BOOLEAN)));
        }
    };

    private static final Codec<Duration> SECONDS = new Codec<>() {
        @Override
        public String expected() {
            return "a whole number of seconds";
        }

        @Override
        public Duration read(JsonParser in) {
            JsonToken token = in.currentToken();
            try {
                if (token.isNumeric()) {
                    BigDecimal seconds = in.getDecimalValue();
                    if (Math.abs((long) seconds.precision() - seconds.scale()) < Long.SIZE) {
                        return Duration.ofSeconds(seconds.longValueExact());
                    }
                }
            } catch (ArithmeticException fraction) {
                // said below
            }
            throw FieldPath.unexpected(in, expected());
        }

        @Override
        public void write(JsonGenerator out, Duration value) {
            out.writeNumber(value.toSeconds());
        }

        @Override
        public Map<String, Object> schema(Function<Codec<?>, Map<String, Object>> others) {
            return Map.of("type", "integer");
        }
    };

    private static final Codec<Resource> SUBJECT = ObjectCodec.<Resource>of()
            .required("id", TEXT, Resource::id)
            .optional("type", TEXT, Resource::type)
            .as(v -> new Resource(v.next(), nonEmpty(v.next())));

    private static final Codec<String> PREDICATE =
            ObjectCodec.<String>of().required("id", TEXT, id -> id).as(v -> v.next());

    /** The language of a text is beyond the published schema, which allows further members. */
    static final Codec<Term> OBJECT = ObjectCodec.<Term>of()
            .optional("id", TEXT, term -> term instanceof Resource resource ? resource.id() : null)
            .optional("value", SCALAR, term -> term instanceof Literal literal ? value(literal) : null)
            .optional("type", TEXT, KnowledgeJson::type)
            .optional("language", TEXT, term -> term instanceof Literal literal ? literal.language() : null)
            .as(v -> term(v.next(), v.next(), nonEmpty(v.next()), nonEmpty(v.next())));

    static final Codec<Statement> STATEMENT = ObjectCodec.<Statement>of()
            .required("subject", SUBJECT, Statement::subject)
            .required("predicate", PREDICATE, Statement::predicate)
            .required("object", OBJECT, Statement::object)
            .optional("graph", TEXT, Statement::graph)
            .optional("certainty", DOUBLE, Statement::certainty)
            .optional("provenance", STRUCT, Map.of(), Statement::provenance)
            .as(v -> new Statement(v.next(), v.next(), v.next(), v.next(), v.next(), v.next()));

    private static final Codec<Patch.Op> OP =
            Codecs.words(Map.of(Patch.Op.ADD, "add", Patch.Op.REMOVE, "remove", Patch.Op.REPLACE, "replace"), Map.of());

    static final Codec<Patch> PATCH = ObjectCodec.<Patch>of()
            .required("op", OP, Patch::op)
            .required("statement", STATEMENT, Patch::statement)
            .as(v -> new Patch(v.next(), v.next()));

    /** KnowledgeQueryParams. */
    static final ObjectCodec<Query> QUERY = ObjectCodec.<Query>of()
            .required("query", TEXT, Query::query)
            .always("queryLanguage", TEXT, KnowledgeOperation.GRAPHQL, Query::language)
            .optional("variables", STRUCT, Map.of(), Query::variables)
            .optional("requiredCertainty", DOUBLE, Query::requiredCertainty)
            .optional("maxAgeSeconds", SECONDS, Query::maxAge)
            .optional("taskId", TEXT, Query::taskId)
            .optional("sessionId", TEXT, Query::sessionId)
            .optional("metadata", STRUCT, Map.of(), Query::metadata)
            .as(v -> new Query(v.next(), v.next(), v.next(), v.next(), v.next(), v.next(), v.next(), v.next()));

    /** KnowledgeUpdateParams. The member {@code sparql} is beyond the published extension. */
    static final ObjectCodec<Update> UPDATE = ObjectCodec.<Update>of()
            .optional("mutations", Codecs.list(PATCH), update -> update.sparql() == null ? update.mutations() : null)
            .optional("sparql", TEXT, Update::sparql)
            .optional("sourceAgentId", TEXT, Update::sourceAgentId)
            .optional("justification", TEXT, Update::justification)
            .optional("taskId", TEXT, Update::taskId)
            .optional("sessionId", TEXT, Update::sessionId)
            .optional("metadata", STRUCT, Map.of(), Update::metadata)
            .as(v -> update(v.next(), v.next(), v));

    /** KnowledgeSubscribeParams. */
    static final ObjectCodec<Subscribe> SUBSCRIBE = ObjectCodec.<Subscribe>of()
            .required("subscriptionQuery", TEXT, Subscribe::query)
            .always("queryLanguage", TEXT, KnowledgeOperation.GRAPHQL, Subscribe::language)
            .optional("variables", STRUCT, Map.of(), Subscribe::variables)
            .optional("taskId", TEXT, Subscribe::taskId)
            .optional("sessionId", TEXT, Subscribe::sessionId)
            .optional("metadata", STRUCT, Map.of(), Subscribe::metadata)
            .as(v -> new Subscribe(v.next(), v.next(), v.next(), v.next(), v.next(), v.next()));

    /** KnowledgeQueryResponseResult. */
    static final Codec<QueryResult> QUERY_RESULT = ObjectCodec.<QueryResult>of()
            .optional("data", FREE, QueryResult::data)
            .optional("queryMetadata", STRUCT, Map.of(), QueryResult::metadata)
            .as(v -> new QueryResult(present(v.next()), v.next()));

    /** KnowledgeUpdateResponseResult. */
    static final Codec<UpdateResult> UPDATE_RESULT = ObjectCodec.<UpdateResult>of()
            .required("success", BOOLEAN, UpdateResult::success)
            .optional("statementsAffected", INT, UpdateResult::statementsAffected)
            .optional("affectedIds", TEXTS, List.of(), UpdateResult::affectedIds)
            .optional("verificationStatus", TEXT, UpdateResult::verificationStatus)
            .optional("verificationDetails", TEXT, UpdateResult::verificationDetails)
            .as(v -> new UpdateResult(v.next(), v.next(), v.next(), v.next(), v.next()));

    /** KnowledgeGraphChangeEvent. */
    static final Codec<Change> CHANGE = ObjectCodec.<Change>of()
            .required("op", OP, Change::op)
            .required("statement", STATEMENT, Change::statement)
            .required("changeId", TEXT, change -> dashed(change.changeId()))
            .required("timestamp", OLD_TIMESTAMP, Change::timestamp)
            .optional("changeMetadata", STRUCT, Map.of(), Change::metadata)
            .as(v -> new Change(v.next(), v.next(), dashed(v.next()), v.next(), v.next()));

    private static Update update(@Nullable List<Patch> mutations, @Nullable String sparql, ObjectCodec.Values v) {
        if (mutations == null && sparql == null) {
            throw InvalidField.of("mutations", "missing (expected: an array)");
        }
        return new Update(
                mutations == null ? List.of() : mutations, sparql, v.next(), v.next(), v.next(), v.next(), v.next());
    }

    private static Term term(
            @Nullable String id, @Nullable Object value, @Nullable String type, @Nullable String language) {
        if ((id == null) == (value == null)) {
            throw InvalidField.of("", (id == null ? "neither" : "both") + " (expected: exactly one of id and value)");
        }
        if (id != null) {
            return new Resource(id, type);
        }
        Literal plain = switch (requireNonNull(value)) {
            case Boolean truth -> Literal.of(truth);
            case BigDecimal number -> Literal.of(number);
            default -> Literal.of(value.toString());
        };
        if (language != null) {
            return new Literal(plain.lexical(), type == null ? Literal.LANG_STRING : type, language);
        }
        return type == null ? plain : new Literal(plain.lexical(), type, null);
    }

    /** JSON's own value where that says all; else the text, lest a reader takes 007 for 7. */
    private static Object value(Literal literal) {
        return literal.isPlain() ? literal.value() : literal.lexical();
    }

    private static @Nullable String type(Term term) {
        return switch (term) {
            case Resource resource -> resource.type();
            case Literal literal -> literal.isPlain() ? null : literal.datatype();
        };
    }

    private static @Nullable String nonEmpty(@Nullable String text) {
        return text == null || text.isEmpty() ? null : text;
    }

    private static @Nullable Object present(@Nullable Object data) {
        return Codecs.NULL.equals(data) ? null : data;
    }

    /** A UUID as its format wants it, also if the peer left out the dashes. */
    private static String dashed(String id) {
        return id.length() == 32 && id.indexOf('-') < 0
                ? id.substring(0, 8)
                        + '-'
                        + id.substring(8, 12)
                        + '-'
                        + id.substring(12, 16)
                        + '-'
                        + id.substring(16, 20)
                        + '-'
                        + id.substring(20)
                : id;
    }
}
