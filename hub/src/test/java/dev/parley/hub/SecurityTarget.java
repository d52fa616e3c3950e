package dev.parley.hub;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.nimbusds.jose.JOSEException;
import com.nimbusds.jose.jwk.RSAKey;
import com.nimbusds.jose.jwk.gen.RSAKeyGenerator;
import dev.parley.engine.Agent;
import dev.parley.hub.Outsider.Shown;
import dev.parley.hub.extensions.TemporaryDirectory;
import dev.parley.knowledge.api.SharedKnowledge;
import dev.parley.trust.Authentication;
import dev.parley.trust.PolicyFile;
import io.grpc.ManagedChannel;
import io.grpc.okhttp.OkHttpChannelBuilder;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.UUID;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.logging.Handler;
import java.util.logging.Level;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import java.util.logging.SimpleFormatter;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The server that the security checks attack, one for all of them: a hub of this process, or with {@code -Dtarget=URL} any
 * other, that has the agents {@code echo} and {@code interview} of the program and asks for credentials.
 *
 * <p>Callers: alice and bob of one group, mallory of another, and an operator; their keys are given as {@code
 * -Dtarget.key.alice=…} and so on, or made. {@code -Dtarget.admin=URL} says where operators' addresses are if not there.
 */
final class SecurityTarget {
    // Before the target, whose start makes use of it.
    private static final HttpClient HTTP = HttpClient.newHttpClient();
    static final SecurityTarget ONE = System.getProperty("target") == null ? started() : given();

    /** What only who has started the hub can look into. */
    record Inside(Path data, Queue<String> log, String issuer, RSAKey issuerKey) {}

    private final String url;
    private final String adminUrl;
    private final Map<String, String> keys;
    private final @Nullable Inside inside;

    private SecurityTarget(String url, String adminUrl, Map<String, String> keys, @Nullable Inside inside) {
        this.url = url;
        this.adminUrl = adminUrl;
        this.keys = keys;
        this.inside = inside;
    }

    private static SecurityTarget given() {
        var keys = new LinkedHashMap<String, String>();
        for (String name : List.of("alice", "bob", "mallory", "admin")) {
            String key = System.getProperty("target.key." + name);
            if (key != null) {
                keys.put(name, key);
            }
        }
        String url = System.getProperty("target");
        String adminUrl = System.getProperty("target.admin", url);
        return new SecurityTarget(url.replaceFirst("/$", ""), adminUrl.replaceFirst("/$", ""), keys, null);
    }

