package dev.parley.servlet;

import dev.parley.dialect.spi.ContainerCaller;
import dev.parley.server.HttpExchange;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import jakarta.servlet.http.MappingMatch;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.util.Collections;
import org.jspecify.annotations.Nullable;

/**
 * A request of a servlet container as a platform reads it.
 *
 * @param caller whom the container has authenticated; null for none
 */
record ServletExchange(
        HttpServletRequest request,
        HttpServletResponse response,
        @Nullable ContainerCaller caller) implements HttpExchange {
    @Override
    public String method() {
        return request.getMethod();
    }

    @Override
    public String rawPath() {
        String mapping =
                request.getHttpServletMapping().getMappingMatch() == MappingMatch.PATH ? request.getServletPath() : "";
        String path = request.getRequestURI();
        int end = 0; // counts segments, because the path of the mapping is decoded, and that of the request is not
        for (long left = (request.getContextPath() + mapping)
                        .chars()
                        .filter(c -> c == '/')
                        .count();
                left > 0;
                left--) {
            end = path.indexOf('/', end + 1);
            if (end < 0) {
                end = path.length();
            }
        }
        // A container also maps paths such as /a2a;x, which rules of a proxy for /a2a do not match: no agent has the
        // whole path.
        boolean isPlain = decoded(path.substring(0, end)).equals(decoded(request.getContextPath()) + mapping);
        return isPlain ? path.substring(end) : path;
    }

    private static String decoded(String path) {
        return URLDecoder.decode(path.replace("+", "%2B"), StandardCharsets.UTF_8);
    }

    @Override
    public @Nullable String rawQuery() {
        return request.getQueryString();
    }

    @Override
    public @Nullable String header(String name) {
        var values = Collections.list(request.getHeaders(name));
        if (values.isEmpty() && name.equalsIgnoreCase("Host")) { // which HTTP/2 has not, and Tomcat does not make
            return request.getServerName() + ":" + request.getServerPort();
        }
        return values.isEmpty() ? null : String.join(", ", values);
    }

    @Override
    public String clientAddress() {
        return request.getRemoteAddr();
    }

    @Override
    public InputStream body() throws IOException {
        return request.getInputStream();
    }

    @Override
    public void status(int status) {
        response.setStatus(status);
    }

    @Override
    public void set(String name, String value) {
        response.setHeader(name, value);
    }

    @Override
    public OutputStream output() throws IOException {
        return response.getOutputStream();
    }
}
