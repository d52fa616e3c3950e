package dev.parley.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.parley.engine.spi.MemoryTaskLog;
import dev.parley.protocol.A2AError;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.AgentEndpoint;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.CallContext.Scope;
import dev.parley.protocol.Message;
import dev.parley.protocol.Operation.CancelTask;
import dev.parley.protocol.Operation.GetTask;
import dev.parley.protocol.Operation.ListTasks;
import dev.parley.protocol.Operation.SendConfiguration;
import dev.parley.protocol.Operation.SendMessage;
import dev.parley.protocol.Part;
import dev.parley.protocol.Role;
import dev.parley.protocol.Task;
import dev.parley.protocol.TaskState;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Tasks that their callers name themselves, as those of 0.1 do. */
@Timeout(20)
final class NamedTasksTest {
    private static final CallContext ALICE = of("alice").withDialect("0.1", true);
    private static final CallContext MALLORY = of("mallory").withDialect("0.1", true);

    private static CallContext of(String owner) {
        return CallContext.of(owner, new Scope("t1", owner));
    }

    private final AtomicInteger calls = new AtomicInteger();
    private final Engine engine = Engine.builder(new MemoryTaskLog()).build();
    private final AgentEndpoint agent =
            engine.host(Agent.named("agent", "Asks until it is enough").handle((request, reply) -> {
                calls.incrementAndGet();
                if (request.text().equals("enough")) {
                    reply.complete("thanks");
                } else {
                    reply.askForInput("what else?");
                }
            }));

    @AfterEach
    void close() {
        engine.close();
    }

    private Task send(CallContext caller, @Nullable String name, String text) {
        return send(caller, name, null, text);
    }

    private Task send(CallContext caller, @Nullable String name, @Nullable String contextId, String text) {
        Message message = Message.user(Part.text(text)).in(contextId, name);
        var send = new SendMessage(null, message, new SendConfiguration(List.of(), null, null, false), Map.of());
        return (Task) agent.call(send, caller);
    }

    @Test
    void aNameThatIsNewBeginsATaskAndAKnownOneContinuesIt() {
        Task begun = send(ALICE, "mine", "hello");

        Task continued = send(ALICE, "mine", "more");

        assertThat(continued.id()).isEqualTo(begun.id()).isNotEqualTo("mine");
        assertThat(continued.history()).extracting(Message::text).contains("hello", "more");
        assertThat(agent.call(GetTask.of("mine"), ALICE).id()).isEqualTo(begun.id());
    }

    @Test
    void theSameNameFromTwoCallersIsTwoTasks() {
        Task hers = send(ALICE, "mine", "hello");
        Task his = send(MALLORY, "mine", "hello");

        assertThat(his.id()).isNotEqualTo(hers.id());
        assertThat(agent.call(GetTask.of("mine"), ALICE).id()).isEqualTo(hers.id());
        assertThat(agent.call(GetTask.of("mine"), MALLORY).id()).isEqualTo(his.id());
    }

    @Test
    void nobodyFindsATaskByTheNameThatAnotherGaveIt() {
        send(ALICE, "secret", "hello");

        assertThatThrownBy(() -> agent.call(GetTask.of("secret"), MALLORY))
                .isInstanceOfSatisfying(
                        A2AException.class,
                        refused -> assertThat(refused.error()).isEqualTo(A2AError.TASK_NOT_FOUND));
        assertThatThrownBy(() -> agent.call(CancelTask.of("secret"), MALLORY)).isInstanceOf(A2AException.class);
        assertThat(agent.call(ListTasks.all(), MALLORY).totalSize()).isZero();
    }

    @Test
    void whoNamesATaskLikeTheIdOfAnothersGetsOneOfTheirOwn() {
        Task hers = send(ALICE, null, "hello");

        Task his = send(MALLORY, hers.id(), "hello");

        assertThat(his.id()).isNotEqualTo(hers.id());
        assertThat(agent.call(GetTask.of(hers.id()), MALLORY).id()).isEqualTo(his.id());
        assertThat(agent.call(GetTask.of(hers.id()), ALICE).history()).hasSize(1);
    }

    @Test
    void aNameLeadsToItsTaskInEveryDialect() {
        Task named = send(ALICE, "mine", "hello");
        CallContext later = of("alice");

        assertThat(agent.call(GetTask.of(named.id()), later).id()).isEqualTo(named.id());
        assertThat(agent.call(GetTask.of("mine"), later).id()).isEqualTo(named.id());
        assertThat(send(later, "mine", "more").history())
                .extracting(Message::text)
                .contains("hello", "more");
        assertThat(agent.call(CancelTask.of("mine"), later).state()).isEqualTo(TaskState.CANCELED);
        assertThatThrownBy(() -> agent.call(GetTask.of("mine"), of("mallory"))).isInstanceOf(A2AException.class);
    }

