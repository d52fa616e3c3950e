package dev.parley.hub;

import static dev.parley.hub.Http2Attacker.CONTINUATION;
import static dev.parley.hub.Http2Attacker.DATA;
import static dev.parley.hub.Http2Attacker.END_HEADERS;
import static dev.parley.hub.Http2Attacker.END_STREAM;
import static dev.parley.hub.Http2Attacker.HEADERS;
import static dev.parley.hub.Http2Attacker.PING;
import static dev.parley.hub.Http2Attacker.PRIORITY;
import static dev.parley.hub.Http2Attacker.RST_STREAM;
import static dev.parley.hub.Http2Attacker.SETTINGS;
import static dev.parley.hub.Http2Attacker.WINDOW_UPDATE;
import static dev.parley.hub.Http2Attacker.frame;
import static dev.parley.hub.SecurityTarget.envelope;
import static dev.parley.hub.SecurityTarget.message;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.parley.hub.Outsider.Shown;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
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
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.function.IntFunction;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import java.util.zip.GZIPOutputStream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;

/** Security checks of what is sent, by HTTP and inside it; each is named by its row in {@code docs/security.md}. */
@Tag("security")
@ExtendWith(SecurityTable.class)
@Timeout(60)
final class RequestSecurityTest {
    private static final String CARD = "/agents/echo/.well-known/agent-card.json";
    private static final String CONFIG = "CreateTaskPushNotificationConfig";

    private final SecurityTarget target = SecurityTarget.ONE;
    private final String alice = target.key("alice");

    // ---- Webhooks

    private HttpResponse<String> webhook(String task, String url) {
        return target.rpc("interview", CONFIG, "{'taskId':'" + task + "','url':'" + url + "'}", alice);
    }

    @Test
    @DisplayName("S29, S30, S34: webhooks go to public addresses over HTTP alone, however the address is written")
    void webhooksGoToPublicAddressesAlone() {
        String task = target.task("alice", "interview");
        for (String url : List.of(
                "http://127.0.0.1/",
                "http://localhost:7420/",
                "http://10.1.2.3/",
                "http://172.16.0.1/",
                "http://192.168.1.1/",
                "http://169.254.169.254/latest/meta-data/",
                "http://100.64.0.1/",
                "http://0.0.0.0/",
                "http://224.0.0.1/",
                "http://[::1]/",
                "http://[::ffff:127.0.0.1]/",
                "http://[fd00::1]/",
                "http://2130706433/",
                "http://0177.1/",
                "http://0x7f.1/",
                "http://127.1/",
                "http://0x7f000001/",
                "file:///etc/passwd",
                "ftp://example.com/",
                "gopher://example.com/",
                "jar:http://example.com/a.jar!/",
                "data:text/plain,x",
                "javascript:alert(1)")) {
            assertThat(webhook(task, url).body()).as(url).contains("-32602");
        }
        assertThat(webhook(task, "https://example.com/hook").statusCode()).isEqualTo(200);
    }

    @Test
    @DisplayName("S35: a task has so many webhooks and no more")
    void aTaskHasNotAnyNumberOfWebhooks() {
        String task = target.task("alice", "interview");
        for (int i = 0; i < 32; i++) {
            assertThat(webhook(task, "https://example.com/" + i).body()).contains("\"result\"");
        }

        assertThat(webhook(task, "https://example.com/more").body()).contains("-32602");
        assertThat(target.send(
                                "POST",
                                "/agents/interview/tasks/" + task + "/pushNotificationConfigs",
                                "{'url':'https://example.com/more'}",
                                "X-Api-Key",
                                alice,
                                "A2A-Version",
                                "1.0")
                        .statusCode())
                .isEqualTo(400);
        assertThat(Shown.of(target.rpc(
                                        "interview",
                                        "ListTaskPushNotificationConfigs",
                                        "{'taskId':'" + task + "'}",
                                        alice)
                                .body())
                        .at("result", "configs")
                        .size())
                .isEqualTo(32);
    }

    // ---- Bodies

