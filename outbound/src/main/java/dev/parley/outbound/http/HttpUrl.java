package dev.parley.outbound.http;

import java.net.URI;
import java.net.URISyntaxException;
import java.util.Locale;

/**
 * An http or https URL, strictly parsed, with its host in canonical form.
 *
 * @param uri the URL without fragment, in ASCII, with a path, and a port only if it is not the usual one
 */
public record HttpUrl(URI uri, HostName host, int port) {

    /**
     * Reads a URL without looking anything up.
     *
     * @throws IllegalArgumentException if it is anything but an http or https URL without user name; the message has the
     *     problem without the URL, for use after a name
     */
    public static HttpUrl of(String url) {
        URI uri;
        try {
            uri = new URI(url);
        } catch (URISyntaxException e) {
            throw new IllegalArgumentException("is no URL: " + e.getReason() + " at position " + e.getIndex(), e);
        }
        String scheme = uri.getScheme() == null ? "" : uri.getScheme().toLowerCase(Locale.ROOT);
        if (!scheme.equals("https") && !scheme.equals("http")) {
            throw new IllegalArgumentException("scheme: " + uri.getScheme() + " (expected: https or http)");
        }
        String authority = uri.getRawAuthority();
        if (authority == null || authority.isEmpty()) {
            throw new IllegalArgumentException("has no host");
        }
        if (authority.indexOf('@') >= 0) {
            throw new IllegalArgumentException("must not carry a user name or password");
        }
        int colon = authority.lastIndexOf(':');
        boolean hasPort = colon > authority.lastIndexOf(']');
        HostName host;
        try {
            host = HostName.of(hasPort ? authority.substring(0, colon) : authority);
        } catch (IllegalArgumentException e) {
            throw new IllegalArgumentException("host: " + e.getMessage(), e);
        }
        int usual = scheme.equals("https") ? 443 : 80;
        int port = hasPort && colon + 1 < authority.length() ? port(authority.substring(colon + 1)) : usual;
        String place = port == usual ? host.inUrl() : host.inUrl() + ":" + port;
        String path = uri.getRawPath().isEmpty() ? "/" : uri.getRawPath();
        String query = uri.getRawQuery() == null ? "" : "?" + uri.getRawQuery();
        String ascii = URI.create(scheme + "://" + place + path + query).toASCIIString();
        return new HttpUrl(URI.create(ascii), host, port);
    }

    /**
     * Reads the URL of an agent, which the HTTP client must be able to call too.
     *
     * @throws IllegalArgumentException as {@link #of}, and for a host name with an underscore
     */
    public static HttpUrl ofAgent(String url) {
        HttpUrl read = of(url);
        if (read.uri().getHost() == null) {
            throw new IllegalArgumentException("host: " + read.host().name() + " (expected: no underscores)");
        }
        return read;
    }

    /**
     * Reads the URL of an agent as people type it: without a scheme, https is meant, and http for names of this machine.
     *
     * @throws IllegalArgumentException as {@link #ofAgent}
     */
    public static HttpUrl ofTyped(String text) {
        if (text.contains("://")) {
            return ofAgent(text);
        }
        HttpUrl plain = ofAgent("http://" + text);
        return plain.isPlain() ? ofAgent("https://" + text) : plain;
    }

    private static int port(String text) {
        int port = text.matches("\\d{1,5}") ? Integer.parseInt(text) : 0;
        if (port < 1 || port > 65_535) {
            throw new IllegalArgumentException("port: " + text + " (expected: 1 to 65535)");
        }
        return port;
    }

    /** Scheme, host and port: the identity of the server. */
    public Origin origin() {
        boolean here = host.isWithin("localhost")
                || (host.address() != null && host.address().isLoopbackAddress());
        return new Origin(uri.getScheme(), here ? "localhost" : host.inUrl(), port);
    }

    /** Scheme, host and port as they are written, for people; an {@link #origin} is for comparisons. */
    public String server() {
        return uri.getScheme() + "://" + host.inUrl() + ":" + port;
    }

    /** True for plain HTTP to another machine, which others on the network can read and change. */
    public boolean isPlain() {
        return uri.getScheme().equals("http") && !origin().host().equals("localhost");
    }

    /**
     * Origin of a URL. All names and addresses of this machine's loopback count as one: a hub that was started on
     * {@code 127.0.0.1} is meant by {@code localhost} too.
     */
    public record Origin(String scheme, String host, int port) {
        @Override
        public String toString() {
            boolean usual = port == (scheme.equals("https") ? 443 : 80);
            return scheme + "://" + host + (usual ? "" : ":" + port);
        }
    }
}
