package dev.parley.outbound.http;

import java.net.URI;
import java.net.http.HttpClient.Version;
import java.net.http.HttpHeaders;
import java.net.http.HttpRequest;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** A request to any host that {@link HttpUrl} reads. Those of the platform refuse names with an underscore. */
public final class OutboundRequest extends HttpRequest {
    private final HttpUrl target;
    private final HttpHeaders headers;
    private final @Nullable BodyPublisher body;

    /** @param body of a POST request; null for a GET request */
    public OutboundRequest(HttpUrl target, Map<String, String> headers, byte @Nullable [] body) {
        this.target = target;
        var all = new TreeMap<String, List<String>>(String.CASE_INSENSITIVE_ORDER);
        headers.forEach((name, value) -> all.put(name, List.of(value)));
        this.headers = HttpHeaders.of(all, (name, value) -> true);
        this.body = body == null ? null : BodyPublishers.ofByteArray(body);
    }

    @Override
    public String method() {
        return body == null ? "GET" : "POST";
    }

    @Override
    public URI uri() {
        return target.uri();
    }

    @Override
    public HttpHeaders headers() {
        return headers;
    }

    @Override
    public Optional<BodyPublisher> bodyPublisher() {
        return Optional.ofNullable(body);
    }

    @Override
    public Optional<Duration> timeout() {
        return Optional.empty();
    }

    @Override
    public Optional<Version> version() {
        return Optional.empty();
    }

    @Override
    public boolean expectContinue() {
        return false;
    }
}