    private String rawPost(String headers, String body) throws IOException {
        return target.raw("POST /agents/echo HTTP/1.1\nHost: HOST\nX-Api-Key: " + alice
                + "\nContent-Type: application/json\nA2A-Version: 1.0\nConnection: close\n" + headers + "\n\n" + body);
    }

    private HttpResponse<String> post(String body) {
        return target.send("POST", "/agents/echo", body, "X-Api-Key", alice, "A2A-Version", "1.0");
    }

    private HttpResponse<String> rest(String body) {
        return target.send("POST", "/agents/echo/message:send", body, "X-Api-Key", alice, "A2A-Version", "1.0");
    }

    @Test
    @DisplayName("S50: a body that is too large is refused before it is read, and the connection closed")
    void aLargeBodyIsRefusedUnread() throws IOException {
        assertThat(rawPost("Content-Length: 11000000000", "{")).startsWith("HTTP/1.1 413");
        assertThat(rawPost("Transfer-Encoding: chunked", "FFFFFFFF\n{")).startsWith("HTTP/1.1 4");
    }

    @Test
    @DisplayName("S50: strangers are answered before a body, and where none belongs nobody is waited for")
    void nobodyIsWaitedForWhoMayNotSendABody() throws IOException {
        for (String path : List.of(
                "/extensions",
                "/metrics",
                "/extensions/knowledge-graph/v1",
                "/admin/keys",
                "/admin/knowledge/shapes",
                "/.well-known/oauth-protected-resource",
                "/oauth/token",
                "/agents/echo")) {
            String request = "POST " + path + " HTTP/1.1\nHost: HOST\nContent-Type: application/json\n"
                    + "Content-Length: 10485759\n\n{";

            assertThat(target.raw(request)).as(path).startsWith("HTTP/1.1 4");
        }
    }

    /** Sends a message with invalid metadata over both bindings; the hub answers that the body is not JSON. */
    private void assertNoJson(String metadata) {
        String message = message("hello", ",'metadata':" + metadata);

        HttpResponse<String> overJsonRpc = post(envelope("SendMessage", message));
        assertThat(overJsonRpc.statusCode()).as(metadata).isEqualTo(200);
        assertThat(Shown.of(overJsonRpc.body()).at("error", "code").value())
                .as(metadata)
                .isEqualTo(-32700);

        HttpResponse<String> overRest = rest(message);
        assertThat(overRest.statusCode()).as(metadata).isEqualTo(400);
        assertThat(Shown.of(overRest.body()).at("error", "status").text())
                .as(metadata)
                .isEqualTo("INVALID_ARGUMENT");
        assertThat(overRest.body()).contains("Invalid JSON payload");
    }

    @Test
    @DisplayName("S51: what is nested without end is refused at once")
    void depthIsLimited() {
        assertNoJson("{'a':" + "[".repeat(100_000));
        assertNoJson("{'a':".repeat(100_000));
        assertNoJson("{'a':" + "[".repeat(64) + "]".repeat(64) + "}");
    }

    @Test
    @DisplayName("S52, S53: what is no strict JSON is refused")
    void onlyStrictJsonIsRead() {
        assertThat(rest(message("hello", ",'metadata':{'a':'b'}")).statusCode()).isEqualTo(200);
        for (String metadata : List.of(
                "{'a':'b','a':'b'}",
                "{'a':{'b':1,'b':2}}",
                "{'a':NaN}",
                "{'a':-Infinity}",
                "{'a':'b',}",
                "{'a':[1,]}",
                "{'a':'b'/*c*/}",
                "{'a':'b'} // c\n",
                "{a:'b'}",
                "{'a':01}",
                "{'a':+1}")) {
            assertNoJson(metadata);
        }
    }

