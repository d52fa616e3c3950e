package dev.parley.dialect;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.dialect.served.ExtensionTable;
import dev.parley.dialect.served.ServedAgent;
import dev.parley.dialect.served.ServedCard;
import dev.parley.dialect.spi.WireAnswer;
import dev.parley.dialect.spi.WireRequest;
import dev.parley.dialect.wire.LargeBodies;
import dev.parley.protocol.A2AError;
import dev.parley.protocol.AgentCard;
import dev.parley.protocol.Artifact;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.CallContext.Scope;
import dev.parley.protocol.LoggedEvent;
import dev.parley.protocol.Message;
import dev.parley.protocol.Operation;
import dev.parley.protocol.Part;
import dev.parley.protocol.Role;
import dev.parley.protocol.Task;
import dev.parley.protocol.TaskState;
import dev.parley.protocol.TaskStatus;
import java.nio.charset.StandardCharsets;
import java.util.AbstractMap;
import java.util.Collection;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The threads that parse large requests: a group that has them all, and another group. */
@Timeout(60)
final class LargeBodiesTest {
    private static final CallContext HOSTILE = CallContext.of("mallory", new Scope("hostile", "mallory"));
    private static final CallContext ORDINARY = CallContext.of("alice", new Scope("ordinary", "alice"));
    private static final String LARGE = "x".repeat(LargeBodies.LARGE);

    private final CountDownLatch mayEnd = new CountDownLatch(1);
    private final CountDownLatch refused = new CountDownLatch(1);

    @AfterEach
    void end() {
        mayEnd.countDown();
    }

    private static WireRequest request(String text) {
        String body =
                "{\"message\":{\"messageId\":\"m1\",\"role\":\"ROLE_USER\",\"parts\":[{\"text\":\"" + text + "\"}]}}";
        return new WireRequest(
                "POST",
                "/message:send",
                Map.of(),
                name -> name.equalsIgnoreCase("Content-Type") ? "application/json" : null,
                body.getBytes(StandardCharsets.UTF_8),
                "127.0.0.1");
    }

    private static int send(String text, CallContext caller) {
        var endpoint = new ScriptedEndpoint();
        endpoint.answers = call -> ((Operation.SendMessage) call).message();
        AgentCard card = Json.read(Wire.example("card.full.json"), AgentCard.class);
        var agent = new ServedAgent("a", endpoint, ServedCard.unsigned(card), Set.of("1.0"), ExtensionTable.EMPTY);
        return ((WireAnswer.Whole) new Dialects(DialectSettings.DEFAULTS).answer(request(text), agent, caller))
                .status();
    }

    private boolean await(CountDownLatch latch) {
        try {
            return latch.await(50, TimeUnit.SECONDS);
        } catch (InterruptedException stopped) {
            return false;
        }
    }

    @Test
    void aLargeRequestIsReadAndAnsweredOnThreadsOfItsOwn() {
        Thread caller = Thread.currentThread();

        Thread large = LargeBodies.compute(request(LARGE), ORDINARY, Thread::currentThread);
        Thread small = LargeBodies.compute(request("small"), ORDINARY, Thread::currentThread);

        assertThat(large.isVirtual()).isFalse();
        assertThat(large.getName()).isEqualTo("json-worker");
        assertThat(small).isSameAs(caller);
        assertThat(send(LARGE, ORDINARY)).isEqualTo(200);
    }

    /** Data that says on which threads it is written. */
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

        @Override
        public Set<String> keySet() { // called to estimate the size
            return data.keySet();
        }

        @Override
        public Collection<Object> values() {
            return data.values();
        }
    }

    private static Task task(Watched data) {
        var artifact = new Artifact("a", null, null, List.of(Part.data(data)), Map.of(), List.of());
        return new Task(
                "t", "c", new TaskStatus(TaskState.COMPLETED, null, null), List.of(artifact), List.of(), Map.of());
    }

    private static WireAnswer get(Task task) {
        var endpoint = new ScriptedEndpoint();
        endpoint.answers = call -> task;
        AgentCard card = Json.read(Wire.example("card.full.json"), AgentCard.class);
        var agent =
                new ServedAgent("a", endpoint, ServedCard.unsigned(card), Set.of("1.0", "0.3"), ExtensionTable.EMPTY);
        var request = new WireRequest("GET", "/tasks/t", Map.of(), name -> null, new byte[0], "127.0.0.1");
        return new Dialects(DialectSettings.DEFAULTS).answer(request, agent, ORDINARY);
    }

    @Test
    void aLargeAnswerToASmallRequestIsNotWrittenOnTheThreadOfTheCall() {
        var large = new Watched(LARGE);
        var small = new Watched("small");

        WireAnswer answer = get(task(large));
        get(task(small));

        assertThat(((WireAnswer.Whole) answer).body()).hasSizeGreaterThan(LargeBodies.LARGE);
        assertThat(large.threads).containsExactly("json-worker");
        assertThat(small.threads).containsExactly(Thread.currentThread().getName());
    }

    @Test
    void manySmallPartsAreALargeAnswer() {
        Thread caller = Thread.currentThread();
        List<Part> parts = Collections.nCopies(LargeBodies.LARGE / 16, Part.text(""));
        Object large = List.of(Message.of(Role.AGENT, parts));

        assertThat(LargeBodies.encode(large, ORDINARY, Thread::currentThread)).isNotSameAs(caller);
        assertThat(LargeBodies.encode(
                        Map.of("a", Map.of("b", new byte[LargeBodies.LARGE])), ORDINARY, Thread::currentThread))
                .isNotSameAs(caller);
        assertThat(LargeBodies.encode(Map.of("a", "b"), ORDINARY, Thread::currentThread))
                .isSameAs(caller);
    }

    @Test
    void anEventThatIsEncodedAlreadyIsJudgedByTheLengthOfItsBytes() {
        Thread caller = Thread.currentThread();
        var encoded = new LoggedEvent(1, Message.agent(Part.text(LARGE)));
        var unencoded = new LoggedEvent(2, Message.agent(Part.text(LARGE)));

        assertThat(encoded.encoded(event -> new byte[100])).hasSize(100);

        assertThat(LargeBodies.encode(encoded, ORDINARY, Thread::currentThread)).isSameAs(caller);
        assertThat(LargeBodies.encode(unencoded, ORDINARY, Thread::currentThread))
                .isNotSameAs(caller);

        assertThat(unencoded.encoded(event -> new byte[LargeBodies.LARGE])).hasSize(LargeBodies.LARGE);
        assertThat(LargeBodies.encode(unencoded, ORDINARY, Thread::currentThread))
                .isNotSameAs(caller);
    }

    @Test
    void largeRequestsOfAGroupDoNotHoldUpThoseOfAnother() {
        for (int i = 0; i < 200; i++) {
            Thread.ofVirtual().start(() -> {
                try {
                    LargeBodies.compute(request(LARGE), HOSTILE, () -> await(mayEnd));
                } catch (RuntimeException tooMany) {
                    refused.countDown();
                }
            });
        }
        assertThat(await(refused)).isTrue();

        assertThat(send(LARGE, HOSTILE)).isEqualTo(A2AError.UNAVAILABLE.httpStatus());
        assertThat(send("small", HOSTILE)).isEqualTo(200);
        assertThat(send(LARGE, ORDINARY)).isEqualTo(200);
    }
}
