package dev.parley.agenttools;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.parley.dialect.Json;
import dev.parley.protocol.Message;
import dev.parley.protocol.Part;
import dev.parley.protocol.Task;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;

/** Arguments and results of tools as models write and read them. */
final class ToolTexts {
    /** Longest text of an agent or a tool in a result, in characters; some 25,000 tokens of English. */
    static final int LONGEST = 100_000;

    private ToolTexts() {}

    static String of(Message message) {
        return of(message.parts());
    }

    /** The artifacts of a task, or its status if it has none. */
    static String of(Task task) {
        String artifacts = of(task.artifacts().stream()
                .flatMap(artifact -> artifact.parts().stream())
                .toList());
        return artifacts.isEmpty() ? status(task) : artifacts;
    }

    /** The message of the status of a task; empty if there is none. */
    static String status(Task task) {
        Message message = task.status().message();
        return message == null ? "" : of(message);
    }

    /** The parts, one below the other. */
    static String of(List<Part> parts) {
        return parts.stream().map(ToolTexts::of).collect(Collectors.joining("\n"));
    }

    /** Returns a text for a model: of one that is too long the beginning, with a note. */
    static String shortened(String text) {
        return text.length() <= LONGEST
                ? text
                : cut(text, LONGEST)
                        + String.format(
                                Locale.ROOT,
                                "\n[cut: the first %,d of %,d characters; ask for less at once]",
                                LONGEST,
                                text.length());
    }

    /** Returns the first {@code length} characters at most, and no half of a character. */
    static String cut(String text, int length) {
        if (text.length() <= length) {
            return text;
        }
        return text.substring(0, Character.isHighSurrogate(text.charAt(length - 1)) ? length - 1 : length);
    }

    private static String of(Part part) {
        return switch (part) {
            case Part.Text text -> text.text();
            case Part.Data data -> new String(Json.write(data.data()), UTF_8);
            case Part.Url url -> url.url();
            case Part.Raw raw ->
                "[file " + (raw.filename() == null ? "" : raw.filename() + ", ")
                        + (raw.mediaType() == null ? "" : raw.mediaType() + ", ") + raw.raw().length + " bytes]";
        };
    }

    /**
     * Returns the members of an object in JSON; none of a blank text.
     *
     * @throws dev.parley.protocol.A2AException if it is not such an object
     */
    static Map<?, ?> arguments(String arguments) {
        return arguments.isBlank() ? Map.of() : Json.read(arguments.getBytes(UTF_8), Map.class);
    }
}
