package dev.parley.protocol.support;

import java.util.Collection;
import java.util.Comparator;
import java.util.Optional;

/** The closest known word to a misspelt one, for error messages. */
public final class Nearest {
    /** Maximum distance of a candidate from a word that abbreviates it. */
    private static final int ABBREVIATED = 3;

    /** Letters that may be changed in a short word: two of them in the wrong order are two changes. */
    private static final int MISSPELT = 2;

    private Nearest() {}

    /**
     * Returns the candidate with the fewest changed letters; the first of them if there are several. A candidate that the word
     * abbreviates, as {@code CreateConfig} does {@code CreateTaskConfig}, is near too.
     *
     * @throws java.util.NoSuchElementException if there are no candidates
     */
    public static String to(String word, Collection<String> candidates) {
        return candidates.stream()
                .min(Comparator.<String>comparingInt(candidate -> abbreviates(word, candidate)
                                ? Math.min(distance(word, candidate), ABBREVIATED)
                                : distance(word, candidate))
                        .thenComparingInt(candidate -> distance(word, candidate)))
                .orElseThrow();
    }

    /** Returns the nearest candidate if the word may be a misspelling or an abbreviation of it: a third of its letters changed. */
    public static Optional<String> like(String word, Collection<String> candidates) {
        return candidates.stream()
                .filter(candidate -> abbreviates(word, candidate)
                        || distance(word, candidate) <= Math.max(MISSPELT, word.length() / 3))
                .findAny()
                .map(any -> to(word, candidates));
    }

    /** Returns the nearest candidate if the word is not a candidate, and its length differs by two letters at most. */
    public static Optional<String> misspelt(String word, Collection<String> candidates) {
        return candidates.contains(word)
                ? Optional.empty()
                : like(word, candidates).filter(near -> Math.abs(near.length() - word.length()) <= MISSPELT);
    }

    private static boolean abbreviates(String word, String candidate) {
        int matched = 0;
        for (int i = 0; i < candidate.length() && matched < word.length(); i++) {
            if (candidate.charAt(i) == word.charAt(matched)) {
                matched++;
            }
        }
        return matched == word.length();
    }

    private static int distance(String a, String b) {
        int[] row = new int[b.length() + 1];
        for (int j = 0; j <= b.length(); j++) {
            row[j] = j;
        }
        for (int i = 1; i <= a.length(); i++) {
            int diagonal = row[0];
            row[0] = i;
            for (int j = 1; j <= b.length(); j++) {
                int changed = diagonal + (a.charAt(i - 1) == b.charAt(j - 1) ? 0 : 1);
                diagonal = row[j];
                row[j] = Math.min(changed, Math.min(row[j], row[j - 1]) + 1);
            }
        }
        return row[b.length()];
    }
}