    private static SecurityTarget started() {
        try {
            var log = new ConcurrentLinkedQueue<String>();
            Logger root = Logger.getLogger("");
            root.addHandler(new Recorder(log));
            Path data = Files.createTempDirectory("parley-security");
            RSAKey issuerKey = new RSAKeyGenerator(2048).keyID("first").generate();
            String issuer = new Issuer(issuerKey).url();
            Hub hub = Hub.builder()
                    .data(data)
                    .port(0)
                    .adminPort(0)
                    .authentication(Authentication.named(List.of("required")))
                    .issuer(issuer)
                    .policy(policy(data))
                    .agents(
                            Agent.named("echo", "Says it again")
                                    .uses(SharedKnowledge.VIEW)
                                    .handle((request, reply) -> reply.complete(request.text())),
                            Agent.named("interview", "Asks for something")
                                    .handle((request, reply) -> reply.askForInput("What is your name?")))
                    .start();
            Runtime.getRuntime().addShutdownHook(new Thread(() -> {
                hub.close();
                TemporaryDirectory.remove(data);
            }));
            var target = new SecurityTarget(
                    hub.url(), hub.adminUrl(), new LinkedHashMap<>(), new Inside(data, log, issuer, issuerKey));
            target.keys.put("admin", hub.bootstrapKey().orElseThrow());
            for (String[] each : new String[][] {{"T1", "alice"}, {"T1", "bob"}, {"T2", "mallory"}}) {
                target.keys.put(each[1], target.newKey(each[0], each[1]));
            }
            return target;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (JOSEException e) {
            throw new IllegalStateException(e);
        }
    }

    /** More calls than a check makes, and fewer than a flood. */
    private static PolicyFile policy(Path data) throws IOException {
        Path file = data.resolve("policy.json");
        Files.writeString(file, "{\"limits\":{\"principal\":{\"perSecond\":20,\"burst\":2000}}}");
        return PolicyFile.read(file);
    }

    String url() {
        return url;
    }

    /** Where operators' addresses are; where they have no port of their own, what asks for it is not run. */
    String adminUrl() {
        assumeTrue(!adminUrl.equals(url), "needs -Dtarget.admin");
        return adminUrl;
    }

    /** The key of a caller; where it was not given, what asks for it is not run. */
    String key(String name) {
        String key = keys.get(name);
        assumeTrue(key != null, () -> "needs -Dtarget.key." + name);
        return requireNonNull(key);
    }

    Inside inside() {
        assumeTrue(inside != null, "needs the data directory");
        return requireNonNull(inside);
    }

    boolean isInside() {
        return inside != null;
    }

    String newKey(String group, String principal, String... scopes) {
        HttpResponse<String> made = send(
                "POST",
                "/admin/keys",
                "{'group':'" + group + "','principal':'" + principal + "','scopes':"
                        + Stream.of(scopes).map(scope -> "'" + scope + "'").toList() + "}",
                "X-Api-Key",
                key("admin"));
        assertThat(made.statusCode()).as(made.body()).isEqualTo(200);
        return Shown.of(made.body()).at("key").text();
    }

    /** Begins a task of {@code caller} with an agent, and returns its id. */
    String task(String caller, String agent) {
        HttpResponse<String> sent = rpc(agent, "SendMessage", message("hello", ""), key(caller));
        return Shown.of(sent.body()).at("result", "task", "id").text();
    }

    static String message(String text, String more) {
        return "{'message':{'messageId':'" + UUID.randomUUID() + "','role':'ROLE_USER','parts':[{'text':'" + text
                + "'}]" + more + "}}";
    }

    HttpResponse<String> rpc(String agent, String method, String params, String key) {
        return send("POST", "/agents/" + agent, envelope(method, params), "X-Api-Key", key, "A2A-Version", "1.0");
    }

    static String envelope(String method, String params) {
        return "{'jsonrpc':'2.0','id':1,'method':'" + method + "','params':" + params + "}";
    }

    /** Sends a request with JSON, in which apostrophes stand for quotation marks. */
    HttpResponse<String> send(String verb, String path, String body, String... headers) {
        return send(HTTP, request(verb, path, body, headers));
    }

    static HttpResponse<String> send(HttpClient http, HttpRequest request) {
        try {
            return http.send(request, BodyHandlers.ofString());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(e);
        }
    }

    /** The status of what {@code server}, one of the addresses of the target, answers. */
    static int get(String server, String path, String key) {
        return send(HTTP, requestTo(server, "GET", path, "", "X-Api-Key", key)).statusCode();
    }

    HttpRequest request(String verb, String path, String body, String... headers) {
        boolean forOperators = path.startsWith("/admin/") || path.equals("/metrics");
        return requestTo(forOperators ? adminUrl : url, verb, path, body, headers);
    }

    private static HttpRequest requestTo(String server, String verb, String path, String body, String... headers) {
        HttpRequest.Builder request = HttpRequest.newBuilder(URI.create(server + path))
                .method(
                        verb,
                        body.isEmpty() ? BodyPublishers.noBody() : BodyPublishers.ofString(body.replace('\'', '"')));
        if (!body.isEmpty()) {
            request.header("Content-Type", "application/json");
        }
        if (headers.length > 0) {
            request.headers(headers);
        }
        return request.build();
    }

    /** Sends bytes as they are, and returns all that comes until the server closes; for plain HTTP alone. */
    String raw(String request) throws IOException {
        URI address = URI.create(url);
        assumeTrue(address.getScheme().equals("http"), "needs plain HTTP");
        try (var socket = new Socket(address.getHost(), address.getPort() < 0 ? 80 : address.getPort())) {
            socket.setSoTimeout(20_000);
            socket.getOutputStream()
                    .write(request.replace("\n", "\r\n")
                            .replace("HOST", address.getAuthority())
                            .getBytes(StandardCharsets.ISO_8859_1));
            return new String(socket.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        }
    }

    ManagedChannel channel() {
        URI address = URI.create(url);
        boolean plain = address.getScheme().equals("http");
        int port = address.getPort() >= 0 ? address.getPort() : plain ? 80 : 443;
        var channel = OkHttpChannelBuilder.forAddress(address.getHost(), port);
        return (plain ? channel.usePlaintext() : channel).build();
    }

    /** Keeps what is logged. */
    private static final class Recorder extends Handler {
        private final Queue<String> log;

        Recorder(Queue<String> log) {
            this.log = log;
            setFormatter(new SimpleFormatter());
            setLevel(Level.ALL);
        }

        @Override
        public void publish(LogRecord message) {
            log.add(getFormatter().format(message));
        }

        @Override
        public void flush() {}

        @Override
        public void close() {}
    }
}
