package dev.parley.servlet;

import dev.parley.server.HttpExchange;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import jakarta.servlet.http.MappingMatch;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.util.Collections;
import org.jspecify.annotations.Nullable;

/** A request of a servlet container as a platform reads it. */
record ServletExchange(HttpServletRequest request, HttpServletResponse response) implements HttpExchange {
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
                return "";
            }
        }
        return path.substring(end);
    }

    @Override
    public @Nullable String rawQuery() {
        return request.getQueryString();
    }

    @Override
    public @Nullable String header(String name) {
        var values = Collections.list(request.getHeaders(name));
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
