package dev.parley.bench;

import dev.parley.dialect.DialectSettings;
import dev.parley.dialect.Dialects;
import dev.parley.dialect.Json;
import dev.parley.dialect.served.ServedAgent;
import dev.parley.dialect.spi.WireAnswer;
import dev.parley.dialect.spi.WireRequest;
import dev.parley.protocol.AgentCard;
import dev.parley.protocol.AgentEndpoint;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.Feed;
import dev.parley.protocol.Message;
import dev.parley.protocol.Operation;
import dev.parley.protocol.Part;
import dev.parley.protocol.Role;
import dev.parley.protocol.Task;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;

/** Cost of a dialect from the bytes of a request to the bytes of its answer, with an agent without work. */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Fork(1)
@Warmup(iterations = 5, time = 1)
@Measurement(iterations = 5, time = 1)
public class DialectBenchmark {
    private static final Map<String, String> HEADERS =
            Map.of("a2a-version", "1.0", "content-type", "application/json", "accept", "application/json");

    private final Dialects dialects = new Dialects(DialectSettings.DEFAULTS);
    private final ServedAgent agent = new ServedAgent("sample", new Instant(), card());

    private final byte[] send = ("{\"message\":" + new String(Json.write(Samples.message()), StandardCharsets.UTF_8)
                    + "}")
            .getBytes(StandardCharsets.UTF_8);
    private final WireRequest rpcSend =
            request("POST", "", Samples.rpc("SendMessage", new String(send, StandardCharsets.UTF_8)));
    private final WireRequest restSend = request("POST", "/message:send", send);
    private final WireRequest rpcGet =
            request("POST", "", Samples.rpc("GetTask", "{\"id\":\"" + Samples.TASK_ID + "\"}"));
    private final WireRequest restGet = request("GET", "/tasks/" + Samples.TASK_ID, new byte[0]);

    private static WireRequest request(String method, String path, byte[] body) {
        return new WireRequest(
                method, path, Map.of(), name -> HEADERS.get(name.toLowerCase(Locale.ROOT)), body, "127.0.0.1");
    }

    private static AgentCard card() {
        return new AgentCard(
                "sample",
                "Answers what it has ready",
                List.of(new AgentCard.Interface("http://127.0.0.1/agents/sample", "JSONRPC", null, "1.0")),
                null,
                "1.0.0",
                null,
                new AgentCard.Capabilities(true, true, List.of(), false),
                Map.of(),
                List.of(),
                List.of("text/plain"),
                List.of("text/plain"),
                List.of(),
                List.of(),
                null);
    }

    /** Answers sends with a message and everything else with a task, both made before. */
    private static final class Instant implements AgentEndpoint {
        private final Message message =
                Message.of(Role.AGENT, List.of(Part.text("pong: hello"))).in(Samples.CONTEXT_ID, null);
        private final Task task = Samples.task();

        @Override
        @SuppressWarnings("unchecked") // each operation names its result, which these are
        public <R> R call(Operation.Call<R> operation, CallContext context) {
            return operation instanceof Operation.SendMessage ? (R) message : (R) task;
        }

        @Override
        public <E> Feed<E> watch(Operation.Watch<E> operation, CallContext context) {
            throw new UnsupportedOperationException("streams are measured through HTTP");
        }
    }

    @Benchmark
    public WireAnswer rpcSend() {
        return dialects.answer(rpcSend, agent, CallContext.anonymous());
    }

    @Benchmark
    public WireAnswer restSend() {
        return dialects.answer(restSend, agent, CallContext.anonymous());
    }

    @Benchmark
    public WireAnswer rpcGet() {
        return dialects.answer(rpcGet, agent, CallContext.anonymous());
    }

    @Benchmark
    public WireAnswer restGet() {
        return dialects.answer(restGet, agent, CallContext.anonymous());
    }
}
