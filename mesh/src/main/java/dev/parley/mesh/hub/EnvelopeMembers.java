package dev.parley.mesh.hub;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.parley.dialect.Json;
import dev.parley.mesh.Delegations;
import dev.parley.mesh.RetryPolicy;
import dev.parley.mesh.Wire;
import dev.parley.protocol.Message;
import dev.parley.protocol.Task;
import dev.parley.trust.cards.ContentKeys;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Members of the envelope that began a task; null for those that it did not have. */
record EnvelopeMembers(
        @Nullable String correlationId,
        @Nullable String skill,
        @Nullable String priority,
        @Nullable RetryPolicy retries,
        @Nullable ContentKeys key) {
    private static final EnvelopeMembers NONE = new EnvelopeMembers(null, null, null, null, null);

    static EnvelopeMembers of(Task task) {
        return task.history().isEmpty() ? NONE : of(task.history().getFirst());
    }

    static EnvelopeMembers of(Message message) {
        if (!(message.metadata().get(Delegations.URI) instanceof Map<?, ?> members)) {
            return NONE;
        }
        return new EnvelopeMembers(
                text(members, "correlationId"),
                text(members, "skill"),
                text(members, "priority"),
                retries(members),
                key(members));
    }

    private static @Nullable String text(Map<?, ?> members, String name) {
        return members.get(name) instanceof String text ? text : null;
    }

    private static @Nullable ContentKeys key(Map<?, ?> members) {
        try {
            return members.get("key") instanceof Map<?, ?> key
                    ? ContentKeys.of(new String(Json.write(key), UTF_8))
                    : null;
        } catch (IllegalArgumentException malformed) {
            return null;
        }
    }

    /** Clients of A2A can write metadata, too, so it may have any form. */
    private static @Nullable RetryPolicy retries(Map<?, ?> members) {
        try {
            Object policy = members.get("retryPolicy");
            return policy == null ? null : Wire.RETRY_POLICY.fromJson(policy);
        } catch (RuntimeException malformed) {
            return null;
        }
    }
}
