package dev.parley.engine.tasks;

import dev.parley.engine.spi.TaskLog.Position;
import dev.parley.engine.spi.TaskLog.Query;
import dev.parley.protocol.A2AException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.Base64;
import java.util.Objects;

/**
 * Beginning of the next page of a list, as an opaque string for the caller that received it.
 *
 * <p>It is bound to the caller and the filters by a hash without a key: a forged token only names a position in the
 * caller's own list, and every query is scoped to the caller.
 */
public final class PageToken {
    private PageToken() {}

    public static String of(Query query, Position last) {
        byte[] id = last.taskId().getBytes(StandardCharsets.UTF_8);
        byte[] bytes = ByteBuffer.allocate(12 + id.length)
                .putInt(binding(query))
                .putLong(last.statusTime().toEpochMilli())
                .put(id)
                .array();
        return Base64.getUrlEncoder().withoutPadding().encodeToString(bytes);
    }

    /** @throws A2AException INVALID_PARAMS if the token was not made for this query */
    public static Position parse(Query query, String token) {
        try {
            ByteBuffer bytes = ByteBuffer.wrap(Base64.getUrlDecoder().decode(token));
            if (bytes.remaining() > 12 && bytes.getInt() == binding(query)) {
                Instant time = Instant.ofEpochMilli(bytes.getLong());
                return new Position(time, StandardCharsets.UTF_8.decode(bytes).toString());
            }
        } catch (IllegalArgumentException notBase64) {
            // falls through to the same answer as any other foreign token
        }
        throw A2AException.invalidParams(
                "pageToken", "not a token of this list (expected: nextPageToken of the page before, same filters)");
    }

    private static int binding(Query query) {
        return Objects.hash(
                query.group(),
                query.owner(),
                query.agent(),
                query.contextId(),
                query.state() == null ? null : query.state().name(),
                query.statusSince());
    }
}
