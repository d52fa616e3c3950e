package dev.parley.agents;

import java.util.Arrays;

/** Guesses which character separates the fields of a CSV text. */
final class Separators {
    private static final char[] CANDIDATES = {',', ';', '\t', '|'};
    private static final int SAMPLE_LINES = 20;

    private Separators() {}

    /**
     * Returns the candidate of which every one of the first lines has the most. Where no candidate is in all of them, the
     * header decides; a text without any has one column, and a comma is as good as anything.
     */
    static char detect(String text) {
        int[] everywhere = new int[CANDIDATES.length];
        int[] header = new int[CANDIDATES.length];
        int[] line = new int[CANDIDATES.length];
        Arrays.fill(everywhere, Integer.MAX_VALUE);
        boolean quoted = false;
        boolean blank = true;
        int lines = 0;
        for (int i = 0; i <= text.length() && lines < SAMPLE_LINES; i++) {
            char c = i < text.length() ? text.charAt(i) : '\n';
            boolean ends = i == text.length() || (!quoted && (c == '\n' || c == '\r'));
            if (ends && !blank) {
                for (int candidate = 0; candidate < line.length; candidate++) {
                    everywhere[candidate] = Math.min(everywhere[candidate], line[candidate]);
                }
                if (lines == 0) {
                    header = line.clone();
                }
                Arrays.fill(line, 0);
                blank = true;
                lines++;
            } else if (!ends) {
                blank = false;
                if (c == '"') {
                    quoted = !quoted;
                } else if (!quoted) {
                    count(c, line);
                }
            }
        }
        int best = greatest(everywhere);
        if (lines > 0 && everywhere[best] > 0) {
            return CANDIDATES[best];
        }
        return CANDIDATES[greatest(header)];
    }

    private static void count(char c, int[] line) {
        for (int candidate = 0; candidate < CANDIDATES.length; candidate++) {
            if (c == CANDIDATES[candidate]) {
                line[candidate]++;
            }
        }
    }

    /** The index of the greatest count; the first one among equals. */
    private static int greatest(int[] counts) {
        int best = 0;
        for (int i = 1; i < counts.length; i++) {
            if (counts[i] > counts[best]) {
                best = i;
            }
        }
        return best;
    }
}