    @Tag("heavy")
    @Test
    @DisplayName("S54: names whose hashes collide are refused, as are very many, and others are served")
    @Timeout(20)
    void collidingNamesAreHarmless() {
        // "Aa" and "BB" have the same hash, and so has whatever is made of as many of them.
        var names = new ArrayList<>(List.of(""));
        for (int i = 0; i < 16; i++) {
            var longer = new ArrayList<String>();
            names.forEach(name -> longer.addAll(List.of(name + "Aa", name + "BB")));
            names.clear();
            names.addAll(longer);
        }

        assertNoJson(object(names.stream()));
        assertNoJson(object(IntStream.range(0, 600_000).mapToObj(Integer::toString)));
        assertThat(rest(message("hello", ",'metadata':{'Aa':1,'BB':2,'0':3}")).statusCode())
                .isEqualTo(200);
    }

    private static String object(Stream<String> names) {
        return names.map(name -> "'" + name + "':1").collect(Collectors.joining(",", "{", "}"));
    }

    @Test
    @DisplayName("S55: requests in batches are refused")
    void batchesAreRefused() {
        String one = envelope("GetTask", "{'id':'x'}");
        String answer = post("[" + (one + ",").repeat(10_000) + one + "]").body();

        assertThat(answer).contains("-32600").hasSizeLessThan(1_000);
    }

    @Test
    @DisplayName("S56: there are no methods but those that there are")
    void unknownMethodsAreUnknown() {
        for (String method : List.of("getClass", "__proto__", "constructor", "toString", "../GetTask", "sendmessage")) {
            assertThat(post(envelope(method, "{}")).body()).as(method).contains("-32601");
        }
    }

    @Test
    @DisplayName("S57: compressed requests are refused, so none becomes large")
    void compressedRequestsAreRefused() throws Exception {
        var bytes = new ByteArrayOutputStream();
        try (var zip = new GZIPOutputStream(bytes)) {
            var zeros = new byte[1 << 20];
            for (int i = 0; i < 100; i++) {
                zip.write(zeros);
            }
        }
        for (String encoding : List.of("gzip", "deflate", "br")) {
            HttpRequest request = HttpRequest.newBuilder(URI.create(target.url() + "/agents/echo"))
                    .headers("Content-Encoding", encoding, "Content-Type", "application/json", "X-Api-Key", alice)
                    .header("A2A-Version", "1.0")
                    .POST(BodyPublishers.ofByteArray(bytes.toByteArray()))
                    .build();
            try (HttpClient http = HttpClient.newHttpClient()) {
                assertThat(SecurityTarget.send(http, request).statusCode())
                        .as(encoding)
                        .isEqualTo(415);
            }
        }
    }

    @Test
    @DisplayName("S61: what is meant to be a statement of another language is a value")
    void nothingIsInjected() {
        target.task("alice", "echo");
        for (String hostile : List.of("' OR 1=1 --", "x\\\") OR (1=1", "%", "*", "1; DROP TABLE task")) {
            HttpResponse<String> listed = post(envelope("ListTasks", "{'contextId':'%s'}")
                    .replace('\'', '"')
                    .formatted(hostile.replace("'", "\\u0027")));
            assertThat(listed.body()).as(hostile).contains("\"totalSize\":0");
            assertThat(post(envelope("ListTasks", "{'pageToken':'%s'}")
                                    .replace('\'', '"')
                                    .formatted(hostile.replace("'", "\\u0027")))
                            .body())
                    .as(hostile)
                    .contains("-32602");
        }
    }

    // ---- HTTP

    @Test
    @DisplayName("S63: requests that can be read in two ways are refused, and bytes after them are not served")
    void ambiguousRequestsAreRefused() throws IOException {
        String hidden = "GET /health HTTP/1.1\nHost: HOST\n\n";
        for (String request : List.of(
                "POST /agents/echo HTTP/1.1\nHost: HOST\nContent-Length: 5\nTransfer-Encoding: chunked\n\n0\n\n"
                        + hidden,
                "POST /agents/echo HTTP/1.1\nHost: HOST\nContent-Length: 5\nContent-Length: 6\n\nhello" + hidden,
                "POST /agents/echo HTTP/1.1\nHost: HOST\nTransfer-Encoding: xchunked\n\n0\n\n" + hidden,
                "GET /health HTTP/1.1\nHost: HOST\nX-Test: a\n b\n\n" + hidden,
                "GET /health HTTP/1.1\nHost: HOST\nX-Test : a\n\n" + hidden)) {
            assertThat(target.raw(request))
                    .as(request)
                    .startsWith("HTTP/1.1 400")
                    .doesNotContain("HTTP/1.1 200");
        }
    }

