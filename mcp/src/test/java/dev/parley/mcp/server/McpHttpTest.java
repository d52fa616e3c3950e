package dev.parley.mcp.server;

import static dev.parley.mcp.server.ConformanceProvider.json;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.hub.Hub;
import dev.parley.mcp.CallResult;
import dev.parley.mcp.McpProvider;
import dev.parley.mcp.McpProvider.Exchange;
import dev.parley.mcp.McpProvider.Invocation;
import dev.parley.mcp.Resource;
import dev.parley.mcp.Tool;
import dev.parley.mcp.wire.Trees;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.json.Codecs;
import dev.parley.protocol.json.JsonText;
import java.io.BufferedReader;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Clock;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** MCP over HTTP through the door of a hub. JSON is written with apostrophes. */
@Timeout(60)
class McpHttpTest {
    private static final String META = "'_meta':{'io.modelcontextprotocol/protocolVersion':'2026-07-28',"
            + "'io.modelcontextprotocol/clientCapabilities':{'elicitation':{}}}";
    private static final CountDownLatch ENTERED = new CountDownLatch(1);
    private static final CountDownLatch CANCELED = new CountDownLatch(1);
    private static final CountDownLatch RELEASED = new CountDownLatch(1);
    private static final CountDownLatch CANCELED_LATER = new CountDownLatch(1);

    private static final HttpClient HTTP = HttpClient.newHttpClient();
    private static Hub hub;

    /** The fixtures, and a tool that waits until its call is canceled. */
    private record Waiting(ConformanceProvider others) implements McpProvider {
        @Override
        public List<Tool> tools(CallContext caller) {
            return others.tools(caller);
        }

        @Override
        public Outcome<CallResult> call(Invocation call, Exchange exchange) throws InterruptedException {
            if (call.name().equals("linger")) {
                return linger(exchange);
            }
            if (!call.name().equals("wait")) {
                return others.call(call, exchange);
            }
            exchange.onCancel(CANCELED::countDown);
            exchange.progress(1, null, "waits");
            ENTERED.countDown();
            new CountDownLatch(1).await();
            throw new IllegalStateException("interrupted only");
        }

        private static Outcome<CallResult> linger(Exchange exchange) throws InterruptedException {
            exchange.onCancel(CANCELED_LATER::countDown);
            exchange.progress(1, null, "lingers");
            try {
                new CountDownLatch(1).await();
            } catch (InterruptedException left) {
                assertThat(exchange.isCanceled()).isFalse();
                RELEASED.countDown();
                throw left;
            }
            throw new IllegalStateException("interrupted only");
        }

        @Override
        public List<Resource> resources(CallContext caller) {
            return others.resources(caller);
        }

        @Override
        public AutoCloseable onChange(CallContext caller, java.util.function.Consumer<String> listener) {
            return others.onChange(caller, listener);
        }
    }

    @BeforeAll
    static void start() {
        hub = Hub.builder()
                .inMemory()
                .port(0)
                .extension(new FixtureHub(new Waiting(new ConformanceProvider())))
                .start();
    }

    @AfterAll
    static void stop() {
        hub.close();
    }

    private static HttpRequest request(String method, String body, String... headers) {
        HttpRequest.Builder request = HttpRequest.newBuilder(URI.create(hub.url() + "/fixture/mcp"))
                .header("Content-Type", "application/json")
                .header("Accept", "application/json, text/event-stream")
                .method(
                        method,
                        body.isEmpty() ? BodyPublishers.noBody() : BodyPublishers.ofString(body.replace('\'', '"')));
        if (headers.length > 0) {
            request.headers(headers);
        }
        return request.build();
    }

    private static HttpResponse<String> send(String method, String body, String... headers) throws Exception {
        return HTTP.send(request(method, body, headers), BodyHandlers.ofString());
    }

    /** A request of 2026-07-28 with the headers that belong to it. */
    private static HttpResponse<String> modern(String method, String name, String params) throws Exception {
        String body = "{'jsonrpc':'2.0','id':7,'method':'" + method + "','params':{" + META
                + (params.isEmpty() ? "" : "," + params) + "}}";
        return name.isEmpty()
                ? send("POST", body, "MCP-Protocol-Version", "2026-07-28", "Mcp-Method", method)
                : send("POST", body, "MCP-Protocol-Version", "2026-07-28", "Mcp-Method", method, "Mcp-Name", name);
    }

