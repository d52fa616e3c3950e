package dev.parley.dialect.spi;

import dev.parley.protocol.LoggedEvent;
import dev.parley.protocol.TaskEvent;
import dev.parley.protocol.json.InstalledExtensions;
import dev.parley.protocol.json.JsonText;
import dev.parley.protocol.retry.Backoff;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Delivery of an event to a webhook, in the dialect in which it was registered.
 *
 * @param retries of this notification in the place of those of the server; null for those
 * @param first a notification of the same event that is delivered before this one, in each attempt; null for none
 */
public record Notification(
        String contentType,
        Map<String, String> headers,
        byte[] body,
        @Nullable Retries retries,
        @Nullable Notification first) {
    /**
     * Further attempts to deliver a notification. A server waits for an hour at most, and gives up after 12 attempts in any case.
     *
     * @param most further attempts
     * @param pauses before them, unless the receiver names a longer one by {@code Retry-After}
     */
    public record Retries(int most, Backoff pauses) {}

    /** A notification with the retries of the server. */
    public Notification(String contentType, Map<String, String> headers, byte[] body) {
        this(contentType, headers, body, null, null);
    }

    /** This notification with further attempts of its own. */
    public Notification retrying(int most, Backoff pauses) {
        return new Notification(contentType, headers, body, new Retries(most, pauses), first);
    }

    /** This notification after another one of the same event. */
    public Notification after(Notification other) {
        return new Notification(contentType, headers, body, retries, other);
    }

    /** This notification with another body. */
    public Notification with(byte[] other) {
        return new Notification(contentType, headers, other, retries, first);
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
        return new Notification(contentType, more, body, retries, first);
    }
}