    @Test
    @DisplayName("S64: who floods a connection of HTTP/2 loses it, while others are served")
    @Timeout(300)
    void floodsEndTheConnection() throws Exception {
        URI address = URI.create(target.url());
        assumeTrue(address.getScheme().equals("http"), "needs plain HTTP");
        int[] get = Http2Attacker.fields("GET", address.getAuthority(), "/agents/echo/tasks");
        int[] post = Http2Attacker.fields("POST", address.getAuthority(), "/agents/echo");
        var floods = new LinkedHashMap<String, IntFunction<byte[]>>();
        floods.put("settings", i -> frame(SETTINGS, 0, 0));
        floods.put("pings", i -> frame(PING, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8));
        floods.put("priorities", i -> frame(PRIORITY, 0, 1, 0, 0, 0, 0, 1));
        floods.put("windows", i -> frame(WINDOW_UPDATE, 0, 0, 0, 0, 0, 1));
        floods.put("what nobody knows", i -> frame(0xfe, 0, 0));
        floods.put("empty data", i -> i == 0 ? frame(HEADERS, END_HEADERS, 1, post) : frame(DATA, 0, 1));
        floods.put("continuations", i -> i == 0 ? frame(HEADERS, END_STREAM, 1, get) : frame(CONTINUATION, 0, 1));
        floods.put(
                "long continuations",
                i -> i == 0 ? frame(HEADERS, END_STREAM, 1, get) : frame(CONTINUATION, 0, 1, 0, 1, 'a', 1, 'b'));
        floods.put(
                "headers",
                i -> frame(HEADERS, END_HEADERS | END_STREAM, 2 * i + 1, Http2Attacker.fieldsOfTheTable(get)));
        floods.put(
                "headers larger than the table for them",
                i -> frame(HEADERS, END_HEADERS | END_STREAM, 2 * i + 1, 0x20, 0x40, 1, 'a', 1, 'b'));
        floods.put("streams", i -> frame(HEADERS, END_HEADERS, 2 * i + 1, post));
        floods.put("resets", i -> {
            byte[] request = frame(HEADERS, END_HEADERS | END_STREAM, 2 * i + 1, get);
            byte[] reset = frame(RST_STREAM, 0, 2 * i + 1, 0, 0, 0, 8);
            byte[] both = Arrays.copyOf(request, request.length + reset.length);
            System.arraycopy(reset, 0, both, request.length, reset.length);
            return both;
        });
        for (var flood : floods.entrySet()) {
            try (var attacker = new Http2Attacker(new Socket(address.getHost(), address.getPort()));
                    var threads = Executors.newVirtualThreadPerTaskExecutor()) {
                boolean ofHeaders = flood.getKey().endsWith("continuations");
                Future<Boolean> attack = threads.submit(() -> attacker.isCutOff(
                        100_000, flood.getValue(), ofHeaders ? frame(CONTINUATION, END_HEADERS, 1) : new byte[0]));
                do {
                    assertThat(target.send("GET", CARD, "").statusCode()).isEqualTo(200);
                } while (!attack.isDone());
                assertThat(attack.get()).as(flood.getKey()).isTrue();
                assertThat(post(envelope("ListTasks", "{'pageSize':1}")).statusCode())
                        .isEqualTo(200);
            }
        }
    }