    private static Map<String, @Nullable Object> tree(String body) {
        return JsonText.read(body.getBytes(UTF_8), Codecs.STRUCT);
    }

    private static Map<String, @Nullable Object> result(HttpResponse<String> answer) {
        assertThat(answer.statusCode()).as(answer.body()).isEqualTo(200);
        Map<String, @Nullable Object> tree = tree(answer.body());
        assertThat(tree).as(answer.body()).containsKey("result");
        return Trees.map(tree.get("result"));
    }

    private static @Nullable Object code(HttpResponse<String> answer) {
        return Trees.map(tree(answer.body()).get("error")).get("code");
    }

    private static String session() throws Exception {
        return send(
                        "POST",
                        "{'jsonrpc':'2.0','id':1,'method':'initialize','params':{'protocolVersion':'2025-06-18',"
                                + "'capabilities':{'elicitation':{}},'clientInfo':{'name':'t','version':'1'}}}")
                .headers()
                .firstValue("Mcp-Session-Id")
                .orElseThrow();
    }

    @Test
    @DisplayName("a request with the revision in its _meta is stateless, and one of an older revision needs no session")
    void eras() throws Exception {
        Map<String, @Nullable Object> modern = result(modern("tools/list", "", ""));
        Map<String, @Nullable Object> legacy = result(
                send("POST", "{'jsonrpc':'2.0','id':1,'method':'tools/list'}", "MCP-Protocol-Version", "2025-06-18"));

        assertThat(modern).containsEntry("resultType", "complete").containsKeys("ttlMs", "cacheScope", "_meta");
        assertThat(legacy).doesNotContainKeys("resultType", "ttlMs", "cacheScope");
        assertThat(legacy.get("tools")).isEqualTo(modern.get("tools"));
    }

    @Test
    @DisplayName("initialize negotiates the older revisions, and the session ends by DELETE")
    void sessions() throws Exception {
        String session = session();
        String ping = "{'jsonrpc':'2.0','id':2,'method':'ping'}";

        assertThat(result(send("POST", ping, "Mcp-Session-Id", session))).isEmpty();
        assertThat(send("DELETE", "", "Mcp-Session-Id", session).statusCode()).isEqualTo(204);
        assertThat(send("POST", ping, "Mcp-Session-Id", session).statusCode()).isEqualTo(404);
        assertThat(send("DELETE", "").statusCode()).isEqualTo(405);
        assertThat(send("GET", "").statusCode()).isEqualTo(405);
        assertThat(send("PUT", "{}").statusCode()).isEqualTo(405);
    }

    @Test
    @DisplayName("requests that are no messages get errors of JSON-RPC, never more")
    void badRequests() throws Exception {
        assertThat(code(send("POST", "{"))).isEqualTo(-32700);
        assertThat(code(send("POST", "[]"))).isEqualTo(-32600);
        assertThat(code(send("POST", "{'jsonrpc':'2.0','id':null,'method':'ping'}")))
                .isEqualTo(-32600);
        assertThat(code(send("POST", "{'jsonrpc':'2.0','id':1.5,'method':'ping'}")))
                .isEqualTo(-32600);
        assertThat(code(send("POST", "{'jsonrpc':'2.0','id':1,'method':'ping','params':[]}")))
                .isEqualTo(-32600);
        assertThat(code(send("POST", "{'jsonrpc':'2.0','id':1,'method':'tools/list'}")))
                .isEqualTo(-32020);
        assertThat(code(modern("tools/call", "greet", "'name':'greet','arguments':[]")))
                .isEqualTo(-32602);
        assertThat(code(modern("tools/call", "none", "'name':'none'"))).isEqualTo(-32602);
        assertThat(code(modern("tools/list", "", "'cursor':'x'"))).isEqualTo(-32602);
        assertThat(send("POST", "{'a':1}", "Content-Type", "text/plain").statusCode())
                .isEqualTo(415);
    }

