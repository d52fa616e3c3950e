package dev.parley.mcp.client;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import com.code_intelligence.jazzer.junit.FuzzTest;
import dev.parley.mcp.CallResult;
import dev.parley.mcp.InputResponse;
import dev.parley.mcp.McpException;
import dev.parley.mcp.McpProvider.Invocation;
import dev.parley.mcp.McpProvider.Outcome;
import dev.parley.mcp.wire.McpMessage;
import dev.parley.mcp.wire.Revision;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.params.provider.MethodSource;

/** Whatever a server prints or streams, its client gets a result, an error of the protocol, or a failure of the server. */
final class ChildOutputFuzzTest {
    private static final int MAX = 10_000;

    static Stream<byte[]> examples() {
        return Stream.of(
                        "{'jsonrpc':'2.0','id':1,'result':{'tools':[{'name':'a','inputSchema':{'type':'object','properties':"
                                + "{'b':{'type':'string','x-mcp-header':'B'}}}}],'nextCursor':'2','ttlMs':5}}",
                        "{'jsonrpc':'2.0','id':1,'result':{'resultType':'input_required','inputRequests':{'q':{'method':"
                                + "'elicitation/create','params':{'mode':'form','message':'m','requestedSchema':{'properties':"
                                + "{'a':{'type':'integer','default':1}},'required':['a']}}}},'requestState':'s'}}",
                        "{'jsonrpc':'2.0','id':1,'result':{'resultType':'task','taskId':'t','status':'working'}}",
                        "{'jsonrpc':'2.0','id':1,'error':{'code':-32602,'message':'m','data':{'a':1}}}",
                        """
                        {'jsonrpc':'2.0','method':'notifications/progress','params':{'progressToken':1,'progress':0.5}}
                        {'jsonrpc':'2.0','id':7,'method':'elicitation/create','params':{}}
                        no JSON
                        """,
                        "id: 7\nretry: 10\ndata: {'jsonrpc':'2.0',\ndata: 'id':1,'result':{}}\r\n\r\n: comment\n\n")
                .map(text -> text.replace('\'', '"').getBytes(UTF_8));
    }

    @MethodSource("examples")
    @FuzzTest(maxDuration = "2m")
    void output(byte[] bytes) throws InterruptedException {
        try (McpClient client = McpClient.connect(
                () -> new Printed(bytes),
                new McpClient.Limits(Duration.ofMillis(1), Duration.ofMillis(1)),
                Revision.V2026_07_28)) {
            client.tools();
            call(client);
        } catch (McpException | ServerFailure expected) {
            assertThat(expected.getMessage()).isNotNull();
        }
    }

    private static void call(McpClient client) throws InterruptedException {
        var call = new Invocation("a", Map.of("b", "c"), Map.of(), null, Map.of());
        Outcome<CallResult> outcome = client.call(call, Duration.ofMillis(1), Progress.NONE);
        if (outcome instanceof Outcome.Questions<CallResult>(var requests, var state)) {
            requests.values()
                    .forEach(request -> Elicitation.of(request).ifPresent(question -> {
                        InputResponse answer = question.accept(Map.of());
                        assertThat(question.problem(answer)).isNotNull();
                        assertThat(question.content("yes")).isNotNull();
                    }));
        }
    }

    /** A child that prints the same for each request, with the id of the request. */
    private record Printed(byte[] output) implements McpTransport {
        @Override
        public void open(Receiver receiver) {}

        @Override
        public void revision(Revision revision) {}

        @Override
        public void begin(ClientExchange exchange, McpMessage.Request request, Map<String, String> headers) {
            var in = new ByteArrayInputStream(output);
            try {
                for (byte[] line = StdioTransport.line(in, MAX); line != null; line = StdioTransport.line(in, MAX)) {
                    if (!(Incoming.of(line) instanceof Incoming.Message(var message))) {
                        continue;
                    }
                    var own = new LinkedHashMap<>(message);
                    if (!StdioTransport.owner(message).isEmpty() && !message.containsKey("method")) {
                        own.put("id", exchange.id());
                    }
                    exchange.offer(own);
                }
            } catch (IOException tooLong) {
                exchange.fail(new ServerFailure(ServerFailure.Kind.INVALID_RESPONSE, "too long", tooLong));
            }
        }

        @Override
        public void send(McpMessage message) {}

        @Override
        public void follow() {}

        @Override
        public boolean cancelsByNotification(Revision revision) {
            return true;
        }

        @Override
        public boolean hasHeaders() {
            return true;
        }

        @Override
        public void close() {}
    }
}