    @Test
    @DisplayName("S66: a caller has so many streams open and no more")
    void streamsAreLimited() throws Exception {
        String task = target.task("bob", "interview");
        var request = target.request(
                "GET",
                "/agents/interview/tasks/" + task + ":subscribe",
                "",
                "X-Api-Key",
                target.key("bob"),
                "A2A-Version",
                "1.0");
        HttpClient http = HttpClient.newHttpClient();
        try {
            var answers = new ArrayList<CompletableFuture<HttpResponse<InputStream>>>();
            // One first, so that the others share its connection.
            answers.add(CompletableFuture.completedFuture(http.send(request, BodyHandlers.ofInputStream())));
            for (int i = 0; i < 1_000; i++) {
                answers.add(http.sendAsync(request, BodyHandlers.ofInputStream()));
            }
            int open = 0;
            for (var answer : answers) {
                HttpResponse<InputStream> one = answer.get(30, TimeUnit.SECONDS);
                open += one.statusCode() == 200 ? 1 : 0;
                if (one.statusCode() != 200) {
                    assertThat(one.statusCode()).isEqualTo(429);
                    assertThat(one.headers().firstValueAsLong("Retry-After").orElse(0))
                            .isPositive();
                }
            }
            assertThat(open).isBetween(1, 1_000);
            assertThat(target.rpc("echo", "SendMessage", message("hello", ""), alice)
                            .statusCode())
                    .isEqualTo(200);
        } finally {
            http.shutdownNow();
        }
    }

    @Test
    @DisplayName("S67: the Host of a request is in no address that is told, and a stranger's is refused")
    void theHostIsNotBelieved() throws IOException {
        String answer = target.raw("GET " + CARD + " HTTP/1.1\nHost: evil.example\nConnection: close\n\n");

        assertThat(answer).doesNotContain("evil.example");
        if (URI.create(target.url()).getHost().equals("127.0.0.1")) {
            assertThat(answer).startsWith("HTTP/1.1 403");
        }
        assertThat(target.send("GET", CARD, "", "X-Forwarded-Host", "evil.example", "Forwarded", "host=evil.example")
                        .body())
                .doesNotContain("evil.example");
    }

    @Test
    @DisplayName("S68: pages of other origins see nothing and change nothing")
    void pagesOfOtherOriginsAreShutOut() {
        HttpResponse<String> seen = target.send("GET", CARD, "", "Origin", "https://evil.example");
        HttpResponse<String> changed = target.send(
                "POST",
                "/agents/echo",
                envelope("SendMessage", message("hello", "")),
                "Origin",
                "https://evil.example",
                "X-Api-Key",
                alice,
                "A2A-Version",
                "1.0");

        assertThat(seen.headers().map()).doesNotContainKey("access-control-allow-origin");
        assertThat(changed.headers().map()).doesNotContainKey("access-control-allow-origin");
        assertThat(changed.statusCode()).isEqualTo(403);
    }

    @Test
    @DisplayName("S70: every answer says how browsers have to treat it")
    void answersHaveTheHeadersForBrowsers() {
        for (HttpResponse<String> answer : List.of(
                target.send("GET", CARD, ""),
                target.send("GET", "/nothing-here", ""),
                target.send("GET", "/agents/echo/tasks", ""),
                target.rpc("echo", "ListTasks", "{}", alice))) {
            assertThat(answer.headers().firstValue("X-Content-Type-Options")).contains("nosniff");
            assertThat(answer.headers().firstValue("Content-Security-Policy").orElse(""))
                    .contains("default-src 'none'", "frame-ancestors 'none'");
            assertThat(answer.headers().firstValue("Referrer-Policy")).contains("no-referrer");
            assertThat(answer.headers().firstValue("Strict-Transport-Security").isPresent())
                    .isEqualTo(target.url().startsWith("https:"));
        }
        assertThat(target.rpc("echo", "ListTasks", "{}", alice).headers().firstValue("Cache-Control"))
                .contains("no-store");
    }

    @Test
    @DisplayName("S71: verbs that nobody needs are refused")
    void oddVerbsAreRefused() throws IOException {
        for (String request :
                List.of("TRACE /agents/echo", "CONNECT example.com:443", "OPTIONS *", "BREW /agents/echo")) {
            assertThat(target.raw(request + " HTTP/1.1\nHost: HOST\nConnection: close\n\n"))
                    .as(request)
                    .startsWith("HTTP/1.1 405");
        }
    }

