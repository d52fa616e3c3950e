package dev.parley.testkit;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.parley.engine.Agent;
import dev.parley.engine.Engine;
import dev.parley.engine.Reply;
import dev.parley.engine.Request;
import dev.parley.engine.spi.MemoryPushStore;
import dev.parley.engine.spi.MemoryTaskLog;
import dev.parley.engine.spi.PushStore.Subscription;
import dev.parley.engine.spi.WebhookTransport;
import dev.parley.protocol.A2AError;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.AgentEndpoint;
import dev.parley.protocol.Artifact;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.Feed;
import dev.parley.protocol.LoggedEvent;
import dev.parley.protocol.Message;
import dev.parley.protocol.Operation;
import dev.parley.protocol.Operation.CancelTask;
import dev.parley.protocol.Operation.CreatePushConfig;
import dev.parley.protocol.Operation.DeletePushConfig;
import dev.parley.protocol.Operation.GetExtendedAgentCard;
import dev.parley.protocol.Operation.GetPushConfig;
import dev.parley.protocol.Operation.GetTask;
import dev.parley.protocol.Operation.ListPushConfigs;
import dev.parley.protocol.Operation.ListTasks;
import dev.parley.protocol.Operation.SendConfiguration;
import dev.parley.protocol.Operation.SendMessage;
import dev.parley.protocol.Operation.SendStreamingMessage;
import dev.parley.protocol.Operation.SubscribeToTask;
import dev.parley.protocol.Operation.TaskPage;
import dev.parley.protocol.Part;
import dev.parley.protocol.PushConfig;
import dev.parley.protocol.SendResult;
import dev.parley.protocol.Task;
import dev.parley.protocol.TaskEvent;
import dev.parley.protocol.TaskState;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Behaviour of every {@link AgentEndpoint} in front of one agent: the engine, the engine with its guard, and the client over
 * each dialect and binding. A subclass opens the endpoint of {@link #agent()} and names the {@linkplain #absent() features} that
 * its dialect lacks; calls that need an absent operation must be refused.
 *
 * <p>Source: A2A specification 1.0, section 3 "A2A Protocol Operations".
 */
@Timeout(60)
public abstract class EndpointContract {
    /** Part of the protocol that some dialects lack. */
    public enum Feature {
        /** An agent may answer with a message instead of a task. */
        MESSAGE_ANSWERS,
        /** The sender may choose not to wait for the outcome. */
        RETURN_IMMEDIATELY,
        /** A task belongs to a context, which further tasks may join. */
        CONTEXTS,
        /** {@code ListTasks}. */
        LISTS,
        /** {@code ListTasks} returns pages of the size that was asked for. */
        PAGES,
        /** A stream ends when the agent asks for input. */
        STREAMS_END_AT_QUESTIONS,
        /** {@code CreateTaskPushNotificationConfig} and {@code GetTaskPushNotificationConfig}. */
        WEBHOOKS,
        /** {@code ListTaskPushNotificationConfigs} and {@code DeleteTaskPushNotificationConfig}: several webhooks of one task. */
        WEBHOOK_LISTS,
        /** A message that comes again leads to the task that it began. */
        MESSAGE_IDS,
        /** Files may be carried as bytes. */
        BYTES,
        /** Files have names. */
        FILE_NAMES,
        /** A message under the id of no task is refused. */
        UNKNOWN_TASKS,
        /** A task that has ended takes no further message. */
        ENDS,
        /** A task that has ended cannot be subscribed to. */
        LIVE_SUBSCRIPTIONS,
        /** An agent may refuse a task: {@link TaskState#REJECTED}. */
        REJECTIONS
    }

    private static final Duration PATIENCE = Duration.ofSeconds(20);
    private static final String UNKNOWN = "no-such-task";

    /** The agent to host: the text of a message selects its behaviour. */
    public static Agent agent() {
        return Agent.named("contract", "Does what the text of a message says")
                .inputModes("*/*")
                .outputModes("*/*")
                .handle(EndpointContract::act);
    }

    private static void act(Request request, Reply reply) throws InterruptedException {
        switch (request.text()) {
            case "ask" -> reply.askForInput("which one?");
            case "message" -> reply.message("only a message");
            case "fail" -> throw new IllegalStateException("internal detail");
            case "reject" -> reply.reject("not this one");
            case "pieces" -> {
                try (Reply.ArtifactWriter pieces = reply.stream("story")) {
                    pieces.append("once ");
                    pieces.append("upon ");
                    pieces.last(Part.text("a time"));
                }
                reply.complete();
            }
            case "wait" -> {
                reply.working("waiting");
                var canceled = new CountDownLatch(1).await(PATIENCE.toSeconds() * 2, TimeUnit.SECONDS);
                reply.complete(String.valueOf(canceled));
            }
            default -> reply.complete(request.parts().toArray(new Part[0]));
        }
    }

    /** An engine in memory whose webhooks accept everything, for endpoints that stand before an engine; its owner closes it. */
    protected static Engine engine() {
        return Engine.builder(new MemoryTaskLog())
                .webhooks(new MemoryPushStore(), new AcceptingWebhooks())
                .grace(Duration.ZERO)
                .build();
    }

    private static final class AcceptingWebhooks implements WebhookTransport {
        @Override
        public void check(String group, PushConfig config) {}

        @Override
        public Outcome deliver(Subscription webhook, LoggedEvent event, Supplier<Task> task) {
            return new Outcome.Accepted();
        }
    }

    /** The endpoint of {@link #agent()}. Its webhooks may go to 127.0.0.1. */
    protected abstract AgentEndpoint endpoint();

    /** The features that the endpoint cannot offer, because its dialect does not have them. */
    protected Set<Feature> absent() {
        return EnumSet.noneOf(Feature.class);
    }

    /** The caller of each operation. */
    protected CallContext caller() {
        return CallContext.anonymous();
    }

    // ---- Requests and answers

    private boolean has(Feature feature) {
        return !absent().contains(feature);
    }

    private <R> R call(Operation.Call<R> operation) {
        return endpoint().call(operation, caller());
    }

    private <E> Feed<E> watch(Operation.Watch<E> operation) {
        return endpoint().watch(operation, caller());
    }

    private static Message message(String text) {
        return Message.user(Part.text(text));
    }

    private Task send(Message message) {
        return (Task) call(SendMessage.of(message));
    }

    private Task send(String text) {
        return send(message(text));
    }

    /** Begins a task that works until it is canceled. */
    private Task begin() throws InterruptedException {
        if (has(Feature.RETURN_IMMEDIATELY)) {
            var immediately = new SendConfiguration(List.of(), null, null, true);
            return (Task) call(new SendMessage(null, message("wait"), immediately, Map.of()));
        }
        try (Feed<LoggedEvent> events = watch(SendStreamingMessage.of(message("wait")))) {
            return next(events).applyTo(null);
        }
    }

    private static TaskEvent next(Feed<LoggedEvent> events) throws InterruptedException {
        List<LoggedEvent> next = events.next(PATIENCE);
        assertThat(next).as("events within " + PATIENCE).isNotEmpty();
        return requireNonNull(next).getFirst().event();
    }

    /** Reads a stream to its end and returns the task that its events make. */
    private static Task fold(Feed<LoggedEvent> stream) throws InterruptedException {
        Task task = null;
        for (TaskEvent event : LocalAgent.drain(stream)) {
            task = event.applyTo(task);
        }
        assertThat(task).isNotNull();
        return task;
    }

    private static void assertRefused(A2AError error, Runnable call) {
        A2AException refusal = catchThrowableOfType(A2AException.class, call::run);
        assertThat(refusal).as("a refusal with " + error).isNotNull();
        assertThat(refusal.error()).as(String.valueOf(refusal.getMessage())).isEqualTo(error);
    }

    /** Asserts that an operation that the dialect lacks is refused as such. */
    private static void assertLacking(Runnable call) {
        A2AException refusal = catchThrowableOfType(A2AException.class, call::run);
        assertThat(refusal).as("a refusal").isNotNull();
        assertThat(refusal.error())
                .as(String.valueOf(refusal.getMessage()))
                .isIn(
                        A2AError.UNSUPPORTED_OPERATION,
                        A2AError.METHOD_NOT_FOUND,
                        A2AError.EXTENDED_AGENT_CARD_NOT_CONFIGURED,
                        A2AError.PUSH_NOTIFICATION_NOT_SUPPORTED);
    }

    // Sending

    @Test
    void sendReturnsTheOutcome() {
        Message sent = message("hello");

        Task task = send(sent);

        assertThat(task.state()).isEqualTo(TaskState.COMPLETED);
        assertThat(task.text()).isEqualTo("hello");
        assertThat(task.id()).isNotEmpty();
        assertThat(task.contextId().isEmpty()).isNotEqualTo(has(Feature.CONTEXTS));
    }

    @Test
    void anAnswerThatIsAMessageIsReturned() {
        SendResult answer = call(SendMessage.of(message("message")));

        if (has(Feature.MESSAGE_ANSWERS)) {
            assertThat(((Message) answer).text()).isEqualTo("only a message");
        } else {
            assertThat(((Task) answer).state()).isEqualTo(TaskState.COMPLETED);
            assertThat(answer.toString()).contains("only a message");
        }
    }

    @Test
    void aQuestionIsAnsweredUnderTheSameTask() {
        Task asked = send("ask");
        assertThat(asked.state()).isEqualTo(TaskState.INPUT_REQUIRED);

        Task answered = send(message("this one").in(asked.contextId(), asked.id()));

        assertThat(answered.id()).isEqualTo(asked.id());
        assertThat(answered.contextId()).isEqualTo(asked.contextId());
        assertThat(answered.state()).isEqualTo(TaskState.COMPLETED);
        assertThat(answered.text()).isEqualTo("this one");
    }

    @Test
    void aContextIsContinuedByAnotherTask() {
        Task first = send("first");
        if (!has(Feature.CONTEXTS)) {
            return;
        }

        Task second = send(message("second").in(first.contextId(), null));

        assertThat(second.id()).isNotEqualTo(first.id());
        assertThat(second.contextId()).isEqualTo(first.contextId());
    }

    @Test
    void aFailureOfTheAgentEndsTheTaskAndShowsNoInternals() {
        Task task = send("fail");

        assertThat(task.state()).isEqualTo(TaskState.FAILED);
        assertThat(task.toString()).doesNotContain("internal detail", "IllegalState");
    }

    @Test
    void aRejectedTaskSaysWhy() {
        Task task = send("reject");

        assertThat(task.state()).isEqualTo(has(Feature.REJECTIONS) ? TaskState.REJECTED : TaskState.FAILED);
        assertThat(task.toString()).contains("not this one");
    }

    @Test
    void partsOfEachKindGoBothWays() {
        String name = has(Feature.FILE_NAMES) ? "a.csv" : null;
        var sent = List.of(
                Part.text("Grüße"),
                Part.data(Map.of("list", List.of(1, 2.5, "three", true), "object", Map.of("key", "value"))),
                new Part.Url("https://files.example.com/a.csv", name, "text/csv", Map.of()));

        assertThat(returned(sent)).isEqualTo(contents(sent));
        var bytes = new Part.Raw("Grüße".getBytes(StandardCharsets.UTF_8), name, "text/csv", Map.of());
        if (has(Feature.BYTES)) {
            assertThat(returned(List.of(bytes))).isEqualTo(contents(List.of(bytes)));
        } else {
            assertRefused(A2AError.CONTENT_TYPE_NOT_SUPPORTED, () -> returned(List.of(bytes)));
        }
    }

    private List<List<Object>> returned(List<Part> parts) {
        return contents(send(Message.user(parts.toArray(new Part[0]))).artifacts().stream()
                .map(Artifact::parts)
                .flatMap(List::stream)
                .toList());
    }

    /** Parts without the media types that some dialects give texts and data. */
    private static List<List<Object>> contents(List<Part> parts) {
        return parts.stream()
                .map(part -> switch (part) {
                    case Part.Text text -> List.<Object>of(text.text());
                    case Part.Data data -> List.of(requireNonNull(data.data()));
                    case Part.Url url -> List.<Object>of(url.url(), "" + url.filename(), "" + url.mediaType());
                    case Part.Raw raw -> List.<Object>of(raw, "" + raw.filename(), "" + raw.mediaType());
                })
                .toList();
    }

    @Test
    void aMessageThatComesAgainLeadsToItsTask() {
        Message message = message("once");

        Task first = send(message);
        Task again = send(message);

        assertThat(again.id().equals(first.id())).isEqualTo(has(Feature.MESSAGE_IDS));
        assertThat(again.text()).isEqualTo("once");
    }

    @Test
    void aMessageToATaskThatHasEndedIsRefused() {
        Task ended = send("done");
        Message late = message("more").in(ended.contextId(), ended.id());

        if (has(Feature.ENDS)) {
            assertRefused(A2AError.UNSUPPORTED_OPERATION, () -> send(late));
            assertThat(call(GetTask.of(ended.id())).state()).isEqualTo(TaskState.COMPLETED);
        } else {
            assertThat(send(late).text()).isEqualTo("more");
        }
    }

    @Test
    void idsThatAreTooLongAreRefused() {
        String id = "x".repeat(Operation.LONGEST_ID + 1);

        assertRefused(A2AError.INVALID_PARAMS, () -> call(GetTask.of(id)));
        assertRefused(A2AError.INVALID_PARAMS, () -> call(CancelTask.of(id)));
        assertRefused(A2AError.INVALID_PARAMS, () -> send(message("hello").in(null, id)));
    }

    // Reading

    @Test
    void aTaskIsReadAsItWasReturned() {
        Task sent = send("hello");

        Task read = call(GetTask.of(sent.id()));

        assertThat(read.id()).isEqualTo(sent.id());
        assertThat(read.contextId()).isEqualTo(sent.contextId());
        assertThat(read.status()).isEqualTo(sent.status());
        assertThat(read.artifacts()).isEqualTo(sent.artifacts());
    }

    @Test
    void historyIsAsLongAsItWasAskedFor() {
        Task asked = send("ask");
        send(message("that one").in(asked.contextId(), asked.id()));

        assertThat(call(GetTask.of(asked.id())).history().stream().map(Message::text))
                .contains("ask", "that one");
        assertThat(call(new GetTask(null, asked.id(), 1)).history()).hasSizeLessThanOrEqualTo(1);
        assertThat(call(new GetTask(null, asked.id(), 0)).history()).isEmpty();
    }

    @Test
    void anUnknownTaskIsNotFound() {
        assertRefused(A2AError.TASK_NOT_FOUND, () -> call(GetTask.of(UNKNOWN)));
        assertRefused(A2AError.TASK_NOT_FOUND, () -> call(CancelTask.of(UNKNOWN)));
        assertRefused(A2AError.TASK_NOT_FOUND, () -> fold(SubscribeToTask.of(UNKNOWN)));
        if (has(Feature.WEBHOOKS)) {
            assertRefused(A2AError.TASK_NOT_FOUND, () -> call(new CreatePushConfig(null, webhook(UNKNOWN, "w"))));
        }
        if (has(Feature.UNKNOWN_TASKS)) {
            assertRefused(A2AError.TASK_NOT_FOUND, () -> send(message("hello").in(null, UNKNOWN)));
        }
    }

    @Test
    void tasksOfAContextAreListedByPagesTheNewestFirst() {
        String context = "context-" + UUID.randomUUID();
        var list = new ListTasks(null, context, null, 2, null, null, null, true);
        if (!has(Feature.LISTS)) {
            assertLacking(() -> call(list));
            return;
        }
        if (!has(Feature.CONTEXTS)) {
            return; // a gateway has lists, and its agent no contexts
        }
        List<String> ids = List.of(
                send(message("one").in(context, null)).id(),
                send(message("two").in(context, null)).id(),
                send(message("three").in(context, null)).id());

        TaskPage first = call(list);
        if (!has(Feature.PAGES)) {
            assertListed(first.tasks(), ids);
            return;
        }
        TaskPage second = call(list.from(first.nextPageToken()));

        assertThat(first.totalSize()).isEqualTo(3);
        assertThat(first.tasks())
                .hasSize(2)
                .allSatisfy(task -> assertThat(task.text()).isNotEmpty());
        assertThat(second.nextPageToken()).isEmpty();
        assertListed(
                Stream.concat(first.tasks().stream(), second.tasks().stream()).toList(), ids);
    }

    /** Asserts the order by the time of the status; tasks of the same millisecond are in any order. */
    private static void assertListed(List<Task> tasks, List<String> ids) {
        assertThat(tasks.stream().map(Task::id)).containsExactlyInAnyOrderElementsOf(ids);
        assertThat(tasks.stream().map(task -> requireNonNull(task.status().timestamp())))
                .isSortedAccordingTo(Comparator.reverseOrder());
    }

    @Test
    void anExtendedCardThatTheAgentDoesNotHaveIsRefused() {
        assertLacking(() -> call(new GetExtendedAgentCard(null)));
    }

    // Canceling

    @Test
    void aTaskThatWorksIsCanceledOnce() throws InterruptedException {
        Task begun = begin();
        assertThat(begun.state()).isIn(TaskState.SUBMITTED, TaskState.WORKING);

        Task canceled = call(CancelTask.of(begun.id()));

        assertThat(canceled.id()).isEqualTo(begun.id());
        assertThat(canceled.state()).isEqualTo(TaskState.CANCELED);
        assertThat(call(GetTask.of(begun.id())).state()).isEqualTo(TaskState.CANCELED);
        assertRefused(A2AError.TASK_NOT_CANCELABLE, () -> call(CancelTask.of(begun.id())));
    }

    @Test
    void aTaskThatHasEndedIsNotCancelable() {
        Task ended = send("done");

        assertRefused(A2AError.TASK_NOT_CANCELABLE, () -> call(CancelTask.of(ended.id())));
        assertThat(call(GetTask.of(ended.id())).state()).isEqualTo(TaskState.COMPLETED);
    }

    // Streams

    private void fold(Operation.TaskWatch operation) {
        try {
            fold(watch(operation));
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    @Test
    void aStreamBringsTheTaskThatIsReadAfterwards() throws InterruptedException {
        Task streamed = fold(watch(SendStreamingMessage.of(message("pieces"))));
        Task read = call(GetTask.of(streamed.id()));

        assertThat(streamed.state()).isEqualTo(TaskState.COMPLETED);
        assertThat(streamed.text()).isEqualTo("once \nupon \na time");
        assertThat(read.text()).isEqualTo(streamed.text());
        assertThat(read.state()).isEqualTo(streamed.state());
    }

    @Test
    void aStreamEndsWhenTheAgentAsks() throws InterruptedException {
        if (has(Feature.STREAMS_END_AT_QUESTIONS)) {
            Task streamed = fold(watch(SendStreamingMessage.of(message("ask"))));

            assertThat(streamed.state()).isEqualTo(TaskState.INPUT_REQUIRED);
        }
    }

    @Test
    void subscribersSeeTheEnd() throws Exception {
        Task begun = begin();
        try (Feed<LoggedEvent> first = watch(SubscribeToTask.of(begun.id()));
                Feed<LoggedEvent> second = watch(SubscribeToTask.of(begun.id()))) {
            assertThat(next(first)).isInstanceOf(Task.class);
            assertThat(next(second)).isInstanceOf(Task.class);

            call(CancelTask.of(begun.id()));

            for (Feed<LoggedEvent> stream : List.of(first, second)) {
                var events = new ArrayList<>(LocalAgent.drain(stream));
                assertThat(events.getLast().applyTo(begun).state()).isEqualTo(TaskState.CANCELED);
            }
        }
    }

    @Test
    void aTaskThatHasEndedCannotBeSubscribedTo() {
        Task ended = send("done");
        if (has(Feature.LIVE_SUBSCRIPTIONS)) {
            assertRefused(A2AError.UNSUPPORTED_OPERATION, () -> fold(SubscribeToTask.of(ended.id())));
        }
    }

    @Test
    void aStreamThatBringsNothingIsPatientAndCanBeClosed() throws Exception {
        Task begun = begin();
        try (Feed<LoggedEvent> quiet = watch(SubscribeToTask.of(begun.id()))) {
            List<LoggedEvent> none = quiet.next(Duration.ofMillis(50));
            while (none != null && !none.isEmpty()) {
                none = quiet.next(Duration.ofMillis(50));
            }
            assertThat(none).as("nothing within 50 ms").isNotNull();

            var waiting = new CompletableFuture<Void>();
            Thread reader = Thread.startVirtualThread(() -> {
                try {
                    var unused = quiet.next(PATIENCE.multipliedBy(10));
                } catch (InterruptedException | RuntimeException closed) {
                    // Either is an end of the wait.
                } finally {
                    waiting.complete(null);
                }
            });
            quiet.close();

            waiting.get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
            reader.join();
        }
        assertThat(call(GetTask.of(begun.id())).state()).isEqualTo(TaskState.WORKING);
        call(CancelTask.of(begun.id()));
    }

    // Webhooks

    private static PushConfig webhook(String task, String id) {
        return new PushConfig(null, id, task, "http://127.0.0.1:9/" + id, "token-" + id, null);
    }

    @Test
    void aWebhookIsRegisteredAndReadAgain() throws InterruptedException {
        Task begun = begin();
        PushConfig asked = webhook(begun.id(), "w1");
        if (!has(Feature.WEBHOOKS)) {
            assertLacking(() -> call(new CreatePushConfig(null, asked)));
            return;
        }

        PushConfig made = call(new CreatePushConfig(null, asked));

        assertThat(made.url()).isEqualTo(asked.url());
        assertThat(made.taskId()).isEqualTo(begun.id());
        PushConfig read = call(new GetPushConfig(null, begun.id(), "w1"));
        assertThat(read.url()).isEqualTo(asked.url());
        assertThat(read.token()).as("secrets are not returned").isNotEqualTo("token-w1");
        call(CancelTask.of(begun.id()));
    }

    @Test
    void webhooksAreListedAndRemoved() throws InterruptedException {
        Task begun = begin();
        var list = new ListPushConfigs(null, begun.id(), 0, null);
        var delete = new DeletePushConfig(null, begun.id(), "w1");
        if (!has(Feature.WEBHOOK_LISTS)) {
            assertLacking(() -> call(list));
            assertLacking(() -> call(delete));
            return;
        }
        call(new CreatePushConfig(null, webhook(begun.id(), "w1")));
        call(new CreatePushConfig(null, webhook(begun.id(), "w2")));

        assertThat(call(list).configs().stream().map(PushConfig::id)).containsExactly("w1", "w2");
        call(delete);
        call(delete); // which is not there any more
        assertThat(call(list).configs().stream().map(PushConfig::id)).containsExactly("w2");
        call(CancelTask.of(begun.id()));
    }
}
