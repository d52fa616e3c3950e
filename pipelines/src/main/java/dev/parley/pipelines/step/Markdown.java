package dev.parley.pipelines.step;

import java.util.Arrays;
import java.util.stream.Collectors;

/** Writes a report in Markdown. Foreign text is escaped. */
public final class Markdown {
    private final StringBuilder text = new StringBuilder();

    /** A heading of a level from 1. */
    public Markdown heading(int level, String title) {
        if (!text.isEmpty()) {
            text.append('\n');
        }
        text.append("#".repeat(level)).append(' ').append(escaped(title)).append("\n\n");
        return this;
    }

    /** A line of Markdown, as it is. */
    public Markdown line(String markdown) {
        text.append(markdown).append('\n');
        return this;
    }

    /** A header of a table. */
    public Markdown columns(String... names) {
        row((Object[]) names);
        return line("|" + " --- |".repeat(names.length));
    }

    /** A row of a table. */
    public Markdown row(Object... cells) {
        return line(Arrays.stream(cells)
                .map(cell -> escaped(String.valueOf(cell)))
                .collect(Collectors.joining(" | ", "| ", " |")));
    }

    /** Text that means nothing in Markdown, on one line. */
    public static String escaped(String value) {
        return value.strip().replaceAll("\\s+", " ").replaceAll("([\\\\`*_\\[\\]<>|#])", "\\\\$1");
    }

    @Override
    public String toString() {
        return text.toString();
    }
}