    // ---- Abuse, and what is told

    @Test
    @DisplayName("S73: one message begins one task, however often it comes at once")
    void aMessageBeginsOneTask() throws Exception {
        var request = target.request(
                "POST",
                "/agents/interview",
                envelope("SendMessage", message("hello", "")),
                "X-Api-Key",
                alice,
                "A2A-Version",
                "1.0");
        var tasks = new HashSet<String>();
        try (HttpClient http = HttpClient.newHttpClient()) {
            var answers = Stream.generate(() -> http.sendAsync(request, BodyHandlers.ofString()))
                    .limit(100)
                    .toList();
            for (var answer : answers) {
                tasks.add(Shown.of(answer.get(30, TimeUnit.SECONDS).body())
                        .at("result", "task", "id")
                        .text());
            }
        }
        assertThat(tasks).hasSize(1).doesNotContain("null");
    }

    /** Asks until a limit is reached, and sees that it is nobody else's. */
    private void assertIsLimited(Supplier<HttpResponse<String>> asking) {
        HttpResponse<String> answer = asking.get();
        for (int i = 0; i < 20_000 && answer.statusCode() == 200; i++) {
            answer = asking.get();
        }

        assertThat(answer.statusCode()).isEqualTo(429);
        assertThat(answer.headers().firstValueAsLong("Retry-After").orElse(0)).isPositive();
        assertThat(post(envelope("ListTasks", "{'pageSize':1}")).statusCode()).isEqualTo(200);
    }

    @Tag("heavy")
    @Test
    @DisplayName("S74: who floods with tasks or with cancellations has to wait, and others need not")
    @Timeout(300)
    void floodsAreLimited() {
        String sender = target.newKey("T1", "sender");
        assertIsLimited(() -> target.rpc("echo", "SendMessage", message("hello", ""), sender));

        String canceler = target.newKey("T1", "canceler");
        String task = Shown.of(target.rpc("interview", "SendMessage", message("hello", ""), canceler)
                        .body())
                .at("result", "task", "id")
                .text();
        assertIsLimited(() -> target.rpc("interview", "CancelTask", "{'id':'" + task + "'}", canceler));
    }

    @Test
    @DisplayName("S75: a conversation does not go on for ever, and another one can be begun")
    void aContextHasNotAnyNumberOfTurns() {
        String talker = target.newKey("T1", "talker");
        String context = UUID.randomUUID().toString();
        String none = ",'configuration':{'historyLength':0}";
        String hello = message("hello", ",'contextId':'" + context + "'");
        String task = Shown.of(
                        target.rpc("interview", "SendMessage", hello, talker).body())
                .at("result", "task", "id")
                .text();
        Supplier<String> more = () -> target.rpc(
                        "interview",
                        "SendMessage",
                        message("more", ",'taskId':'" + task + "'").replaceFirst("}$", none + "}"),
                        talker)
                .body();
        String answer = more.get();
        int turns = 2;
        for (; turns < 1_500 && answer.contains("\"result\""); turns++) {
            answer = more.get();
        }

        assertThat(answer).contains("-32004", "contextId", "(expected: at most " + (turns - 1) + ")");
        assertThat(target.rpc("interview", "SendMessage", message("hello", ""), talker)
                        .body())
                .contains("\"result\"");
    }

    private String through(String baggage) {
        return target.send(
                        "POST",
                        "/agents/echo",
                        envelope("SendMessage", message("hello", "")),
                        "X-Api-Key",
                        alice,
                        "A2A-Version",
                        "1.0",
                        "baggage",
                        baggage)
                .body();
    }

    @Test
    @DisplayName("S28: calls that go through too many agents, or come back to one, are refused")
    void chainsOfAgentsHaveAnEnd() {
        String others = IntStream.range(0, 8)
                .mapToObj(i -> "https://agents.example.com/" + i)
                .collect(Collectors.joining("%20"));

        assertThat(through("parley.agents=" + others)).contains("-32004", "(expected: at most 8)");
        assertThat(through("a=b, parley.agents=" + target.url() + "/agents/echo%20https://agents.example.com/1;c"))
                .contains("-32004", "comes back to an agent");
        for (String harmless : List.of(
                "parley.agents=https://agents.example.com/1",
                "parley.agents=%zz",
                "parley.agents=",
                "parley.agents=%0d%0aX",
                "a=b")) {
            assertThat(through(harmless)).as(harmless).contains("\"result\"");
        }
    }

