package dev.parley.mcp.server;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import com.code_intelligence.jazzer.junit.FuzzTest;
import dev.parley.dialect.spi.WireRequest;
import dev.parley.mcp.McpException;
import dev.parley.mcp.McpProvider.Invocation;
import dev.parley.mcp.ServerInfo;
import dev.parley.mcp.wire.HeaderValues;
import dev.parley.mcp.wire.McpMessage;
import dev.parley.mcp.wire.Trees;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.Feed;
import dev.parley.protocol.json.Codecs;
import dev.parley.protocol.json.JsonText;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Stream;
import org.junit.jupiter.params.provider.MethodSource;

/** Whatever a client sends, it gets a message of JSON-RPC without anything internal, and no state of its own making is accepted. */
final class McpFuzzTest {
    private static final ConformanceProvider PROVIDER = new ConformanceProvider();
    private static final CallContext CALLER = CallContext.anonymous();

    static Stream<byte[]> requests() {
        String meta = "'_meta':{'io.modelcontextprotocol/protocolVersion':'2026-07-28',"
                + "'io.modelcontextprotocol/clientCapabilities':{'elicitation':{},'extensions':{'io.modelcontextprotocol/tasks':{}}}}";
        return Stream.of(
                        "{'jsonrpc':'2.0','id':1,'method':'server/discover','params':{" + meta + "}}",
                        "{'jsonrpc':'2.0','id':'a','method':'tools/call','params':{'name':'greet','arguments':{'name':'x'},"
                                + meta + "}}",
                        "{'jsonrpc':'2.0','id':1,'method':'tools/call','params':{'name':'test_input_required_result_multi_round',"
                                + "'inputResponses':{'step1':{'action':'accept','content':{'name':1}}},'requestState':'AAAA',"
                                + meta
                                + "}}",
                        "{'jsonrpc':'2.0','id':1,'method':'subscriptions/listen','params':{'notifications':{'toolsListChanged':true,"
                                + "'taskIds':['x'],'resourceSubscriptions':['y']}," + meta + "}}",
                        "{'jsonrpc':'2.0','id':1,'method':'tasks/update','params':{'taskId':'x','inputResponses':{},"
                                + meta + "}}",
                        "{'jsonrpc':'2.0','id':1,'method':'completion/complete','params':{'ref':{'type':'ref/prompt','name':'x'},"
                                + "'argument':{'name':'a','value':'b'},'context':{'arguments':{'c':1}}," + meta + "}}",
                        "{'jsonrpc':'2.0','id':1,'method':'resources/read','params':{'uri':'test://template/1/data',"
                                + meta + "}}",
                        "{'jsonrpc':'2.0','id':1,'method':'initialize','params':{'protocolVersion':'2025-06-18','capabilities':{}}}",
                        "{'jsonrpc':'2.0','id':1,'method':'tools/list','params':{'cursor':'9'}}",
                        "{'jsonrpc':'2.0','method':'notifications/cancelled','params':{'requestId':1}}",
                        "{'jsonrpc':'2.0','id':1,'result':{}}",
                        "{'jsonrpc':'2.0','id':null,'error':{'code':1,'message':''}}",
                        "[]")
                .map(text -> text.replace('\'', '"').getBytes(UTF_8));
    }

    @MethodSource("requests")
    @FuzzTest(maxDuration = "2m")
    void requests(byte[] body) throws InterruptedException {
        McpMessage message = McpMessage.read(body);
        String method = message instanceof McpMessage.Request request ? request.method() : "";
        String name = message instanceof McpMessage.Request request
                ? Stream.of("name", "uri", "taskId")
                        .map(member -> Trees.text(request.params().get(member)))
                        .filter(Objects::nonNull)
                        .findFirst()
                        .orElse("")
                : "";
        for (Map<String, String> headers : List.of(
                Map.of(
                        "mcp-protocol-version",
                        "2026-07-28",
                        "mcp-method",
                        method,
                        "mcp-name",
                        HeaderValues.encode(name)),
                Map.of("mcp-protocol-version", "2025-11-25", "accept", "application/json"),
                Map.<String, String>of())) {
            try (var engine = new HttpEngine(PROVIDER, ServerInfo.of("fuzz", "1"), new byte[32])) {
                var http = new WireRequest(
                        "POST",
                        "",
                        Map.of(),
                        header -> headers.get(header.toLowerCase(Locale.ROOT)),
                        body,
                        "127.0.0.1");
                try (Feed<HttpReply> feed = engine.answer(McpExchange.of(http), CALLER)) {
                    List<HttpReply> replies = feed.next(Duration.ofSeconds(10));
                    assertThat(replies).isNotNull().isNotEmpty().allSatisfy(McpFuzzTest::isClean);
                }
            }
        }
    }

    private static void isClean(HttpReply reply) {
        if (reply.message() != null) {
            byte[] bytes = reply.message().bytes();
            assertThat(JsonText.read(bytes, Codecs.STRUCT)).containsEntry("jsonrpc", "2.0");
            if (reply.message() instanceof McpMessage.Failure failure) {
                assertThat(failure.error().code()).isNotEqualTo(McpException.INTERNAL_ERROR);
                assertThat(new String(bytes, UTF_8)).doesNotContain("Exception", "dev.parley");
            }
        }
    }

    private static Invocation call(String tool) {
        return new Invocation(tool, Map.of(), Map.of(), null, Map.of());
    }

    static Stream<byte[]> states() {
        var states = new RequestState(new byte[32], Clock.systemUTC());
        return Stream.of(states.seal("s", "tools/call", call("other"), CALLER), "", "AAAA", "=?base64?AAAA?=")
                .map(text -> text.getBytes(UTF_8));
    }

    @MethodSource("states")
    @FuzzTest(maxDuration = "2m")
    void states(byte[] bytes) {
        String text = new String(bytes, UTF_8);
        try {
            new RequestState(new byte[32], Clock.systemUTC()).open(text, "tools/call", call("x"), CALLER);
            throw new AssertionError("accepted");
        } catch (McpException refused) {
            assertThat(refused.code()).isEqualTo(McpException.INVALID_PARAMS);
        }
        assertThat(HeaderValues.decode(HeaderValues.encode(text))).contains(text);
        HeaderValues.decode(text);
    }
}