    @Test
    void anIdOfTheServerLeadsToTheNewestTaskInEveryDialect() {
        Task first = send(ALICE, null, "enough");
        Task second = send(ALICE, first.id(), "hello again");
        CallContext later = of("alice");

        for (CallContext caller : List.of(ALICE, later, later.withTasksOnly())) {
            assertThat(agent.call(GetTask.of(first.id()), caller).id()).isEqualTo(second.id());
        }
        assertThat(agent.call(GetTask.of(first.id()), later.withLiteralIds()).id())
                .isEqualTo(first.id());
        assertThat(send(later, first.id(), "more").id()).isEqualTo(second.id());
        assertThat(agent.call(CancelTask.of(first.id()), later).id()).isEqualTo(second.id());
        assertThat(agent.call(ListTasks.all(), later).totalSize()).isEqualTo(2);
        assertThatThrownBy(() -> agent.call(GetTask.of(first.id()), of("mallory")))
                .isInstanceOf(A2AException.class);
    }

    @Test
    void aMessageOfAnotherDialectToANameMayBeRepeated() {
        Task first = send(ALICE, null, "enough");
        Task second = send(ALICE, first.id(), "hello again");
        SendMessage more = SendMessage.of(Message.user(Part.text("more")).in(null, first.id()));

        for (int i = 0; i < 2; i++) {
            assertThat(((Task) agent.call(more, of("alice"))).id()).isEqualTo(second.id());
        }
        assertThat(agent.call(GetTask.of(second.id()), ALICE).history())
                .extracting(Message::text)
                .containsOnlyOnce("more");
    }

    @Test
    void messagesAtOnceToATaskThatHasEndedMakeOneTask() throws Exception {
        for (int round = 0; round < 20; round++) {
            Task ended = send(ALICE, null, "enough");
            var ids = new HashSet<String>();
            try (var threads = Executors.newVirtualThreadPerTaskExecutor()) {
                var sends = new ArrayList<Callable<Task>>();
                for (int i = 0; i < 8; i++) {
                    String text = "number " + i;
                    sends.add(() -> send(ALICE, ended.id(), text));
                }
                for (Future<Task> sent : threads.invokeAll(sends)) {
                    ids.add(sent.get().id());
                }
            }

            assertThat(ids).hasSize(1).doesNotContain(ended.id());
            assertThat(agent.call(GetTask.of(ended.id()), ALICE).id()).isIn(ids);
        }
    }

    @Test
    void whoNamesTasksMayAlsoUseTheirIds() {
        Task unnamed = send(of("alice"), null, "hello");

        assertThat(agent.call(GetTask.of(unnamed.id()), ALICE).id()).isEqualTo(unnamed.id());
        assertThat(send(ALICE, unnamed.id(), "more").id()).isEqualTo(unnamed.id());
    }

    @Test
    void aMessageToATaskThatHasEndedBeginsAnotherThatRefersToIt() {
        Task first = send(ALICE, "mine", "ours", "enough");

        Task second = send(ALICE, "mine", "hello again");

        assertThat(first.state()).isEqualTo(TaskState.COMPLETED);
        assertThat(second.id()).isNotEqualTo(first.id());
        assertThat(second.contextId()).isEqualTo("ours");
        assertThat(second.history().getFirst().referenceTaskIds()).containsExactly(first.id());
        assertThat(agent.call(GetTask.of("mine"), ALICE).id()).isEqualTo(second.id());
        assertThat(agent.call(GetTask.of(first.id()), ALICE).state()).isEqualTo(TaskState.COMPLETED);
    }

    @Test
    void firstMessagesOfOneNameAtOnceMakeOneTask() throws Exception {
        var ids = new HashSet<String>();
        try (var threads = Executors.newVirtualThreadPerTaskExecutor()) {
            var sends = new ArrayList<Callable<Task>>();
            for (int i = 0; i < 50; i++) {
                String text = "number " + i;
                sends.add(() -> send(ALICE, "crowd", text));
            }
            for (Future<Task> sent : threads.invokeAll(sends)) {
                ids.add(sent.get().id());
            }
        }

        assertThat(ids).hasSize(1);
        assertThat(agent.call(ListTasks.all(), ALICE).totalSize()).isEqualTo(1);
        assertThat(calls).hasValue(50);
    }

    @Test
    void aRefusedFirstMessageLeavesItsNameFree() {
        Message wrong = new Message(
                "m-1",
                Role.USER,
                List.of(new Part.Raw(new byte[] {1}, null, "image/png", Map.of())),
                null,
                "mine",
                Map.of(),
                List.of(),
                List.of());
        assertThatThrownBy(() -> agent.call(SendMessage.of(wrong), ALICE)).isInstanceOf(A2AException.class);

        assertThat(send(ALICE, "mine", "hello").state()).isEqualTo(TaskState.INPUT_REQUIRED);
    }

    @Test
    void anAgentThatMakesNothingThatTheCallerReadsRefuses() {
        var configuration = new SendConfiguration(List.of("image/png"), null, null, false);
        var send = new SendMessage(null, Message.user(Part.text("hello")), configuration, Map.of());

        assertThatThrownBy(() -> agent.call(send, ALICE))
                .isInstanceOfSatisfying(
                        A2AException.class,
                        refused -> assertThat(refused.error()).isEqualTo(A2AError.CONTENT_TYPE_NOT_SUPPORTED));
        assertThat(agent.call(send, of("alice"))).isInstanceOf(Task.class);
    }
}
