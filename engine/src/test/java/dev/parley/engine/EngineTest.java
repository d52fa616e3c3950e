package dev.parley.engine;

import static dev.parley.engine.Calls.ALICE;
import static dev.parley.engine.Calls.await;
import static dev.parley.engine.Calls.awaitUntil;
import static dev.parley.engine.Calls.drain;
import static dev.parley.engine.Calls.sendImmediately;
import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.tuple;
import static org.assertj.core.api.InstanceOfAssertFactories.type;

import dev.parley.engine.spi.MemoryTaskLog;
import dev.parley.protocol.A2AError;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.AgentEndpoint;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.Feed;
import dev.parley.protocol.LoggedEvent;
import dev.parley.protocol.Message;
import dev.parley.protocol.Operation.CancelTask;
import dev.parley.protocol.Operation.GetTask;
import dev.parley.protocol.Operation.ListTasks;
import dev.parley.protocol.Operation.SendConfiguration;
import dev.parley.protocol.Operation.SendMessage;
import dev.parley.protocol.Operation.SendStreamingMessage;
import dev.parley.protocol.Operation.SubscribeToTask;
import dev.parley.protocol.Operation.TaskPage;
import dev.parley.protocol.Part;
import dev.parley.protocol.Task;
import dev.parley.protocol.TaskArtifactUpdateEvent;
import dev.parley.protocol.TaskEvent;
import dev.parley.protocol.TaskEvent.TaskEndedException;
import dev.parley.protocol.TaskState;
import dev.parley.protocol.TaskStatusUpdateEvent;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(20)
final class EngineTest {
    private static final CallContext MALLORY = CallContext.of("mallory", new CallContext.Scope("t2", "mallory"));

    private final MemoryTaskLog log = new MemoryTaskLog();
    private final Engine engine =
            Engine.builder(log).grace(Duration.ofMillis(200)).build();
    private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();

    @AfterEach
    void close() {
        engine.close();
        threads.shutdownNow();
    }

    @Test
    void aSweepOfEndedTasksThatTakesLongDelaysNoTimer() throws Exception {
        var begun = new CountDownLatch(1);
        var over = new CountDownLatch(1);
        SteppedLog swept = SteppedLog.flowing(log);
        swept.onNextSweep(() -> {
            begun.countDown();
            awaitUninterruptibly(over);
        });
        try (Engine sweeping =
                Engine.builder(swept).retention(Duration.ofDays(1)).build()) {
            AgentEndpoint silent = sweeping.host(
                    Agent.named("silent", "Says nothing yet").handle((request, reply) -> awaitUninterruptibly(over)));
            AgentEndpoint limited = sweeping.host(Agent.named("limited", "Takes too long")
                    .timeLimit(Duration.ofMillis(100))
                    .handle((request, reply) -> new CountDownLatch(1).await()));
            begun.await();

            Task shown = sendImmediately(silent, "after the grace of 50 ms");
            Task stopped = send(limited, "until the time limit");

            assertThat(shown.state()).isEqualTo(TaskState.WORKING);
            assertThat(stopped.state()).isEqualTo(TaskState.FAILED);
            over.countDown();
        }
    }

