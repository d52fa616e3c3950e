package dev.parley.knowledge.graphql;

import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.function.Function;

/** GraphQL names of IRIs: their last segment; a number is added if the name is taken. */
final class TypedNames {
    private final Set<String> taken;

    TypedNames(Collection<String> taken) {
        this.taken = new HashSet<>(taken);
    }

    /**
     * Takes names that belong together, and returns what they end with: nothing or, if one of them would be taken, a number.
     *
     * @param names makes the names from their end
     */
    String take(Function<String, List<String>> names) {
        String end = "";
        for (int number = 2; names.apply(end).stream().anyMatch(taken::contains); number++) {
            end = Integer.toString(number);
        }
        taken.addAll(names.apply(end));
        return end;
    }

    /** Takes one name, with a number if it is taken. */
    String take(String wish) {
        return wish + take(end -> List.of(wish + end));
    }

    static String ofType(String iri) {
        String name = local(iri);
        return name.substring(0, 1).toUpperCase(Locale.ROOT) + name.substring(1);
    }

    static String ofField(String iri) {
        String name = local(iri);
        return name.substring(0, 1).toLowerCase(Locale.ROOT) + name.substring(1);
    }

    /** True if a field with this name may show what a predicate says, there or back. */
    static boolean mayShow(String name, String predicate) {
        String field = ofField(predicate);
        return name.startsWith(field) && name.substring(field.length()).matches("(Of)?[0-9]*");
    }

    static String plural(String name) {
        if (name.matches(".*(s|x|z|ch|sh)")) {
            return name + "es";
        }
        return name.matches(".*[^aeiou_0-9]y") ? name.substring(0, name.length() - 1) + "ies" : name + "s";
    }

    /** Returns the last part of an IRI, as a name of GraphQL. */
    private static String local(String iri) {
        int end = iri.length();
        while (end > 0 && "/#:".indexOf(iri.charAt(end - 1)) >= 0) {
            end--;
        }
        int start = end;
        while (start > 0 && "/#:".indexOf(iri.charAt(start - 1)) < 0) {
            start--;
        }
        // One underscore at the front would be taken for one of our own fields, two are GraphQL's.
        String name = iri.substring(start, end).replaceAll("[^A-Za-z0-9_]", "_").replaceAll("^_+", "");
        if (name.isEmpty()) {
            return "thing";
        }
        return Character.isDigit(name.charAt(0)) ? "n" + name : name;
    }
}
