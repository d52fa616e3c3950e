package dev.parley.dialect;

import java.util.List;
import java.util.Map;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * An HTTP request as a server received it.
 *
 * @param method in upper case
 * @param path relative to the agent's address, percent-decoded except for {@code %2F}: empty, or beginning with
 *     {@code /}
 * @param query decoded query parameters, in order
 * @param headers a header's value by its name in any case, repeated ones joined by {@code ", "}; null if absent
 * @param body empty if there is none
 * @param address of the client, or of the proxy through which it calls
 */
public record WireRequest(
        String method,
        String path,
        Map<String, List<String>> query,
        Function<String, @Nullable String> headers,
        byte[] body,
        String address) {
    public @Nullable String header(String name) {
        return headers.apply(name);
    }

    /** What it tells of who makes it. */
    public Arrival arrival() {
        return new Arrival(method, path, headers, address, null);
    }

    /** This request with another path. */
    public WireRequest at(String path) {
        return new WireRequest(method, path, query, headers, body, address);
    }

    /** This request as seen from further down the path. */
    WireRequest below(String prefix) {
        return at(path.substring(prefix.length()));
    }
}