    private static void awaitUninterruptibly(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException stopped) {
            Thread.currentThread().interrupt();
        }
    }

    @Test
    void anAgentThatCompletesIsAnsweredWithItsFinishedTask() {
        AgentEndpoint echo = host((request, reply) -> reply.complete(request.text()));

        Task task = send(echo, "hello");

        assertThat(task.state()).isEqualTo(TaskState.COMPLETED);
        assertThat(task.text()).isEqualTo("hello");
        assertThat(task.history()).extracting(Message::text).containsExactly("hello");
        assertThat(echo.call(GetTask.of(task.id()), ALICE)).isEqualTo(task);
    }

    @Test
    void aPlainMessageLeavesNoTask() {
        AgentEndpoint ping = host((request, reply) -> reply.message("pong"));

        var answer = ping.call(SendMessage.of(Message.user(Part.text("ping"))), ALICE);

        assertThat(answer)
                .asInstanceOf(type(Message.class))
                .extracting(Message::text)
                .isEqualTo("pong");
        assertThat(ping.call(ListTasks.all(), ALICE).totalSize()).isZero();
    }

    @Test
    void aMessageAfterTheTaskExistsCompletesItInstead() {
        AgentEndpoint agent = host((request, reply) -> {
            reply.working("thinking");
            reply.message("done");
        });

        Task task = send(agent, "go");

        assertThat(task.state()).isEqualTo(TaskState.COMPLETED);
        assertThat(requireNonNull(task.status().message()).text()).isEqualTo("done");
    }

    @Test
    void anAgentThatThrowsFailsItsTaskWithoutSayingWhy() {
        AgentEndpoint agent = host((request, reply) -> {
            throw new IllegalStateException("secret detail");
        });

        Task task = send(agent, "go");

        assertThat(task.state()).isEqualTo(TaskState.FAILED);
        assertThat(requireNonNull(task.status().message()).text())
                .startsWith("The agent failed (reference ")
                .doesNotContain("secret");
    }

    @Test
    void anAgentThatReturnsWithoutAnAnswerFailsItsTask() {
        AgentEndpoint agent = host((request, reply) -> reply.working("soon"));

        Task task = send(agent, "go");

        assertThat(task.state()).isEqualTo(TaskState.FAILED);
    }

    @Test
    void anAgentThatReturnsAfterAnArtifactCompletesItsTask() {
        AgentEndpoint agent = host((request, reply) -> reply.artifact("a", "text"));

        assertThat(send(agent, "go").state()).isEqualTo(TaskState.COMPLETED);
    }

    @Test
    void anEndedTaskRefusesLateEvents() {
        var refused = new CompletableFuture<Throwable>();
        AgentEndpoint agent = host((request, reply) -> {
            reply.complete("done");
            try {
                reply.working("more");
            } catch (TaskEndedException expected) {
                refused.complete(expected);
            }
        });

        Task task = send(agent, "go");

        assertThat(refused.join()).isInstanceOf(TaskEndedException.class);
        assertThat(events(task.id())).hasSize(3);
    }

    @Test
    void aTaskThatAsksForInputGoesOnWithTheNextMessage() {
        AgentEndpoint agent = host((request, reply) -> {
            if (request.isFollowUp()) {
                reply.complete(request.history().getFirst().text() + " and " + request.text());
            } else {
                reply.askForInput("what else?");
            }
        });

        Task asked = send(agent, "bread");
        Message answer = Message.user(Part.text("butter")).in(null, asked.id());
        Task done = (Task) agent.call(SendMessage.of(answer), ALICE);

        assertThat(asked.state()).isEqualTo(TaskState.INPUT_REQUIRED);
        assertThat(done.state()).isEqualTo(TaskState.COMPLETED);
        assertThat(done.text()).isEqualTo("bread and butter");
        assertThat(done.history()).extracting(Message::text).containsExactly("bread", "what else?", "butter");
    }

    @Test
    @DisplayName("D2: each progress text that streams have shown is in the history, the last one once")
    void progressTextsAreInTheHistory() {
        AgentEndpoint agent = host((request, reply) -> {
            reply.working("one");
            reply.progress(50, "two");
            if (request.text().equals("fail")) {
                reply.fail("no luck");
            } else {
                reply.complete("done");
            }
        });

        assertThat(send(agent, "bread").history()).extracting(Message::text).containsExactly("bread", "one", "two");
        Task failed = send(agent, "fail");
        assertThat(failed.history()).extracting(Message::text).containsExactly("fail", "one", "two");
        assertThat(requireNonNull(failed.status().message()).text()).isEqualTo("no luck");
    }

    @Test
    @DisplayName(
            "D2: of many progress texts the newest 100 between two messages of the caller are kept, and the messages")
    void progressTextsAreBounded() {
        AgentEndpoint agent = host((request, reply) -> {
            for (int i = 0; i < 150; i++) {
                reply.working(request.text() + i);
            }
            if (request.isFollowUp()) {
                reply.complete();
            } else {
                reply.askForInput("what else?");
            }
        });
        Task asked = send(agent, "a");

        Task done =
                (Task) agent.call(SendMessage.of(Message.user(Part.text("b")).in(null, asked.id())), ALICE);

        List<String> texts = done.history().stream().map(Message::text).toList();
        assertThat(texts).hasSize(202).startsWith("a", "a51", "a52").endsWith("b148", "b149");
        assertThat(texts.subList(99, 103)).containsExactly("a149", "what else?", "b", "b50");
    }

    @Test
    @DisplayName("D2: a state that is told again with the same message adds nothing to the history")
    void aMessageToldAgainIsInTheHistoryOnce() {
        Message note = Message.agent(Part.text("working on it"));
        AgentEndpoint agent = host((request, reply) -> {
            reply.move(TaskState.SUBMITTED, note, Map.of());
            reply.move(TaskState.WORKING, note, Map.of());
            reply.complete();
        });

        assertThat(send(agent, "bread").history()).extracting(Message::text).containsExactly("bread", "working on it");
    }

    @Test
    @DisplayName("K11: the stream of a follow-up begins with a task whose history begins with the follow-up")
    void theStreamOfAFollowUpDoesNotShowTheQuestionAgain() throws Exception {
        AgentEndpoint agent = host((request, reply) -> reply.askForInput("what else?"));
        Task asked = send(agent, "bread");
        for (Integer length : new Integer[] {null, 2}) {
            var send = new SendStreamingMessage(
                    null,
                    Message.user(Part.text("butter")).in(null, asked.id()),
                    new SendConfiguration(List.of(), null, length, false),
                    Map.of());

            List<LoggedEvent> events;
            try (Feed<LoggedEvent> stream = agent.watch(send, ALICE)) {
                events = drain(stream);
            }

            Task first = (Task) events.getFirst().event();
            if (length == null) {
                assertThat(first.history()).extracting(Message::text).startsWith("butter");
            } else {
                assertThat(first.history()).hasSizeLessThanOrEqualTo(length);
            }
        }
        assertThat(agent.call(GetTask.of(asked.id()), ALICE).history())
                .extracting(Message::text)
                .startsWith("bread", "what else?", "butter", "what else?");
    }

    @Test
    @DisplayName(
            "K11: the stream of a follow-up has all that its agent says, also if the log writes it together with the follow-up")
    void theStreamOfAFollowUpLacksNothingThatItsAgentSaysAtOnce() throws Exception {
        for (Integer length : new Integer[] {null, 2}) {
            for (boolean isRunning : new boolean[] {false, true}) {
                assertThat(statesOfAFollowUp(length, isRunning))
                        .as("history of %s messages, agent runs: %s", length, isRunning)
                        .startsWith(TaskState.WORKING)
                        .endsWith(TaskState.WORKING, TaskState.COMPLETED);
            }
        }
    }

    /** The states in the stream of a follow-up whose agent has ended before the log writes the follow-up. */
    private List<TaskState> statesOfAFollowUp(@Nullable Integer historyLength, boolean isRunning) throws Exception {
        SteppedLog stepped = SteppedLog.flowing(new MemoryTaskLog());
        var asks = new CountDownLatch(1);
        var hasSaidAll = new CountDownLatch(1);
        try (Engine late = Engine.builder(stepped).build()) {
            AgentEndpoint agent = late.host(Agent.named("agent", "For a test").handle((request, reply) -> {
                if (request.isFollowUp()) {
                    reply.working("looking for " + request.text());
                    reply.complete(request.text());
                    hasSaidAll.countDown();
                } else {
                    reply.working("looking for bread");
                    asks.await();
                    reply.askForInput("what else?");
                }
            }));
            Task task = sendImmediately(agent, "bread");
            if (!isRunning) {
                asks.countDown();
                awaitUntil(
                        "the question",
                        () -> agent.call(GetTask.of(task.id()), ALICE).state() == TaskState.INPUT_REQUIRED);
            }
            stepped.step();
            var send = new SendStreamingMessage(
                    null,
                    Message.user(Part.text("butter")).in(null, task.id()),
                    new SendConfiguration(List.of(), null, historyLength, false),
                    Map.of());
            Future<List<LoggedEvent>> events = threads.submit(() -> {
                try (Feed<LoggedEvent> stream = agent.watch(send, ALICE)) {
                    return drain(stream);
                }
            });
            stepped.awaitWaiting(1);
            asks.countDown();
            hasSaidAll.await();
            awaitUntil("the end of the events", () -> {
                stepped.commit();
                return events.isDone();
            });
            return events.get().stream()
                    .map(LoggedEvent::event)
                    .flatMap(event -> event instanceof Task shown
                            ? Stream.of(shown.state())
                            : event instanceof TaskStatusUpdateEvent update
                                    ? Stream.of(update.status().state())
                                    : Stream.empty())
                    .toList();
        }
    }

    @Test
    @DisplayName("N3: an artifact in pieces ends with a text, with nothing, or by closing it")
    void anArtifactInPiecesEnds() {
        AgentEndpoint agent = host((request, reply) -> {
            Reply.ArtifactWriter out = reply.stream("story");
            out.append("once upon ");
            out.append();
            switch (request.text()) {
                case "text" -> out.last("a time");
                case "nothing" -> out.last();
                case "no parts" -> out.last(new Part[0]);
                default -> out.close();
            }
            out.close();
            try {
                out.append("too late");
            } catch (IllegalStateException closed) {
                reply.complete();
            }
        });

        for (String text : List.of("text", "nothing", "no parts", "close")) {
            Task task = send(agent, text);
            assertThat(task.state()).as(text).isEqualTo(TaskState.COMPLETED);
            assertThat(task.artifacts().getFirst().parts().stream()
                            .map(part -> ((Part.Text) part).text())
                            .toList())
                    .isEqualTo(text.equals("text") ? List.of("once upon ", "a time") : List.of("once upon "));
        }
    }

    @Test
    @DisplayName("N3: a task that is completed with no parts has no artifact")
    void aTaskMayBeCompletedWithNoParts() {
        Task task = send(host((request, reply) -> reply.complete(new Part[0])), "bread");

        assertThat(task.state()).isEqualTo(TaskState.COMPLETED);
        assertThat(task.artifacts()).isEmpty();
    }

    @Test
    void theStreamOfASendEndsWhenTheTaskAsks() throws Exception {
        AgentEndpoint agent = host((request, reply) -> {
            if (request.text().equals("log in")) {
                reply.askForCredentials("who are you?");
            } else {
                reply.askForInput("what else?");
            }
        });
        for (String text : List.of("bread", "log in")) {
            try (Feed<LoggedEvent> stream =
                    agent.watch(SendStreamingMessage.of(Message.user(Part.text(text))), ALICE)) {
                List<LoggedEvent> events = drain(stream);

                assertThat(((TaskStatusUpdateEvent) events.getLast().event())
                                .status()
                                .state())
                        .matches(TaskState::isInterrupted);
                assertThat(stream.next(Duration.ZERO)).isNull();
            }
        }
    }

    @Test
    void theStreamOfAMessageThatWaitsIsNotEndedByTheQuestionBeforeIt() throws Exception {
        var busy = new CountDownLatch(1);
        var waits = new CountDownLatch(1);
        AgentEndpoint agent = host((request, reply) -> {
            if (request.isFollowUp()) {
                reply.complete("thanks for " + request.text());
            } else {
                reply.working("thinking");
                busy.countDown();
                waits.await();
                reply.askForInput("what else?");
            }
        });
        Task task;
        try (Feed<LoggedEvent> first = agent.watch(SendStreamingMessage.of(Message.user(Part.text("bread"))), ALICE)) {
            task = (Task) requireNonNull(first.next(Duration.ofSeconds(10)))
                    .getFirst()
                    .event();
        }
        busy.await();
        Message second = Message.user(Part.text("butter")).in(null, task.id());

        try (Feed<LoggedEvent> stream = agent.watch(SendStreamingMessage.of(second), ALICE)) {
            waits.countDown();

            assertThat(((TaskStatusUpdateEvent) drain(stream).getLast().event())
                            .status()
                            .state())
                    .isEqualTo(TaskState.COMPLETED);
        }
    }

    @Test
    void aStreamShowsEveryEventInOrder() throws Exception {
        AgentEndpoint agent = host((request, reply) -> {
            reply.progress(50, "half");
            reply.complete("all");
        });

        try (Feed<LoggedEvent> stream = agent.watch(SendStreamingMessage.of(Message.user(Part.text("go"))), ALICE)) {
            List<LoggedEvent> events = drain(stream);

            assertThat(events).extracting(LoggedEvent::sequence).containsExactly(1L, 2L, 3L, 4L);
            assertThat(events.get(0).event()).isInstanceOf(Task.class);
            assertThat(events.get(1).event())
                    .asInstanceOf(type(TaskStatusUpdateEvent.class))
                    .satisfies(update -> assertThat(update.metadata()).containsEntry("progress", 50));
            assertThat(events.get(2).event()).isInstanceOf(TaskArtifactUpdateEvent.class);
            assertThat(((TaskStatusUpdateEvent) events.get(3).event()).status().state())
                    .isEqualTo(TaskState.COMPLETED);
        }
    }

    @Test
    void aStreamOfAMessageIsThatMessageAlone() throws Exception {
        AgentEndpoint agent = host((request, reply) -> reply.message("pong"));

        try (Feed<LoggedEvent> stream = agent.watch(SendStreamingMessage.of(Message.user(Part.text("ping"))), ALICE)) {
            List<LoggedEvent> events = drain(stream);

            assertThat(events).hasSize(1);
            assertThat(events.getFirst().sequence()).isZero();
            assertThat(events.getFirst().event()).isInstanceOf(Message.class);
        }
    }

    @Test
    void aSubscriptionJoinsSnapshotAndTailWithoutGapOrDuplicate() throws Exception {
        var go = new CountDownLatch(1);
        AgentEndpoint agent = host((request, reply) -> {
            try (Reply.ArtifactWriter chunks = reply.stream("numbers")) {
                for (int i = 0; i < 500; i++) {
                    chunks.append(i + " ");
                }
                go.await();
                for (int i = 500; i < 1_000; i++) {
                    chunks.append(i + " ");
                }
            }
            reply.complete();
        });
        Task begun = sendImmediately(agent, "go");

        try (Feed<LoggedEvent> stream = agent.watch(SubscribeToTask.of(begun.id()), ALICE)) {
            go.countDown();
            List<LoggedEvent> seen = drain(stream);

            Task folded = null;
            for (LoggedEvent event : seen) {
                folded = event.event().applyTo(folded);
            }
            assertThat(requireNonNull(folded)).isEqualTo(agent.call(GetTask.of(begun.id()), ALICE));
            assertThat(folded.artifacts().getFirst().parts()).hasSize(1_000);
        }
    }

    @Test
    void aReaderThatResumesSeesWhatIsBehindItsLastEventAlsoAfterTheEnd() throws Exception {
        AgentEndpoint agent = host((request, reply) -> reply.complete("all"));
        Task task = send(agent, "go");

        try (Feed<LoggedEvent> stream = agent.watch(new SubscribeToTask(null, task.id(), 1L), ALICE)) {
            assertThat(drain(stream)).extracting(LoggedEvent::sequence).containsExactly(2L, 3L);
        }
    }

    @Test
    void subscribingToAnEndedTaskIsUnsupported() {
        AgentEndpoint agent = host((request, reply) -> reply.complete("all"));
        Task task = send(agent, "go");

        assertRefused(() -> agent.watch(SubscribeToTask.of(task.id()), ALICE), A2AError.UNSUPPORTED_OPERATION);
    }

    @Test
    void cancelEndsARunningTaskAndInterruptsItsAgent() throws Exception {
        var busy = new CountDownLatch(1);
        var interrupted = new CountDownLatch(1);
        AgentEndpoint agent = host((request, reply) -> {
            reply.working("busy");
            busy.countDown();
            try {
                new CountDownLatch(1).await();
            } catch (InterruptedException expected) {
                if (request.isCanceled()) {
                    interrupted.countDown();
                }
                throw expected;
            }
        });
        Task task = sendImmediately(agent, "go");
        busy.await();

        Task canceled = agent.call(CancelTask.of(task.id()), ALICE);

        assertThat(canceled.state()).isEqualTo(TaskState.CANCELED);
        interrupted.await();
        assertRefused(() -> agent.call(CancelTask.of(task.id()), ALICE), A2AError.TASK_NOT_CANCELABLE);
    }

    @Test
    void cancelEndsATaskThatWaitsForInput() {
        AgentEndpoint agent = host((request, reply) -> reply.askForInput("?"));
        Task task = send(agent, "go");

        assertThat(agent.call(CancelTask.of(task.id()), ALICE).state()).isEqualTo(TaskState.CANCELED);
    }

    @Test
    void whatACallerMayNotSeeDoesNotExistForIt() {
        AgentEndpoint agent = host((request, reply) -> reply.askForInput("?"));
        Task task = send(agent, "go");

        assertRefused(() -> agent.call(GetTask.of(task.id()), MALLORY), A2AError.TASK_NOT_FOUND);
        assertRefused(() -> agent.call(CancelTask.of(task.id()), MALLORY), A2AError.TASK_NOT_FOUND);
        assertRefused(() -> agent.watch(SubscribeToTask.of(task.id()), MALLORY), A2AError.TASK_NOT_FOUND);
        assertThat(agent.call(ListTasks.all(), MALLORY).totalSize()).isZero();
    }

    @Test
    void theSameMessageSentAHundredTimesAtOnceIsWorkedOnOnce() throws Exception {
        var runs = new AtomicInteger();
        AgentEndpoint agent = host((request, reply) -> {
            runs.incrementAndGet();
            reply.complete("done");
        });
        Message message = Message.user(Part.text("once"));

        List<Future<String>> ids = IntStream.range(0, 100)
                .mapToObj(i -> threads.submit(() -> ((Task) agent.call(SendMessage.of(message), ALICE)).id()))
                .toList();

        String first = ids.getFirst().get();
        for (Future<String> id : ids) {
            assertThat(id.get()).isEqualTo(first);
        }
        assertThat(runs).hasValue(1);
    }

    @Test
    void anotherMessageUnderAnIdThatWasUsedIsRefusedAndNotAnsweredWithTheFirstTask() {
        AgentEndpoint agent = host((request, reply) -> reply.askForInput("and?"));
        Message first = Message.user(Part.text("bread"), new Part.Data(Map.of("slices", 2), null, null, Map.of()));
        Task task = (Task) agent.call(SendMessage.of(first), ALICE);
        Message same = Message.user(Part.text("bread"), new Part.Data(Map.of("slices", 2.0), null, null, Map.of()))
                .withId(first.messageId());
        Message another = Message.user(Part.text("butter")).withId(first.messageId());

        assertThat(((Task) agent.call(SendMessage.of(same), ALICE)).id()).isEqualTo(task.id());
        assertThat(((Task) agent.call(SendMessage.of(same.in(null, task.id())), ALICE)).id())
                .isEqualTo(task.id());
        assertRefused(() -> agent.call(SendMessage.of(another), ALICE), A2AError.INVALID_PARAMS);
        assertRefused(() -> agent.call(SendMessage.of(same.in("elsewhere", null)), ALICE), A2AError.INVALID_PARAMS);
        assertRefused(() -> agent.call(SendMessage.of(same.in(null, "another")), ALICE), A2AError.INVALID_PARAMS);
    }

    @Test
    void anotherMessageUnderTheIdOfOneInProgressIsRefused() throws Exception {
        var begun = new CountDownLatch(1);
        var go = new CountDownLatch(1);
        AgentEndpoint agent = host((request, reply) -> {
            begun.countDown();
            go.await();
            reply.message("pong");
        });
        Message first = Message.user(Part.text("ping"));
        Future<?> sent = threads.submit(() -> agent.call(SendMessage.of(first), ALICE));
        begun.await();

        assertRefused(
                () -> agent.call(SendMessage.of(Message.user(Part.text("other")).withId(first.messageId())), ALICE),
                A2AError.INVALID_PARAMS);

        go.countDown();
        sent.get();
    }

    @Test
    void theSameMessageIdOfAnotherCallerIsAnotherMessage() {
        AgentEndpoint agent = host((request, reply) -> reply.complete("done"));
        Message message = Message.user(Part.text("mine"));

        Task hers = (Task) agent.call(SendMessage.of(message), ALICE);
        Task his = (Task) agent.call(SendMessage.of(message), MALLORY);

        assertThat(hers.id()).isNotEqualTo(his.id());
    }

    @Test
    void pagesOfAListFollowEachOtherAndTheirTokenIsBoundToTheCaller() {
        AgentEndpoint agent = host((request, reply) -> reply.complete(request.text()));
        for (int i = 0; i < 25; i++) {
            send(agent, "n" + i);
        }

        var seen = new ArrayList<String>();
        String token = null;
        do {
            TaskPage page = agent.call(new ListTasks(null, null, null, 10, token, null, null, false), ALICE);
            assertThat(page.totalSize()).isEqualTo(25);
            page.tasks().forEach(task -> seen.add(task.id()));
            if (token == null) {
                String stolen = page.nextPageToken();
                assertRefused(
                        () -> agent.call(new ListTasks(null, null, null, 10, stolen, null, null, false), MALLORY),
                        A2AError.INVALID_PARAMS);
            }
            token = page.nextPageToken();
        } while (!token.isEmpty());

        assertThat(seen).doesNotHaveDuplicates().hasSize(25);
    }

    @Test
    void aPageOfAListIsBoundedInBytesWhateverItsSize() {
        AgentEndpoint agent = host((request, reply) -> reply.complete("x".repeat(1 << 20)));
        for (int i = 0; i < 30; i++) {
            send(agent, "n" + i);
        }

        var seen = new ArrayList<String>();
        String token = null;
        do {
            TaskPage page = agent.call(new ListTasks(null, null, null, 100, token, null, null, true), ALICE);
            assertThat(page.tasks()).hasSizeBetween(1, 9);
            page.tasks().forEach(task -> seen.add(task.id()));
            token = page.nextPageToken();
        } while (!token.isEmpty());

        assertThat(seen).doesNotHaveDuplicates().hasSize(30);
    }

    @Test
    void aListShowsATaskThatCannotBeReadByWhatItsRowSays() {
        AgentEndpoint agent = host((request, reply) -> reply.complete("done"));
        Task whole = send(agent, "one");
        Task damaged = send(agent, "two");
        SteppedLog after = SteppedLog.flowing(log);
        after.damage(damaged.id());

        try (Engine second = Engine.builder(after).build()) {
            AgentEndpoint again = second.host(Agent.named("agent", "For a test").handle((request, reply) -> {}));

            assertThat(again.call(ListTasks.all(), ALICE).tasks())
                    .extracting(Task::id, Task::state)
                    .containsExactlyInAnyOrder(
                            tuple(whole.id(), TaskState.COMPLETED), tuple(damaged.id(), TaskState.COMPLETED));
        }
    }

    @Test
    void tasksBeyondTheConcurrencyWaitAndBeyondTheQueueAreRefused() {
        var go = new CountDownLatch(1);
        AgentEndpoint agent = engine.host(Agent.named("busy", "One at a time")
                .concurrency(1)
                .queueLimit(1)
                .handle((request, reply) -> {
                    go.await();
                    reply.complete("done");
                }));

        Task running = sendImmediately(agent, "first");
        Task waiting = sendImmediately(agent, "second");

        assertThat(running.state()).isEqualTo(TaskState.WORKING);
        assertThat(waiting.state()).isEqualTo(TaskState.SUBMITTED);
        assertRefused(() -> sendImmediately(agent, "third"), A2AError.UNAVAILABLE);
        go.countDown();
        assertThat(await(agent, waiting.id()).state()).isEqualTo(TaskState.COMPLETED);
    }

    @Test
    void aTaskThatWaitsForItsCallerIsLeftAsItWasIfTheQueueIsFull() throws InterruptedException {
        var running = new CountDownLatch(1);
        var go = new CountDownLatch(1);
        AgentEndpoint agent = engine.host(Agent.named("busy", "One at a time")
                .concurrency(1)
                .queueLimit(1)
                .handle((request, reply) -> {
                    if (request.text().equals("wait")) {
                        running.countDown();
                        go.await();
                        reply.complete("done");
                    } else if (request.isFollowUp()) {
                        reply.complete(request.credential().orElse("no credential") + " " + request.text());
                    } else if (request.text().equals("in")) {
                        reply.askForInput("and?");
                    } else {
                        reply.askForCredentials("who?");
                    }
                }));
        Task question = send(agent, "in");
        Task stranger = send(agent, "auth");
        sendImmediately(agent, "wait");
        running.await();
        Task waiting = sendImmediately(agent, "wait");
        Message answer = Message.user(Part.text("answer")).in(null, question.id());

        assertRefused(() -> agent.call(SendMessage.of(answer), ALICE), A2AError.UNAVAILABLE);
        assertRefused(() -> engine.authorize("busy", stranger.id(), "key", ALICE), A2AError.UNAVAILABLE);

        assertThat(agent.call(GetTask.of(question.id()), ALICE)).isEqualTo(question);
        assertThat(agent.call(GetTask.of(stranger.id()), ALICE)).isEqualTo(stranger);
        go.countDown();
        await(agent, waiting.id());
        assertThat(agent.call(SendMessage.of(answer), ALICE))
                .asInstanceOf(type(Task.class))
                .extracting(Task::text)
                .isEqualTo("no credential answer");
        engine.authorize("busy", stranger.id(), "key", ALICE);
        assertThat(await(agent, stranger.id()).text()).isEqualTo("key auth");
    }

    @Test
    void anAgentThatTakesTooLongIsInterruptedAndItsTaskFails() {
        AgentEndpoint agent = engine.host(Agent.named("slow", "Never ends")
                .timeLimit(Duration.ofMillis(100))
                .handle((request, reply) -> new CountDownLatch(1).await()));

        Task task = send(agent, "go");

        assertThat(task.state()).isEqualTo(TaskState.FAILED);
        assertThat(requireNonNull(task.status().message()).text()).contains("took longer than");
    }

    @Test
    void aMessageToARunningTaskIsReadWhenItsAgentIsDone() throws Exception {
        var go = new CountDownLatch(1);
        AgentEndpoint agent = host((request, reply) -> {
            if (request.isFollowUp()) {
                reply.complete("second turn: " + request.text());
            } else {
                reply.working("busy");
                go.await();
                reply.askForInput("and?");
            }
        });
        Task begun = sendImmediately(agent, "first");

        Future<Task> second = threads.submit(() -> (Task)
                agent.call(SendMessage.of(Message.user(Part.text("second")).in(null, begun.id())), ALICE));
        awaitUntil(
                "the second message",
                () -> agent.call(GetTask.of(begun.id()), ALICE).history().size() >= 2);
        go.countDown();

        assertThat(second.get().state()).isEqualTo(TaskState.COMPLETED);
        assertThat(second.get().text()).isEqualTo("second turn: second");
    }

    @Test
    void aMessageToAnEndedTaskIsRefused() {
        AgentEndpoint agent = host((request, reply) -> reply.complete("done"));
        Task task = send(agent, "go");

        assertRefused(
                () -> agent.call(SendMessage.of(Message.user(Part.text("more")).in(null, task.id())), ALICE),
                A2AError.UNSUPPORTED_OPERATION);
        assertRefused(
                () -> agent.call(SendMessage.of(Message.user(Part.text("more")).in(null, "no-such-task")), ALICE),
                A2AError.TASK_NOT_FOUND);
        assertRefused(
                () -> agent.call(SendMessage.of(Message.user(Part.text("more")).in("other", task.id())), ALICE),
                A2AError.INVALID_PARAMS);
    }

    @Test
    void tasksThatACrashInterruptedAreResumedOrFail() {
        var stuck = new CountDownLatch(1);
        AgentHandler hangs = (request, reply) -> {
            reply.working("busy");
            stuck.await();
        };
        Agent resumable = Agent.named("resumable", "Goes on").resumable(true).handle(hangs);
        Agent other = Agent.named("other", "Does not").handle(hangs);
        Engine crashed = Engine.builder(log).grace(Duration.ZERO).build();
        Task first = sendImmediately(crashed.host(resumable), "one");
        Task second = sendImmediately(crashed.host(other), "two");

        try (Engine restarted = Engine.builder(log).grace(Duration.ZERO).build()) {
            AgentEndpoint goesOn = restarted.host(Agent.named("resumable", "Goes on")
                    .resumable(true)
                    .handle((request, reply) -> reply.complete(request.text() + ", attempt " + request.attempt())));
            AgentEndpoint fails = restarted.host(other);

            assertThat(await(goesOn, first.id()).text()).isEqualTo("one, attempt 2");
            assertThat(await(fails, second.id()).state()).isEqualTo(TaskState.FAILED);
        }
        crashed.close();
    }

    private AgentEndpoint host(AgentHandler handler) {
        return engine.host(Agent.named("agent", "For a test").handle(handler));
    }

    private static Task send(AgentEndpoint agent, String text) {
        return (Task) agent.call(SendMessage.of(Message.user(Part.text(text))), ALICE);
    }

    private List<TaskEvent> events(String taskId) {
        return log.read(new dev.parley.engine.spi.TaskLog.TaskKey(ALICE.scope(), "agent", taskId), 0, 1_000).stream()
                .map(LoggedEvent::event)
                .toList();
    }

    private static void assertRefused(org.assertj.core.api.ThrowableAssert.ThrowingCallable call, A2AError error) {
        assertThatThrownBy(call)
                .isInstanceOfSatisfying(
                        A2AException.class,
                        refused -> assertThat(refused.error()).isEqualTo(error));
    }
}
