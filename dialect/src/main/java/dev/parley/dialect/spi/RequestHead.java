package dev.parley.dialect.spi;

import java.security.cert.X509Certificate;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Head of a request, before its body is read: the input of authentication.
 *
 * @param method of HTTP
 * @param path below the address of the hub
 * @param headers a header of the request, or metadata of the call, by its name in any case; null if absent
 * @param address of the client, or of the proxy through which it calls
 * @param certificate of the client on a TLS connection, signed by a trusted authority; null for none
 * @param isSecure whether the client sent it over TLS, as far as the server knows
 * @param caller whom the container has authenticated; null for none
 */
public record RequestHead(
        String method,
        String path,
        Function<String, @Nullable String> headers,
        String address,
        @Nullable X509Certificate certificate,
        boolean isSecure,
        @Nullable ContainerCaller caller) {
    /** A request that no container has authenticated. */
    public RequestHead(
            String method,
            String path,
            Function<String, @Nullable String> headers,
            String address,
            @Nullable X509Certificate certificate,
            boolean isSecure) {
        this(method, path, headers, address, certificate, isSecure, null);
    }

    /** A request of which it is not known that it came over TLS. */
    public RequestHead(
            String method,
            String path,
            Function<String, @Nullable String> headers,
            String address,
            @Nullable X509Certificate certificate) {
        this(method, path, headers, address, certificate, false);
    }

    /** Returns a header, or metadata; null if absent. */
    public @Nullable String header(String name) {
        return headers.apply(name);
    }

    /** Without the credentials that a browser adds to the requests of pages by itself: certificate, password and cookies, by which a container may have authenticated it. */
    public RequestHead withoutCredentialsOfBrowser() {
        return new RequestHead(method, path, this::headerOfPage, address, null, isSecure);
    }

    private @Nullable String headerOfPage(String name) {
        String value = header(name);
        boolean isPassword =
                value != null && name.equalsIgnoreCase("Authorization") && value.regionMatches(true, 0, "Basic ", 0, 6);
        return isPassword || name.equalsIgnoreCase("Cookie") ? null : value;
    }
}
