package dev.parley.engine.tasks;

import dev.parley.protocol.A2AException;
import dev.parley.protocol.Message;
import dev.parley.protocol.Part;
import dev.parley.protocol.Role;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Tells the repetition of a message from another message under the same id, or the same key of its sender.
 *
 * <p>Compares what the sender says: parts, task and context. Not metadata, which a sender may make anew for each attempt, nor the kinds
 * of numbers, which a log and a transport do not keep.
 */
public final class Repetition {
    private Repetition() {}

    /**
     * Requires that {@code message} says what {@code first} said under its id.
     *
     * @param first as it was sent, or as the log has it, with its task and context
     * @param key what takes the place of the message's id; null for the id
     * @throws A2AException INVALID_PARAMS if it says something else
     */
    public static void require(Message first, Message message, @Nullable String key) {
        if (!says(first, message)) {
            throw key == null
                    ? A2AException.invalidParams(
                            "message.messageId",
                            "\"" + message.messageId() + "\": already used for another message (expected: a new id)")
                    : usedKey(key);
        }
    }

    /**
     * Requires that {@code message} says what its sender said first under its key. Its id may be another one.
     *
     * @param history the messages of the task that the key led to
     * @param isFirst whether a message of the history came under the key; asked for those that say the same
     * @throws A2AException INVALID_PARAMS if the first one says something else
     */
    public static void requireAmong(List<Message> history, Predicate<Message> isFirst, Message message, String key) {
        if (history.stream()
                .noneMatch(first -> first.role() == Role.USER && says(first, message) && isFirst.test(first))) {
            throw usedKey(key);
        }
    }

    private static A2AException usedKey(String key) {
        return A2AException.invalidParams(
                "Idempotency-Key", "\"" + key + "\": already used for another message (expected: a new key)");
    }

    private static boolean says(Message first, Message message) {
        return isPlace(first.taskId(), message.taskId())
                && isPlace(first.contextId(), message.contextId())
                && isSame(first.parts(), message.parts());
    }

    /** True if a message that names {@code named} may be about the same: its sender need not have named it. */
    private static boolean isPlace(@Nullable String first, @Nullable String named) {
        return named == null || first == null || named.equals(first);
    }

    private static boolean isSame(List<Part> first, List<Part> second) {
        if (first.size() != second.size()) {
            return false;
        }
        for (int i = 0; i < first.size(); i++) {
            if (!isSame(first.get(i), second.get(i))) {
                return false;
            }
        }
        return true;
    }

    private static boolean isSame(Part first, Part second) {
        if (first instanceof Part.Data one && second instanceof Part.Data other) {
            return isSame(one.data(), other.data());
        }
        if (first instanceof Part.Text one && second instanceof Part.Text other) {
            return one.text().equals(other.text());
        }
        return first.equals(second);
    }

    private static boolean isSame(@Nullable Object first, @Nullable Object second) {
        if (first instanceof Number one && second instanceof Number other) {
            return one.doubleValue() == other.doubleValue();
        }
        if (first instanceof Map<?, ?> one && second instanceof Map<?, ?> other) {
            return one.keySet().equals(other.keySet())
                    && one.keySet().stream().allMatch(key -> isSame(one.get(key), other.get(key)));
        }
        if (first instanceof List<?> one && second instanceof List<?> other) {
            boolean same = one.size() == other.size();
            for (int i = 0; same && i < one.size(); i++) {
                same = isSame(one.get(i), other.get(i));
            }
            return same;
        }
        return Objects.equals(first, second);
    }
}
