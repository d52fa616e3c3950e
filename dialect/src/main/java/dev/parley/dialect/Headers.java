package dev.parley.dialect;

/** Names of headers and media types. */
final class Headers {
    static final String VERSION = "A2A-Version";
    static final String EXTENSIONS = "A2A-Extensions";
    static final String LAST_EVENT_ID = "Last-Event-ID";
    static final String TRACE = "traceparent";

    static final String JSON = "application/json";
    static final String A2A_JSON = "application/a2a+json";
    static final String EVENT_STREAM = "text/event-stream";

    private Headers() {}
}