    @Test
    @DisplayName("headers that differ from the body are refused with HeaderMismatch")
    void headers() throws Exception {
        String body = "{'jsonrpc':'2.0','id':1,'method':'tools/call','params':{'name':'test_x_mcp_header',"
                + "'arguments':{'region':'Zürich','count':42}," + META + "}}";
        String[] base = {
            "MCP-Protocol-Version", "2026-07-28", "Mcp-Method", "tools/call", "Mcp-Name", "test_x_mcp_header"
        };

        assertThat(code(send("POST", body, base))).isEqualTo(-32020);
        assertThat(result(send(
                        "POST",
                        body,
                        with(base, "Mcp-Param-Region", "=?base64?WsO8cmljaA==?=", "Mcp-Param-Count", "42.0"))))
                .containsKey("content");
        assertThat(code(send(
                        "POST",
                        body,
                        with(base, "Mcp-Param-Region", "=?base64?WsO8cmljaA?=", "Mcp-Param-Count", "42"))))
                .isEqualTo(-32020);
        assertThat(code(send(
                        "POST",
                        body,
                        with(base, "Mcp-Param-Region", "=?base64?WsO8cmljaA==?=", "Mcp-Param-Count", "43"))))
                .isEqualTo(-32020);
    }

    private static String[] with(String[] base, String... more) {
        return java.util.stream.Stream.of(base, more)
                .flatMap(java.util.Arrays::stream)
                .toArray(String[]::new);
    }

    @Test
    @DisplayName(
            "an unsupported version is answered with 400 and the supported ones, in header and body, for all kinds of messages")
    void versions() throws Exception {
        String list = "{'jsonrpc':'2.0','id':1,'method':'tools/list','params':{%s}}";
        for (String version : List.of("2099-01-01", "2024-11-05", "1", "2026-07-28, 2025-11-25")) {
            String meta = META.replace("2026-07-28", version);
            for (String body : List.of(list.formatted(""), list.formatted("'_meta':{}"), list.formatted(meta))) {
                HttpResponse<String> answer =
                        send("POST", body, "MCP-Protocol-Version", version, "Mcp-Method", "tools/list");
                Map<String, @Nullable Object> error =
                        Trees.map(tree(answer.body()).get("error"));

                assertThat(answer.statusCode()).as(body).isEqualTo(400);
                assertThat(error).as(body).containsEntry("code", -32022);
                assertThat(error.get("data"))
                        .as(body)
                        .isEqualTo(Map.of("supported", List.of("2026-07-28"), "requested", version));
            }
        }
        String session = session();
        String[] wrong = {"MCP-Protocol-Version", "2099-01-01", "Mcp-Session-Id", session};
        for (String body : List.of(
                "{'jsonrpc':'2.0','id':2,'method':'ping'}",
                "{'jsonrpc':'2.0','method':'notifications/initialized'}",
                "{'jsonrpc':'2.0','id':2,'result':{}}")) {
            assertThat(send("POST", body, wrong).statusCode()).as(body).isEqualTo(400);
            assertThat(code(send("POST", body, wrong))).as(body).isEqualTo(-32022);
        }
        assertThat(send("GET", "", wrong).statusCode()).isEqualTo(400);
        assertThat(send("DELETE", "", wrong).statusCode()).isEqualTo(400);
        assertThat(code(send("POST", list.formatted(META), "MCP-Protocol-Version", "2099-01-01")))
                .isEqualTo(-32020);
        assertThat(code(send(
                        "POST", list.formatted(""), "MCP-Protocol-Version", "2026-07-28", "Mcp-Method", "tools/list")))
                .isEqualTo(-32602);
        assertThat(result(send("POST", "{'jsonrpc':'2.0','id':2,'method':'ping'}", "Mcp-Session-Id", session)))
                .isEmpty();
    }

