package dev.parley.dialect.spi;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.parley.protocol.A2AError;
import dev.parley.protocol.A2AException;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * An HTTP request as a server received it.
 *
 * @param method in upper case
 * @param path relative to the agent's address, percent-decoded except for {@code %2F}: empty, or beginning with
 *     {@code /}
 * @param query decoded query parameters, in order
 * @param body empty if there is none
 * @param arrival head of the request, with the method and the path that the client has sent
 */
public record WireRequest(
        String method, String path, Map<String, List<String>> query, byte[] body, RequestHead arrival) {
    /**
     * A request that came to this very path, and without a certificate.
     *
     * @param headers a header's value by its name in any case, repeated ones joined by {@code ", "}; null if absent
     * @param address of the client, or of the proxy through which it calls
     */
    public WireRequest(
            String method,
            String path,
            Map<String, List<String>> query,
            Function<String, @Nullable String> headers,
            byte[] body,
            String address) {
        this(method, path, query, body, new RequestHead(method, path, headers, address, null));
    }

    public @Nullable String header(String name) {
        return arrival.header(name);
    }

    /** The first value of a query parameter; empty if it is absent. */
    public String parameter(String name) {
        List<String> values = query.getOrDefault(name, List.of());
        return values.isEmpty() ? "" : values.getFirst();
    }

    /**
     * Whether the client has the version of an entity tag already. A proxy that compresses answers makes their tags weak.
     *
     * <p>Source: RFC 9110, section 13.1.2.
     */
    public boolean hasVersion(String tag) {
        String known = header("If-None-Match");
        return known != null
                && Stream.of(known.split(",", -1))
                        .map(String::strip)
                        .anyMatch(each -> each.equals("*") || each.equals(tag) || each.equals("W/" + tag));
    }

    /** The address of the client, or of the proxy through which it calls. */
    public String address() {
        return arrival.address();
    }

    /**
     * Refuses other methods than GET; servers answer HEAD by it.
     *
     * @throws A2AException METHOD_NOT_ALLOWED
     */
    public void requireGet() {
        if (!method.equals("GET")) {
            throw A2AException.notAllowed(method, "GET, HEAD");
        }
    }

    /**
     * Refuses paths below a page, and other methods than GET.
     *
     * @throws A2AException METHOD_NOT_FOUND or METHOD_NOT_ALLOWED
     */
    public void requirePage() {
        if (!path.isEmpty()) {
            throw A2AException.of(A2AError.METHOD_NOT_FOUND, "There is nothing at this address");
        }
        requireGet();
    }

    /** True if the body says nothing: a blank body and {@code null} are no body. */
    public boolean hasNoBody() {
        return isNothing(body);
    }

    public static boolean isNothing(byte[] body) {
        return body.length <= 16 && Set.of("", "null").contains(new String(body, UTF_8).strip());
    }

    /** This request with another path. */
    public WireRequest at(String path) {
        return new WireRequest(method, path, query, body, arrival);
    }

    /** This request with a body. */
    public WireRequest with(byte[] body) {
        return new WireRequest(method, path, query, body, arrival);
    }

    /** This request as seen from further down the path. */
    public WireRequest below(String prefix) {
        return at(path.substring(prefix.length()));
    }
}
