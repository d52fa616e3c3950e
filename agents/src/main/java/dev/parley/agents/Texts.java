package dev.parley.agents;

/** Foreign text made fit to be shown within a sentence or a table. */
final class Texts {
    private Texts() {}

    /** {@code text} in one line of at most {@code length} characters, the last of which tells if there was more. */
    static String shorten(String text, int length) {
        String line = text.strip().replaceAll("\\s+", " ");
        if (line.length() <= length) {
            return line;
        }
        // A surrogate pair that lies across the cut goes as a whole.
        int end = Character.isHighSurrogate(line.charAt(length - 2)) ? length - 2 : length - 1;
        return line.substring(0, end) + "…";
    }
}