    @Test
    @DisplayName("a state that has expired is refused as a changed one")
    void expired() throws Exception {
        String tool = "test_input_required_result_multi_round";
        var states = new RequestState(new byte[32], Clock.systemUTC());
        String fresh = String.valueOf(
                result(modern("tools/call", tool, "'name':'" + tool + "'")).get("requestState"));
        var call = new Invocation(tool, Map.of(), Map.of(), null, Map.of());
        String content = states.open(fresh, "tools/call", call, CallContext.anonymous());
        var hourAgo = new RequestState(
                new byte[32],
                Clock.offset(
                        Clock.systemUTC(), RequestState.LIFETIME.plusSeconds(1).negated()));
        String answered = ",'inputResponses':{'step1':{'action':'accept','content':{'name':'Ada'}}},'requestState':'";

        HttpResponse<String> refused = modern(
                "tools/call",
                tool,
                "'name':'" + tool + "'" + answered + hourAgo.seal(content, "tools/call", call, CallContext.anonymous())
                        + "'");
        assertThat(code(refused)).isEqualTo(-32602);
        assertThat(refused.body()).contains("requestState: changed, expired, or of another");
        assertThat(result(modern(
                        "tools/call",
                        tool,
                        "'name':'" + tool + "'" + answered
                                + states.seal(content, "tools/call", call, CallContext.anonymous()) + "'")))
                .containsEntry("resultType", "input_required");
    }

    @Test
    @DisplayName("a question is a result whose state is sealed, and bound to the request")
    void questions() throws Exception {
        String tool = "test_input_required_result_multi_round";
        Map<String, @Nullable Object> first = result(modern("tools/call", tool, "'name':'" + tool + "'"));
        String state = String.valueOf(first.get("requestState"));
        String answered = ",'inputResponses':{'step1':{'action':'accept','content':{'name':'Ada'}}},'requestState':'";

        Map<String, @Nullable Object> second =
                result(modern("tools/call", tool, "'name':'" + tool + "'" + answered + state + "'"));
        assertThat(first).containsEntry("resultType", "input_required");
        assertThat(second).containsEntry("resultType", "input_required");
        assertThat(Trees.map(second.get("inputRequests"))).containsOnlyKeys("step2");
        assertThat(code(modern(
                        "tools/call", tool, "'name':'" + tool + "','arguments':{'x':1}" + answered + state + "'")))
                .isEqualTo(-32602);
        assertThat(code(modern("tools/call", tool, "'name':'" + tool + "'" + answered + "A" + state + "'")))
                .isEqualTo(-32602);
        assertThat(code(modern("tools/call", tool, "'name':'" + tool + "','inputResponses':[]")))
                .isEqualTo(-32602);
    }

    @Test
    @DisplayName("in a session a question is a request on the stream of the call, and the answer is posted")
    void questionsOfSessions() throws Exception {
        String session = session();
        HttpResponse<InputStream> stream = HTTP.send(
                request(
                        "POST",
                        "{'jsonrpc':'2.0','id':5,'method':'tools/call','params':{'name':'test_elicitation',"
                                + "'arguments':{'message':'Well?'}}}",
                        "Mcp-Session-Id",
                        session),
                BodyHandlers.ofInputStream());
        try (var lines = new BufferedReader(new InputStreamReader(stream.body(), UTF_8))) {
            Map<String, @Nullable Object> question = next(lines);
            assertThat(question).containsEntry("method", "elicitation/create");
            String answer = "{'jsonrpc':'2.0','id':'" + question.get("id")
                    + "','result':{'action':'accept','content':{'response':'yes'}}}";
            assertThat(send("POST", answer, "Mcp-Session-Id", session()).statusCode())
                    .isEqualTo(202);
            assertThat(send("POST", answer, "Mcp-Session-Id", session).statusCode())
                    .isEqualTo(202);

            assertThat(next(lines).toString()).contains("action=accept").contains("yes");
        }
    }

