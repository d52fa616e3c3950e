package dev.parley.dialect.spi;

/** Names of headers and media types. */
public final class Headers {
    public static final String VERSION = "A2A-Version";
    public static final String EXTENSIONS = "A2A-Extensions";
    public static final String LAST_EVENT_ID = "Last-Event-ID";
    public static final String IDEMPOTENCY_KEY = "Idempotency-Key";
    public static final String TRACE = "traceparent";

    public static final String JSON = "application/json";
    public static final String A2A_JSON = "application/a2a+json";
    public static final String EVENT_STREAM = "text/event-stream";

    private Headers() {}
}
