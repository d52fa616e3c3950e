package dev.parley.hub;

import dev.parley.server.HttpExchange;
import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.util.Collections;
import org.jspecify.annotations.Nullable;

/** Smallest servlet of a platform, mapped to {@code /*}. That of users is in the module {@code servlet}, which needs this one. */
final class PlatformServlet extends HttpServlet {
    private final transient Platform platform;

    PlatformServlet(Platform platform) {
        this.platform = platform;
    }

    @Override
    protected void service(HttpServletRequest request, HttpServletResponse response) throws IOException {
        platform.handle(new Exchange(request, response));
    }

    private record Exchange(HttpServletRequest request, HttpServletResponse response) implements HttpExchange {
        @Override
        public String method() {
            return request.getMethod();
        }

        @Override
        public String rawPath() {
            return request.getRequestURI().substring(request.getContextPath().length());
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
}
