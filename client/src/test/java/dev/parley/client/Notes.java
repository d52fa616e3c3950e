package dev.parley.client;

import dev.parley.client.spi.WireListener;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Notes down what it hears, a line each. */
public record Notes(List<String> lines) implements WireListener {
    @Override
    public void sending(long exchange, String method, String url, Map<String, List<String>> headers, String body) {
        lines.add(exchange + " " + method + " " + url + " " + headers + " " + body);
    }

    @Override
    public void received(long exchange, int status, Map<String, List<String>> headers, String body) {
        lines.add(exchange + " " + status + " " + headers + " " + body);
    }

    @Override
    public void event(long exchange, @Nullable String id, String data) {
        lines.add(exchange + " " + id + " " + data);
    }

    @Override
    public void retrying(String reason, Duration wait) {
        lines.add("retrying: " + reason);
    }
}