    /** The next message of a stream. */
    private static Map<String, @Nullable Object> next(BufferedReader lines) throws Exception {
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            if (line.startsWith("data: ")) {
                return tree(line.substring(6));
            }
        }
        throw new AssertionError("the stream has ended");
    }

    @Test
    @DisplayName("closing the stream of a call cancels it")
    void cancellation() throws Exception {
        String call = "{'jsonrpc':'2.0','id':1,'method':'tools/call','params':{'name':'wait',"
                + META.replace("'_meta':{", "'_meta':{'progressToken':'p',") + "}}";
        HttpResponse<InputStream> stream = HTTP.send(
                request(
                        "POST",
                        call,
                        "MCP-Protocol-Version",
                        "2026-07-28",
                        "Mcp-Method",
                        "tools/call",
                        "Mcp-Name",
                        "wait"),
                BodyHandlers.ofInputStream());
        try (var lines = new BufferedReader(new InputStreamReader(stream.body(), UTF_8))) {
            assertThat(next(lines)).containsEntry("method", "notifications/progress");
        }

        assertThat(CANCELED.await(20, TimeUnit.SECONDS)).isTrue();
    }

    @Test
    @DisplayName("in a session closing the stream ends the wait only, and the call can be canceled afterwards")
    void disconnectOfASession() throws Exception {
        String session = session();
        String call = "{'jsonrpc':'2.0','id':77,'method':'tools/call','params':{'name':'linger',"
                + "'_meta':{'progressToken':'p'}}}";
        HttpResponse<InputStream> stream =
                HTTP.send(request("POST", call, "Mcp-Session-Id", session), BodyHandlers.ofInputStream());
        try (var lines = new BufferedReader(new InputStreamReader(stream.body(), UTF_8))) {
            assertThat(next(lines)).containsEntry("method", "notifications/progress");
        }
        assertThat(RELEASED.await(20, TimeUnit.SECONDS)).isTrue();
        assertThat(CANCELED_LATER.getCount()).isEqualTo(1);
        String cancel = "{'jsonrpc':'2.0','method':'notifications/cancelled','params':{'requestId':77}}";
        for (int i = 0; i < 2; i++) {
            assertThat(send("POST", cancel, "Mcp-Session-Id", session).statusCode())
                    .isEqualTo(202);
        }

        assertThat(CANCELED_LATER.await(20, TimeUnit.SECONDS)).isTrue();
    }

    @Test
    @DisplayName("a subscription sends the accepted subset first, then what was asked for")
    void listening() throws Exception {
        String listen = "{'jsonrpc':'2.0','id':'s','method':'subscriptions/listen','params':{" + META
                + ",'notifications':{'promptsListChanged':true,'taskIds':['none']}}}";
        HttpResponse<InputStream> stream = HTTP.send(
                request("POST", listen, "MCP-Protocol-Version", "2026-07-28", "Mcp-Method", "subscriptions/listen"),
                BodyHandlers.ofInputStream());
        try (var lines = new BufferedReader(new InputStreamReader(stream.body(), UTF_8))) {
            Map<String, @Nullable Object> acknowledged = next(lines);
            result(modern("tools/call", "test_trigger_tool_change", "'name':'test_trigger_tool_change'"));
            result(modern("tools/call", "test_trigger_prompt_change", "'name':'test_trigger_prompt_change'"));

            assertThat(acknowledged)
                    .containsEntry("method", "notifications/subscriptions/acknowledged")
                    .containsEntry(
                            "params",
                            json("{'notifications':{'promptsListChanged':true},"
                                    + "'_meta':{'io.modelcontextprotocol/subscriptionId':'s'}}"));
            assertThat(next(lines)).containsEntry("method", "notifications/prompts/list_changed");
        }
    }

    @Test
    @DisplayName("the stream of a session carries changes of lists and of followed resources; there is one")
    void streamOfASession() throws Exception {
        String session = session();
        HttpResponse<InputStream> stream =
                HTTP.send(request("GET", "", "Mcp-Session-Id", session), BodyHandlers.ofInputStream());
        try (var lines = new BufferedReader(new InputStreamReader(stream.body(), UTF_8))) {
            assertThat(send("GET", "", "Mcp-Session-Id", session).statusCode()).isEqualTo(409);
            result(modern("tools/call", "test_trigger_tool_change", "'name':'test_trigger_tool_change'"));

            assertThat(next(lines)).containsEntry("method", "notifications/tools/list_changed");
        }
    }
}
