package dev.parley.knowledge.graphql;

import dev.parley.knowledge.api.Term;
import dev.parley.knowledge.api.Term.Literal;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** Natural languages that a reader accepts, the preferred one first; empty for any. */
record Languages(List<String> wanted) {
    static Languages of(List<String> wanted) {
        return new Languages(wanted.stream()
                .map(language -> language.toLowerCase(Locale.ROOT))
                .toList());
    }

    /**
     * Returns the terms in the order in which they are wanted: texts in the language wanted most, without those in other
     * languages, then terms without language. If no language is wanted, or none is there, terms without language come
     * first and all others follow.
     */
    List<Term> preferred(List<Term> terms) {
        int best = terms.stream().mapToInt(this::rank).min().orElse(wanted.size());
        if (best >= wanted.size()) {
            return terms.stream()
                    .sorted(Comparator.comparing(term -> language(term) != null))
                    .toList();
        }
        return terms.stream()
                .filter(term -> language(term) == null || rank(term) == best)
                .sorted(Comparator.comparing(term -> language(term) == null))
                .toList();
    }

    /** Returns the rank of a term's language among the accepted ones; {@code en} accepts any {@code en-…}. */
    private int rank(Term term) {
        String language = language(term);
        if (language == null) {
            return wanted.size();
        }
        String tag = language.toLowerCase(Locale.ROOT);
        for (int rank = 0; rank < wanted.size(); rank++) {
            String want = wanted.get(rank);
            if (tag.equals(want) || tag.startsWith(want + "-")) {
                return rank;
            }
        }
        return wanted.size();
    }

    private static @Nullable String language(Term term) {
        return term instanceof Literal literal ? literal.language() : null;
    }
}
