package dev.parley.knowledge.model;

import dev.parley.knowledge.api.KnowledgeOperation.Update;
import dev.parley.protocol.A2AException;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * An update that a rule has set aside for review. Its statements are invisible until its approval.
 *
 * @param caller caller of the update
 * @param reason message of the rule
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
    /** State of the review. */
    public enum State {
        PENDING,
        APPROVED,
        REJECTED
    }

    /**
     * The number that an id stands for.
     *
     * @throws A2AException INVALID_PARAMS if it is not one
     */
    public static long number(String id) {
        try {
            return Long.parseLong(id);
        } catch (NumberFormatException noNumber) {
            throw A2AException.invalidParams("id", id + " (expected: a number)");
        }
    }
}
