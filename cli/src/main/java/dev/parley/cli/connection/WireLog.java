package dev.parley.cli.connection;

import dev.parley.cli.command.Invocation;
import dev.parley.cli.output.Output;
import dev.parley.client.spi.WireListener;
import dev.parley.outbound.http.Redaction;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Log of decisions and wire messages on standard error, if {@code --debug} asks for it; never a secret.
 *
 * <p>Source: a2a-cli specification 0.2, sections 7.2 and 12.1.
 */
public final class WireLog implements WireListener {
    public static final String REDACTED = "[redacted]";

    private static final int SHORTEST_SECRET = 4;
    private static final Pattern USER_INFO = Pattern.compile("://[^/@\\s]+@");

    private final @Nullable Output output;
    private final Redaction redaction;
    private final boolean answers;
    private final Map<Long, Long> started = new ConcurrentHashMap<>();

    private WireLog(@Nullable Output output, Redaction redaction, boolean answers) {
        this.output = output;
        this.redaction = redaction;
        this.answers = answers;
    }

    public static WireLog of(Invocation call) {
        List<String> names = call.credentials().parameters().stream()
                .map(parameter -> parameter.replaceFirst(":.*", "").strip())
                .toList();
        List<String> secrets = call.settings().secrets().stream()
                .filter(secret -> secret.length() >= SHORTEST_SECRET)
                .flatMap(secret -> forms(secret).stream())
                .toList();
        return new WireLog(
                call.reports().debug() ? call.output() : null, new Redaction(names, secrets, REDACTED), true);
    }

    /** The same without the bodies of answers, which hold a key or a secret. */
    public WireLog withoutAnswers() {
        return new WireLog(output, redaction, false);
    }

    boolean isOn() {
        return output != null;
    }

    /** The forms of a secret: plain, in a URL, in basic authentication. */
    private static List<String> forms(String secret) {
        byte[] bytes = secret.getBytes(StandardCharsets.UTF_8);
        return List.of(
                secret,
                URLEncoder.encode(secret, StandardCharsets.UTF_8),
                Base64.getEncoder().withoutPadding().encodeToString(bytes));
    }

    /** Logs a decision of the program. */
    public void note(String text) {
        show("debug: " + text);
    }

    /** {@code text} without any secret that is known. */
    String redact(String text) {
        return USER_INFO.matcher(redaction.url(text)).replaceAll("://" + REDACTED + "@");
    }

    @Override
    public void sending(long exchange, String method, String url, Map<String, List<String>> headers, String body) {
        if (output == null) {
            return;
        }
        started.put(exchange, System.nanoTime());
        output.note("> " + method + " " + redact(url));
        headers(">", headers);
        body(">", body);
    }

    @Override
    public void received(long exchange, int status, Map<String, List<String>> headers, String body) {
        if (output == null) {
            return;
        }
        Long start = started.get(exchange);
        String time = start == null ? "" : " (" + (System.nanoTime() - start) / 1_000_000 + " ms)";
        output.note("< " + status + time);
        headers("<", headers);
        body("<", answers ? body : "");
    }

    @Override
    public void event(long exchange, @Nullable String id, String data) {
        if (id != null) {
            show("< id: " + id);
        }
        body("< data:", data);
    }

    @Override
    public void retrying(String reason, Duration wait) {
        note("trying again in " + wait.toMillis() + " ms: " + reason);
    }

    @Override
    public void deviation(String what) {
        note(what);
    }

    private void headers(String direction, Map<String, List<String>> headers) {
        new TreeMap<>(redaction.headers(headers))
                .forEach((name, values) -> values.forEach(value -> show(direction + " " + name + ": " + value)));
    }

    private void body(String direction, String body) {
        if (!body.isEmpty()) {
            show(direction + " " + redaction.body(body));
        }
    }

    private void show(String line) {
        if (output != null) {
            output.note(redact(line));
        }
    }
}
