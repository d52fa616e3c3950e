package dev.parley.registry.search;

import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.List;

/** Rows of the index that match a query, in their order, with their scores and the weight of the terms that they have. For one thread. */
final class Matches {
    private int[] rows;
    private float[] scores;
    private final float[] weights;
    private int size;

    private Matches(int[] rows, float[] scores, float[] weights, int size) {
        this.rows = rows;
        this.scores = scores;
        this.weights = weights;
        this.size = size;
    }

    private static Matches of(QueryWord term, double factor) {
        WordList list = term.list();
        float[] scores = new float[list.size()];
        float unit = unit(term, factor);
        for (int i = 0; i < scores.length; i++) {
            scores[i] = unit * list.fits()[i];
        }
        float[] weights = new float[scores.length];
        Arrays.fill(weights, (float) term.weight());
        return new Matches(list.rows(), scores, weights, scores.length);
    }

    private static float unit(QueryWord term, double factor) {
        return (float) (factor * term.weight() / WordList.BEST);
    }

    /** The rows that have all terms, of which the first one has the fewest rows. */
    static Matches all(List<QueryWord> terms) {
        Matches matches = of(terms.getFirst(), 1);
        for (QueryWord term : terms.subList(1, terms.size())) {
            matches.retain(term);
        }
        return matches;
    }

    /** The rows that have one of these terms at least. */
    static Matches any(List<QueryWord> terms, double factor) {
        var parts = new ArrayDeque<Matches>();
        terms.forEach(term -> parts.add(of(term, factor)));
        while (parts.size() > 1) {
            parts.add(union(parts.remove(), parts.remove()));
        }
        return parts.remove();
    }

    private static Matches union(Matches one, Matches other) {
        int[] rows = new int[one.size + other.size];
        float[] scores = new float[rows.length];
        float[] weights = new float[rows.length];
        int size = 0;
        for (int i = 0, j = 0; i < one.size || j < other.size; size++) {
            int left = i < one.size ? one.rows[i] : Integer.MAX_VALUE;
            int right = j < other.size ? other.rows[j] : Integer.MAX_VALUE;
            rows[size] = Math.min(left, right);
            if (left <= right) {
                scores[size] += one.scores[i];
                weights[size] += one.weights[i++];
            }
            if (right <= left && j < other.size) {
                scores[size] += other.scores[j];
                weights[size] += other.weights[j++];
            }
        }
        return new Matches(rows, scores, weights, size);
    }

    private void retain(QueryWord term) {
        int[] listed = term.list().rows();
        char[] fits = term.list().fits();
        float unit = unit(term, 1);
        int[] kept = new int[Math.min(size, listed.length)];
        float[] keptScores = new float[kept.length];
        int count = 0;
        int at = 0;
        for (int i = 0; i < size && at < listed.length; i++) {
            at = seek(listed, at, rows[i]);
            if (at < listed.length && listed[at] == rows[i]) {
                kept[count] = rows[i];
                weights[count] = weights[i] + (float) term.weight();
                keptScores[count++] = scores[i] + unit * fits[at];
            }
        }
        rows = kept;
        scores = keptScores;
        size = count;
    }

    /** Adds the score of a term to the rows that have it. */
    void add(QueryWord term) {
        int[] listed = term.list().rows();
        float unit = unit(term, 1);
        int at = 0;
        for (int i = 0; i < size && at < listed.length; i++) {
            at = seek(listed, at, rows[i]);
            if (at < listed.length && listed[at] == rows[i]) {
                scores[i] += unit * term.list().fits()[at];
                weights[i] += (float) term.weight();
            }
        }
    }

    /** The first position at or after another one whose row is not before a row: its distance counts, not the length of the list. */
    private static int seek(int[] rows, int from, int row) {
        int low = from;
        int step = 1;
        while (low + step < rows.length && rows[low + step] < row) {
            low += step;
            step <<= 1;
        }
        int found = Arrays.binarySearch(rows, low, Math.min(rows.length, low + step + 1), row);
        return found >= 0 ? found : -found - 1;
    }

    int size() {
        return size;
    }

    int row(int i) {
        return rows[i];
    }

    float score(int i) {
        return scores[i];
    }

    float weight(int i) {
        return weights[i];
    }
}