    @Test
    @DisplayName("S77, S78: secrets are in no log, no metrics, no audit and no file")
    void secretsAreNowhere() throws Exception {
        var inside = target.inside();
        String key = target.newKey("T1", "marked");
        String wrong = "marker-wrong-key-" + UUID.randomUUID();
        String bearer = "marker-bearer-" + UUID.randomUUID();
        String inQuery = "marker-query-" + UUID.randomUUID();
        String token = "marker-token-" + UUID.randomUUID();
        String credentials = "marker-credentials-" + UUID.randomUUID();
        String text = "marker-text-" + UUID.randomUUID();
        String task = Shown.of(target.rpc("interview", "SendMessage", message(text, ""), key)
                        .body())
                .at("result", "task", "id")
                .text();
        target.rpc(
                "interview",
                CONFIG,
                "{'taskId':'" + task + "','url':'https://example.com/','token':'" + token
                        + "','authentication':{'scheme':'Bearer','credentials':'" + credentials + "'}}",
                key);
        target.rpc("interview", "ListTasks", "{}", wrong);
        target.send("GET", "/agents/echo/tasks?api_key=" + inQuery, "", "Authorization", "Bearer " + bearer);
        target.send("GET", "/agents/" + inQuery + "/tasks?key=" + inQuery, "", "X-Api-Key", key);
        target.rpc("echo", "SendMessage", "{'message':{'parts':'" + text + "'}}", key);

        String admin = target.key("admin");
        String metrics = target.send("GET", "/metrics", "", "X-Api-Key", target.newKey("T1", "scraper", "metrics"))
                .body();
        String audit =
                target.send("GET", "/admin/audit", "", "X-Api-Key", admin).body();
        assertThat(metrics).contains("# TYPE");
        assertThat(audit).contains("task.created");
        var files = new StringBuilder();
        try (Stream<Path> all = Files.walk(inside.data())) {
            for (Path file : all.filter(Files::isRegularFile).toList()) {
                files.append(Files.readString(file, StandardCharsets.ISO_8859_1));
            }
        }
        assertThat(files).contains(task);
        String log = String.join("", inside.log());
        for (String secret : List.of(key, admin, wrong, bearer, token, credentials, inQuery)) {
            assertThat(log).doesNotContain(secret);
            assertThat(metrics).doesNotContain(secret);
            assertThat(audit).doesNotContain(secret);
            assertThat(files.indexOf(secret)).as(secret).isNegative();
        }
        assertThat(log).doesNotContain(text);
        assertThat(metrics).doesNotContain(text);
        assertThat(audit).doesNotContain(text);
    }

    @Test
    @DisplayName("S80: errors tell neither what failed inside nor what runs here")
    void errorsTellNothingOfTheInside() throws IOException {
        for (String answer : List.of(
                rawPost("Content-Length: 1", "{"),
                rawPost("Content-Length: -1", ""),
                target.raw("GET /%zz HTTP/1.1\nHost: HOST\nConnection: close\n\n"),
                target.raw("nonsense\n\n"),
                target.send("GET", "/agents/nobody", "").body(),
                post(envelope("GetTask", "{'id':{'a':[1]}}")).body(),
                post(envelope("ListTasks", "{'pageSize':99999999999999999999}")).body(),
                post(envelope("knowledge/query", "{'queryLanguage':'sparql','query':'SELECT'}"))
                        .body())) {
            assertThat(answer)
                    .doesNotContainIgnoringCase("exception")
                    .doesNotContain(
                            "dev.parley", "java.", "jackson", "helidon", "Helidon", "sqlite", "\tat ", "Server:");
        }
    }
}
