package dev.parley.knowledge;

import dev.parley.protocol.A2AException;
import dev.parley.protocol.KnowledgeOperation.Update;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * An update that a rule has set aside until somebody looks at it. Until it is approved nobody sees what it says.
 *
 * @param caller who asked for it
 * @param reason why it waits: what the rule says
 * @param decidedAt when it was approved or rejected; null while it waits
 * @param decidedBy by whom; null while it waits
 * @param remark what they said to it; null for nothing
 */
public record Review(
        String id,
        State state,
        Instant madeAt,
        String caller,
        Update update,
        String reason,
        @Nullable Instant decidedAt,
        @Nullable String decidedBy,
        @Nullable String remark) {
    /** What became of it. */
    public enum State {
        PENDING,
        APPROVED,
        REJECTED
    }

    /**
     * The number that an id stands for.
     *
     * @throws A2AException INVALID_PARAMS if it is none
     */
    static long number(String id) {
        try {
            return Long.parseLong(id);
        } catch (NumberFormatException noNumber) {
            throw A2AException.invalidParams("id", id + " (expected: a number)");
        }
    }
}
