package dev.parley.engine.tasks;

import dev.parley.protocol.A2AError;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.AgentCard;
import dev.parley.protocol.Message;
import dev.parley.protocol.Part;
import java.util.List;
import java.util.Locale;
import java.util.stream.Stream;

/**
 * The media types that an agent reads and writes.
 *
 * @param input types of parts that it reads, maybe with wildcards
 * @param output types that it writes; empty if its card says nothing of them
 */
public record MediaTypes(List<String> input, List<String> output) {
    /** Those of a card, with those of its skills. */
    public static MediaTypes of(AgentCard card) {
        Stream<String> ofSkills = card.skills().stream().flatMap(skill -> skill.outputModes().stream());
        return new MediaTypes(
                card.defaultInputModes(),
                Stream.concat(card.defaultOutputModes().stream(), ofSkills)
                        .distinct()
                        .toList());
    }

    /** @throws A2AException CONTENT_TYPE_NOT_SUPPORTED if a part, which is not text, has a type that the agent does not read */
    public void checkParts(Message message) {
        for (Part part : message.parts()) {
            String type = part.mediaType();
            if (type != null && !(part instanceof Part.Text) && input.stream().noneMatch(mode -> matches(mode, type))) {
                throw A2AException.of(
                        A2AError.CONTENT_TYPE_NOT_SUPPORTED,
                        "Unsupported media type " + type + " (expected: one of " + String.join(", ", input) + ")");
            }
        }
    }

    /** @throws A2AException CONTENT_TYPE_NOT_SUPPORTED if the agent writes nothing that the caller accepts */
    public void checkAccepted(List<String> accepted) {
        boolean any = accepted.isEmpty()
                || output.isEmpty()
                || accepted.stream().anyMatch(one -> output.stream().anyMatch(mode -> accepts(one, mode)));
        if (!any) {
            throw A2AException.of(
                    A2AError.CONTENT_TYPE_NOT_SUPPORTED,
                    "Unsupported output modes " + String.join(", ", accepted) + " (expected: one of "
                            + String.join(", ", output) + ")");
        }
    }

    /**
     * Returns whether a caller that accepts {@code accepted} can read {@code mode}. Callers also send single words: kinds of
     * parts, as in 0.1, or either half of a media type.
     */
    private static boolean accepts(String accepted, String mode) {
        String wanted = withoutParameters(accepted);
        return switch (wanted) {
            case "", "*", "file" -> true;
            // Unknown subtypes of text are read like plain text (RFC 2046, section 4.1.4); clients name no others.
            case "text/plain" -> matches("text/*", mode) || matches(mode, wanted);
            case "data" -> matches("application/json", mode) || matches(mode, "application/json");
            default ->
                wanted.indexOf('/') < 0
                        ? matches(wanted + "/*", mode)
                                || withoutParameters(mode).endsWith("/" + wanted)
                                || mode.equals("*/*")
                        : matches(wanted, mode) || matches(mode, wanted);
        };
    }

    private static boolean matches(String mode, String type) {
        String bare = withoutParameters(type);
        return mode.equals("*/*")
                || withoutParameters(mode).equals(bare)
                || mode.endsWith("/*")
                        && bare.startsWith(mode.substring(0, mode.length() - 1).toLowerCase(Locale.ROOT));
    }

    private static String withoutParameters(String type) {
        int parameters = type.indexOf(';');
        return (parameters < 0 ? type : type.substring(0, parameters)).strip().toLowerCase(Locale.ROOT);
    }
}
