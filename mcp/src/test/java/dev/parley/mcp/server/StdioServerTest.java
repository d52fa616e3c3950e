package dev.parley.mcp.server;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.mcp.ServerInfo;
import dev.parley.mcp.stdio.McpServer;
import dev.parley.mcp.wire.Trees;
import dev.parley.protocol.json.Codecs;
import dev.parley.protocol.json.JsonText;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.channels.Channels;
import java.nio.channels.Pipe;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** MCP over a pair of streams. JSON is written with apostrophes. */
@Timeout(60)
class StdioServerTest {
    private static final String META = "'_meta':{'io.modelcontextprotocol/protocolVersion':'2026-07-28',"
            + "'io.modelcontextprotocol/clientCapabilities':{}}";

    private OutputStream toServer;
    private BufferedReader fromServer;
    private Thread server;

    @BeforeEach
    void start() throws IOException {
        Pipe requests = Pipe.open();
        Pipe answers = Pipe.open();
        toServer = Channels.newOutputStream(requests.sink());
        fromServer = new BufferedReader(new InputStreamReader(Channels.newInputStream(answers.source()), UTF_8));
        InputStream in = Channels.newInputStream(requests.source());
        OutputStream out = Channels.newOutputStream(answers.sink());
        var provider = new ConformanceProvider();
        server = Thread.ofVirtual().start(() -> {
            try (provider;
                    out) {
                McpServer.of(provider, ServerInfo.of("fixture", "1")).serve(in, out);
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        });
    }

    @AfterEach
    void stop() throws Exception {
        toServer.close();
        server.join();
    }

    private void send(String message) throws IOException {
        toServer.write((message.replace('\'', '"') + "\n").getBytes(UTF_8));
        toServer.flush();
    }

    private Map<String, @Nullable Object> receive() throws IOException {
        return JsonText.read(fromServer.readLine().getBytes(UTF_8), Codecs.STRUCT);
    }

    private Map<String, @Nullable Object> answer(String message) throws IOException {
        send(message);
        return receive();
    }

    private static @Nullable Object code(Map<String, @Nullable Object> answer) {
        return Trees.map(answer.get("error")).get("code");
    }

    @Test
    @DisplayName("both eras are served on one pair of streams, whatever comes first")
    void eras() throws Exception {
        assertThat(answer("{'jsonrpc':'2.0','id':1,'method':'server/discover','params':{" + META + "}}"))
                .extractingByKey("result")
                .asString()
                .contains("2026-07-28");
        assertThat(code(answer("{'jsonrpc':'2.0','id':2,'method':'tools/list'}")))
                .isEqualTo(-32602);
        assertThat(answer("{'jsonrpc':'2.0','id':3,'method':'initialize','params':{'protocolVersion':'2025-11-25',"
                        + "'capabilities':{}}}"))
                .extractingByKey("result")
                .asString()
                .contains("2025-11-25");
        assertThat(answer("{'jsonrpc':'2.0','id':4,'method':'tools/list'}")).containsKey("result");
        assertThat(answer("{'jsonrpc':'2.0','id':'5','method':'tools/call','params':{'name':'greet','arguments':"
                        + "{'name':'you'}," + META + "}}"))
                .containsEntry("id", "5")
                .extractingByKey("result")
                .asString()
                .contains("Hello, you!", "resultType=complete");
    }

    @Test
    @DisplayName("a question of a session is a request between the lines")
    void questions() throws Exception {
        answer("{'jsonrpc':'2.0','id':1,'method':'initialize','params':{'protocolVersion':'2025-11-25',"
                + "'capabilities':{'elicitation':{}}}}");

        Map<String, @Nullable Object> question = answer("{'jsonrpc':'2.0','id':2,'method':'tools/call','params':"
                + "{'name':'test_elicitation','arguments':{'message':'Well?'}}}");
        assertThat(question).containsEntry("method", "elicitation/create");
        assertThat(answer("{'jsonrpc':'2.0','id':3,'method':'ping'}")).containsEntry("id", 3);
        assertThat(answer("{'jsonrpc':'2.0','id':'" + question.get("id") + "','result':{'action':'decline'}}")
                        .toString())
                .contains("action=decline");
    }

    @Test
    @DisplayName("notifications/cancelled ends a call without an answer")
    void cancellation() throws Exception {
        answer("{'jsonrpc':'2.0','id':1,'method':'initialize','params':{'protocolVersion':'2025-11-25',"
                + "'capabilities':{'elicitation':{}}}}");
        answer("{'jsonrpc':'2.0','id':2,'method':'tools/call','params':{'name':'test_elicitation','arguments':{}}}");
        send("{'jsonrpc':'2.0','method':'notifications/cancelled','params':{'requestId':2}}");

        assertThat(answer("{'jsonrpc':'2.0','id':3,'method':'ping'}")).containsEntry("id", 3);
        toServer.close();
        assertThat(fromServer.readLine()).isNull();
    }

    @Test
    @DisplayName("subscriptions are told apart by their ids, and end with a result when the input ends")
    void subscriptions() throws Exception {
        assertThat(answer("{'jsonrpc':'2.0','id':9,'method':'subscriptions/listen','params':{" + META
                                + ",'notifications':{'toolsListChanged':true}}}")
                        .toString())
                .contains("acknowledged", "subscriptionId=9");
        send("{'jsonrpc':'2.0','id':10,'method':'tools/call','params':{'name':'test_trigger_tool_change'," + META
                + "}}");
        assertThat(receive().toString()).contains("tools/list_changed", "subscriptionId=9");
        assertThat(receive()).containsEntry("id", 10);
        toServer.close();

        assertThat(receive()).containsEntry("id", 9).containsKey("result");
    }

    @Test
    @DisplayName("lines that are no messages, and too long ones, get errors, and the next line is read")
    void badLines() throws Exception {
        assertThat(code(answer("{"))).isEqualTo(-32700);
        assertThat(code(answer("[1]"))).isEqualTo(-32600);
        assertThat(code(answer("{'jsonrpc':'1.0','id':1,'method':'x'}"))).isEqualTo(-32600);
        byte[] part = "x".repeat(1 << 16).getBytes(UTF_8);
        for (int i = 0; i <= StdioServer.MAX_LINE / part.length; i++) {
            toServer.write(part);
        }
        assertThat(code(answer(""))).isEqualTo(-32600);
        send("");
        assertThat(code(answer("{'jsonrpc':'2.0','id':1,'method':'none','params':{" + META + "}}")))
                .isEqualTo(-32601);
    }
}
