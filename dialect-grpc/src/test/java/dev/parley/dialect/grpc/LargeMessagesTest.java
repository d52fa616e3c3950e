package dev.parley.dialect.grpc;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.dialect.DialectSettings;
import dev.parley.dialect.grpc.v1.GetTaskRequest;
import dev.parley.dialect.served.ServedAgent;
import dev.parley.dialect.wire.LargeBodies;
import dev.parley.protocol.AgentEndpoint;
import dev.parley.protocol.Artifact;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.Feed;
import dev.parley.protocol.Operation;
import dev.parley.protocol.Part;
import dev.parley.protocol.Task;
import dev.parley.protocol.TaskState;
import dev.parley.protocol.TaskStatus;
import java.util.AbstractMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Where large messages of gRPC are written. */
@Timeout(60)
final class LargeMessagesTest {
    private static final String POOL = "json-worker";

    /** Data that says on which threads it was read. */
    private static final class Watched extends AbstractMap<String, Object> {
        private final Set<String> threads = ConcurrentHashMap.newKeySet();
        private final Map<String, Object> data;

        Watched(String text) {
            data = Map.of("text", text);
        }

        @Override
        public Set<Entry<String, Object>> entrySet() {
            threads.add(Thread.currentThread().getName());
            return data.entrySet();
        }
    }

    /** Answers each call with the same task. */
    private record Answering(Task task) implements AgentEndpoint {
        @Override
        @SuppressWarnings("unchecked") // the test asks for a task only
        public <R> R call(Operation.Call<R> operation, CallContext caller) {
            return (R) task;
        }

        @Override
        public <E> Feed<E> watch(Operation.Watch<E> operation, CallContext caller) {
            throw new UnsupportedOperationException();
        }
    }

    private static Set<String> threadsOf(String text) {
        var data = new Watched(text);
        var artifact = new Artifact("a", null, null, List.of(Part.data(data)), Map.of(), List.of());
        var task = new Task(
                "t", "c", new TaskStatus(TaskState.COMPLETED, null, null), List.of(artifact), List.of(), Map.of());
        var agent = new ServedAgent("agent", new Answering(task), ErrorTableTest.CARD);
        var request = new GrpcRequest(
                "lf.a2a.v1.A2AService/GetTask",
                name -> null,
                null,
                GetTaskRequest.newBuilder().setId("t").build().toByteArray(),
                "127.0.0.1");

        GrpcAnswer answer = new GrpcDialect(DialectSettings.DEFAULTS, tenant -> agent, () -> true)
                .answer(request, called -> CallContext.anonymous());

        assertThat(answer).isInstanceOf(GrpcAnswer.Whole.class);
        return data.threads;
    }

    @Test
    void aLargeAnswerToASmallRequestIsNotWrittenOnTheThreadOfTheCall() {
        assertThat(threadsOf("x".repeat(LargeBodies.LARGE))).contains(POOL);
        assertThat(threadsOf("small")).containsExactly(Thread.currentThread().getName());
    }
}
