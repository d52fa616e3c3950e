package dev.parley.cli.postgresql;

import dev.parley.dialect.Json;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Answer to one request.
 *
 * @param status of HTTP; {@link #NONE} if the connection broke or the client had waited for too long
 * @param begunNanos of {@link System#nanoTime()} before the request
 * @param endedNanos of {@link System#nanoTime()} after the answer
 */
record Answer(int status, String body, long begunNanos, long endedNanos) {
    static final int NONE = 0;
    static final int OK = 200;
    static final int UNAUTHORIZED = 401;
    static final int MISSING = 404;
    static final int UNAVAILABLE = 503;

    /** Before the body of a 503 that does not say when to call again. */
    static final String WITHOUT_TIME = "without Retry-After: ";

    Duration duration() {
        return Duration.ofNanos(endedNanos - begunNanos);
    }

    /** Returns the id of the task that a result of SendMessage has; null for an error. */
    @Nullable
    String sentTask() {
        return status == OK
                        && json().get("result") instanceof Map<?, ?> result
                        && result.get("task") instanceof Map<?, ?> task
                ? (String) task.get("id")
                : null;
    }

    Map<?, ?> json() {
        return Json.read(body.getBytes(StandardCharsets.UTF_8), Map.class);
    }

    @Override
    public String toString() {
        return status + " after " + duration().toMillis() + " ms: " + body;
    }
}
