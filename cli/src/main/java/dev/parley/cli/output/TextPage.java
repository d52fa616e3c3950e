package dev.parley.cli.output;

import dev.parley.command.CommandOutput.Fields;
import dev.parley.command.SafeText;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Text output: {@code Label: value} lines, and blocks for what does not fit on a line.
 *
 * <p>Texts of agents cannot leave their place: values are escaped to one line, block lines are indented (so none looks
 * like a field, and none is empty and closes the block early), and control characters never reach a terminal.
 *
 * <p>Source: a2a-cli specification 0.2, section 11.2.
 */
public final class TextPage implements Fields {
    private static final Pattern WORD = Pattern.compile("[A-Z]?[a-z]+");
    static final String INDENT = "  ";

    private final StringBuilder text = new StringBuilder();

    /** One field; nothing if {@code value} is null. */
    @Override
    public TextPage field(String label, @Nullable Object value) {
        if (value != null) {
            text.append(SafeText.oneLine(label))
                    .append(": ")
                    .append(SafeText.oneLine(value.toString()))
                    .append('\n');
        }
        return this;
    }

    /** A block: its label, the content, a blank line. */
    @Override
    public TextPage block(String label, String content) {
        open(label);
        content.lines().forEach(line -> text.append(INDENT).append(clean(line)).append('\n'));
        text.append('\n');
        return this;
    }

    /** Opens a block, the lines of which come from {@link #indented}. */
    TextPage open(String label) {
        text.append(SafeText.oneLine(label)).append(":\n");
        return this;
    }

    /** Text within a block: each line after the first begins with the indent of the block. */
    static String indented(String piece) {
        return piece.lines().map(TextPage::clean).collect(Collectors.joining("\n" + INDENT));
    }

    @Override
    public TextPage layout(String label, @Nullable Object json) {
        return block(label, PrettyJson.of(json));
    }

    /** One field for each member of an object, such as {@code Dead-Since} for {@code deadSince}. */
    public static void members(Fields page, Map<?, ?> members) {
        members.forEach((name, value) -> page.field(
                label(String.valueOf(name)),
                value instanceof List<?> list
                        ? list.stream().map(String::valueOf).collect(Collectors.joining(" "))
                        : value));
    }

    /** Label of a member: {@code deadSince} is Dead-Since, {@code taskId} is Task-ID. */
    public static String label(String name) {
        return WORD.matcher(name)
                .results()
                .map(word -> switch (word.group().toLowerCase(Locale.ROOT)) {
                    case "id" -> "ID";
                    case "url" -> "URL";
                    default ->
                        Character.toUpperCase(word.group().charAt(0))
                                + word.group().substring(1);
                })
                .collect(Collectors.joining("-"));
    }

    /** A blank line between groups of fields. */
    @Override
    public TextPage gap() {
        if (!text.isEmpty() && !text.toString().endsWith("\n\n")) {
            text.append('\n');
        }
        return this;
    }

    @Override
    public String toString() {
        return text.toString();
    }

    private static String clean(String line) {
        return line.codePoints().noneMatch(SafeText::isLeftOutOfLines)
                ? line
                : line.codePoints()
                        .filter(c -> !SafeText.isLeftOutOfLines(c))
                        .collect(StringBuilder::new, StringBuilder::appendCodePoint, StringBuilder::append)
                        .toString();
    }
}
