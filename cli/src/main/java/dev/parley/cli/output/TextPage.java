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
    private static final String INDENT = "  ";
    private static final int ZERO_WIDTH_NON_JOINER = 0x200c;
    private static final int ZERO_WIDTH_JOINER = 0x200d;

    private final StringBuilder text = new StringBuilder();

    /** One field; nothing if {@code value} is null. */
    @Override
    public TextPage field(String label, @Nullable Object value) {
        if (value != null) {
            text.append(label).append(": ").append(oneLine(value.toString())).append('\n');
        }
        return this;
    }

    /** A block: its label, the content, a blank line. */
    @Override
    public TextPage block(String label, String content) {
        text.append(label).append(":\n");
        content.lines().forEach(line -> text.append(INDENT).append(clean(line)).append('\n'));
        text.append('\n');
        return this;
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

    /** Text as one line without control characters. */
    public static String oneLine(String value) {
        return SafeText.oneLine(value);
    }

    private static String clean(String line) {
        return line.codePoints().noneMatch(TextPage::isLeftOut)
                ? line
                : line.codePoints()
                        .filter(c -> !isLeftOut(c))
                        .collect(StringBuilder::new, StringBuilder::appendCodePoint, StringBuilder::append)
                        .toString();
    }

    /** Whole lines may have tabs, and what some scripts and emoji join and part letters with. */
    private static boolean isLeftOut(int c) {
        return SafeText.isInvisible(c) && c != '\t' && c != ZERO_WIDTH_NON_JOINER && c != ZERO_WIDTH_JOINER;
    }
}
