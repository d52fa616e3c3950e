package dev.parley.dialect.spi;

import dev.parley.dialect.json.InstalledExtensions;
import dev.parley.dialect.json.JsonText;
import dev.parley.protocol.LoggedEvent;
import dev.parley.protocol.TaskEvent;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Delivery of an event to a webhook, in the dialect in which it was registered.
 *
 * @param retries of this notification; null for those of the server
 */
public record Notification(
        String contentType,
        Map<String, String> headers,
        byte[] body,
        @Nullable RetryPolicy retries) {
    /** A notification with the retries of the server. */
    public Notification(String contentType, Map<String, String> headers, byte[] body) {
        this(contentType, headers, body, null);
    }

    /** This notification with a policy of its own for further attempts. */
    public Notification retrying(RetryPolicy policy) {
        return new Notification(contentType, headers, body, policy);
    }

    /** This notification with another body. */
    public Notification with(byte[] other) {
        return new Notification(contentType, headers, other, retries);
    }

    /** The notification of an event in A2A 1.0. */
    public static Notification v1(LoggedEvent event) {
        return new Notification(Headers.A2A_JSON, Map.of(Headers.VERSION, "1.0"), event.encoded(Notification::written));
    }

    private static byte[] written(TaskEvent event) {
        return JsonText.write(InstalledExtensions.codec(TaskEvent.class), event);
    }

    /** This, as a part of a trace; null for none. */
    public Notification inTrace(@Nullable String traceparent) {
        if (traceparent == null) {
            return this;
        }
        var more = new LinkedHashMap<>(headers);
        more.put(Headers.TRACE, traceparent);
        return new Notification(contentType, more, body, retries);
    }
}
