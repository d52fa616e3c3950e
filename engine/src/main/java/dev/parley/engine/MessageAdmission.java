package dev.parley.engine;

import dev.parley.engine.mail.OwnerMail;
import dev.parley.engine.mail.OwnerMail.Handed;
import dev.parley.engine.spi.KeyTakenException;
import dev.parley.engine.spi.Once;
import dev.parley.engine.spi.TaskLog.Claim;
import dev.parley.engine.spi.TaskLog.MessageKey;
import dev.parley.engine.spi.TaskLog.TaskKey;
import dev.parley.engine.spi.TaskLog.TaskName;
import dev.parley.engine.tasks.Admissions.First;
import dev.parley.engine.tasks.LiveTask;
import dev.parley.engine.tasks.MediaTypes;
import dev.parley.engine.tasks.NamedTasks;
import dev.parley.engine.tasks.Pin;
import dev.parley.engine.tasks.Refused;
import dev.parley.engine.tasks.Repetition;
import dev.parley.engine.tasks.TaskReader;
import dev.parley.engine.tasks.Tasks;
import dev.parley.protocol.A2AError;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.AgentCard;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.Feed;
import dev.parley.protocol.LoggedEvent;
import dev.parley.protocol.Message;
import dev.parley.protocol.Operation.Send;
import dev.parley.protocol.Operation.SendMessage;
import dev.parley.protocol.Operation.SendStreamingMessage;
import dev.parley.protocol.PushConfig;
import dev.parley.protocol.Role;
import dev.parley.protocol.SendResult;
import dev.parley.protocol.Task;
import dev.parley.protocol.TaskEvent;
import dev.parley.protocol.TaskState;
import dev.parley.protocol.retry.Backoff;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/** Admission of messages, which begin, continue or repeat a task, and the answers to their senders. */
final class MessageAdmission {
    /** Time that an agent may take until its first event before its task is created without one. */
    private static final Duration GRACE = Duration.ofMillis(50);

    /** Time that a sender waits for the task of another engine that works at its message, and the pauses between looks for it. */
    private static final Duration LONGEST_PENDING = Duration.ofSeconds(10);

    static final Backoff PENDING = new Backoff(Duration.ofMillis(10), Duration.ofMillis(500));

    /** Begins the names of messages that have a key of their sender, among the ids of his other messages. */
    private static final String IDEMPOTENCY_KEY = "\u0001key:";

    /** Begins a name that says which message came first under a key. */
    private static final String FIRST_OF_KEY = "\u0001first:";

    private final Parts parts;
    private final Tasks tasks;
    private final Agent agent;
    private final Runner runner;
    private final TaskWebhooks webhooks;
    private final MediaTypes media;

    MessageAdmission(Parts parts, Agent agent, Runner runner, TaskWebhooks webhooks, AgentCard card) {
        this.parts = parts;
        this.tasks = parts.tasks();
        this.agent = agent;
        this.runner = runner;
        this.webhooks = webhooks;
        this.media = MediaTypes.of(card);
    }

    /**
     * A send that has been let in.
     *
     * @param pin of the task, for the sender
     * @param accepted the task with the message that it goes on with; null if it does not, or another engine admitted the message
     * @param turn what runs because of it; null if it was a repetition, or another engine processes it
     * @param begun whether it begins a task, so that its stream begins with the first event
     * @param continues whether it is a new message to a task
     */
    private record Sent(
            Pin pin,
            @Nullable LoggedEvent accepted,
            @Nullable HandlerRun turn,
            boolean begun,
            boolean continues) {
        LiveTask live() {
            return pin.task();
        }

        /** The number of the event from which on the outcome counts. */
        long since() {
            return accepted == null ? 0 : accepted.sequence();
        }
    }

    SendResult send(SendMessage send, CallContext context) {
        return untilTaken(send, context, sent -> outcome(sent, send, context));
    }

    private SendResult outcome(Sent sent, SendMessage send, CallContext context) {
        boolean immediately = send.configuration().returnImmediately();
        try (Pin pin = sent.pin()) {
            LiveTask live = pin.task();
            TaskEvent outcome = await(sent, task -> immediately || live.runs().isSettled(task.state()), context);
            return switch (outcome == null ? live.durable() : outcome) {
                case Message answer -> answer;
                case Task task -> task.view(send.configuration().historyLength(), true);
                case null, default ->
                    throw A2AException.unavailable("The agent did not answer in time", Duration.ofSeconds(1));
            };
        }
    }

    Feed<LoggedEvent> stream(SendStreamingMessage send, CallContext context) {
        return untilTaken(send, context, sent -> feed(sent, send, context));
    }

    private Feed<LoggedEvent> feed(Sent sent, SendStreamingMessage send, CallContext context) {
        return sent.pin().into(pin -> {
            await(sent, task -> true, context);
            Integer length = send.configuration().historyLength();
            UnaryOperator<Task> view =
                    length == null && sent.continues() ? task -> since(task, messageId(send)) : view(length);
            TaskReader reader = sent.begun()
                    ? new TaskReader(pin, parts.log(), -1, view)
                    : TaskReader.fromSnapshot(pin, parts.log(), sent.accepted(), view);
            // Older dialects end their streams, or keep them open, as their own versions say.
            return context.dialect().equals(CallContext.V1) ? reader.untilSettled() : reader;
        });
    }

    /**
     * Lets a message in and answers it. If another engine has let it in at the same time, the message is a repetition: it is let in again
     * until the task of the other engine is found. It is also let in again if its task has gone on at another engine.
     *
     * @throws A2AException UNAVAILABLE if nothing of that task is in the log for as long as the caller waits
     */
    private <R> R untilTaken(Send send, CallContext context, Function<Sent, R> answer) {
        Duration patience = tasks.patience(context);
        long wait = (patience.compareTo(LONGEST_PENDING) < 0 ? patience : LONGEST_PENDING).toNanos();
        long begun = parts.threads().nanoTime();
        for (int attempt = 1; ; attempt++) {
            Sent sent = null;
            try {
                sent = admit(send, context, attempt > 1);
                return answer.apply(sent);
            } catch (A2AException refusal) {
                // Without its id a message that another engine has admitted would be admitted once more.
                boolean isKnown = sent != null && sent.turn() == null && (isNamed(context) || !sent.continues());
                if (isKnown && Refused.isOfOtherOwner(refusal)) {
                    parts.admissions().leaveRefused(messageKey(send, context));
                    continue; // a repetition, whose task goes on at another engine
                }
                boolean isElsewhere = isElsewhere(sent, refusal, context);
                if (!isElsewhere && !(refusal.getCause() instanceof KeyTakenException)
                        || parts.threads().nanoTime() - begun > wait
                        || !parts.runs().isOpen()) {
                    throw refusal;
                }
                parts.admissions().leaveRefused(messageKey(send, context));
                boolean isPending = refusal.getCause() instanceof KeyTakenException taken && taken.isPending();
                if (isPending || isElsewhere || attempt > 1) {
                    parts.runs().pause(PENDING.bound(attempt));
                }
            }
        }
    }

    /** Whether another engine may admit a message. Without an id that tells, it must not be in the log. */
    private boolean isElsewhere(@Nullable Sent sent, A2AException refusal, CallContext context) {
        return parts.mail().isElsewhere(refusal)
                && (isNamed(context) || sent == null || sent.live().written() < sent.since());
    }

    private static String messageId(Send send) {
        return send.message().messageId();
    }

    /** Whether the log tells by the name of a message that it has let it in: its key, or else its id. */
    private boolean isNamed(CallContext context) {
        return agent.deduplicates() || context.idempotencyKey() != null;
    }

    /** The name of a message. A key of the sender takes the place of its id. */
    private MessageKey messageKey(Send send, CallContext context) {
        String key = context.idempotencyKey();
        return new MessageKey(context.scope(), agent.name(), key == null ? messageId(send) : IDEMPOTENCY_KEY + key);
    }

    /** Has the task answer for a message. A key of its sender comes with a name that tells the message from others of the task. */
    private void answersFor(LiveTask live, Message message, MessageKey messageKey, CallContext context) {
        live.answersFor(messageKey);
        String key = context.idempotencyKey();
        if (key != null) {
            live.answersFor(firstOf(key, message, context));
        }
    }

    private MessageKey firstOf(String key, Message message, CallContext context) {
        // The key has no such character.
        return new MessageKey(context.scope(), agent.name(), FIRST_OF_KEY + key + "\u0001" + message.messageId());
    }

    /**
     * A task as a stream begins with it that goes on with the task: clients show what it holds of the agent as new, so it has no
     * history before the message.
     */
    private static Task since(Task task, String messageId) {
        List<Message> history = task.history();
        for (int i = history.size() - 1; i >= 0; i--) {
            if (history.get(i).messageId().equals(messageId)) {
                return task.view(history.size() - i, true);
            }
        }
        return task;
    }

    private static UnaryOperator<Task> view(@Nullable Integer historyLength) {
        return historyLength == null ? UnaryOperator.identity() : task -> task.view(historyLength, true);
    }

    /** Waits until there is an answer, or a task that is {@code enough}; null if that took too long. */
    private @Nullable TaskEvent await(Sent sent, Predicate<Task> enough, CallContext context) {
        try {
            TaskEvent outcome = sent.live().await(sent.since(), enough, GRACE);
            if (outcome != null) {
                return outcome;
            }
            create(sent);
            return sent.live().await(sent.since(), enough, tasks.patience(context));
        } catch (InterruptedException stopped) {
            // A caller that leaves within the grace period leaves a task like one that leaves after it.
            if (parts.runs().isOpen()) {
                create(sent);
            }
            Thread.currentThread().interrupt();
            throw Refused.stopping();
        }
    }

    private static void create(Sent sent) {
        if (sent.begun() && sent.turn() != null) {
            sent.turn().create(TaskState.WORKING);
        }
    }

    /**
     * Lets a message in: it begins a task, continues one, or is known and leads to the same task as before.
     *
     * @param taken whether it is known that another engine has let it in
     */
    private Sent admit(Send send, CallContext context, boolean taken) {
        Message message = send.message();
        if (message.role() != Role.USER) {
            throw A2AException.invalidParams("message.role", "ROLE_AGENT (expected: ROLE_USER)");
        }
        requireText("message.messageId", message.messageId());
        requireText("message.contextId", message.contextId());
        requireText("message.taskId", message.taskId());
        media.checkParts(message);
        // In 0.1 every card negotiates; later, clients send lists that they do not mean to agents that declare nothing.
        if (context.namesTasks() || agent.declaresOutputModes()) {
            media.checkAccepted(send.configuration().acceptedOutputModes());
        }
        PushConfig webhook = send.configuration().pushConfig();
        if (webhook != null) {
            webhooks.check(webhook, context);
        }
        // An agent that wants every message anew gets keys that cannot repeat.
        MessageKey messageKey = isNamed(context)
                ? messageKey(send, context)
                : new MessageKey(context.scope(), agent.name(), tasks.newId());
        var mine = new CompletableFuture<LiveTask>();
        First first = parts.admissions().enter(messageKey, new First(message, mine));
        if (first != null) {
            Repetition.require(first.message(), message, context.idempotencyKey());
            return repeated(first, message, context);
        }
        try {
            Sent sent = admit(send, context, messageKey, taken);
            mine.complete(sent.live());
            if (sent.turn() == null) {
                parts.admissions().leave(messageKey);
            }
            return sent;
        } catch (RuntimeException refused) {
            parts.admissions().leave(messageKey);
            mine.completeExceptionally(refused);
            throw refused;
        }
    }

    /** Refuses an id with U+0000, which fields of HTTP and of streams cannot carry. */
    static void requireText(String field, @Nullable String id) {
        if (id != null && id.indexOf('\0') >= 0) {
            throw A2AException.invalidParams(field, "has the character U+0000 (expected: text without it)");
        }
    }

    private Sent admit(Send send, CallContext context, MessageKey messageKey, boolean taken) {
        // A claim finds by itself what another engine has let in, without a look-up of each message that begins a task.
        boolean isClaimed = parts.log().once() == Once.CLAIM && send.message().taskId() == null;
        if (!isClaimed || taken || parts.log().mayHave(messageKey)) {
            Sent known = known(messageKey, send.message(), context);
            return known == null ? admitNew(send, context, messageKey) : known;
        }
        try {
            return admitNew(send, context, messageKey);
        } catch (A2AException refused) {
            Sent known =
                    refused.getCause() instanceof KeyTakenException ? null : known(messageKey, send.message(), context);
            if (known == null) {
                throw refused;
            }
            return known;
        }
    }

    private Sent admitNew(Send send, CallContext context, MessageKey messageKey) {
        String taskId = send.message().taskId();
        if (taskId != null && context.namesTasks()) {
            return admitNamed(send, context, messageKey, new TaskName(context.scope(), agent.name(), taskId));
        }
        return taskId == null
                ? fresh(send.message(), context).into(pin -> begin(pin, send, context, messageKey, null))
                : tasks.pinned(parts.names().key(context, agent.name(), taskId))
                        .into(pin -> proceed(pin, send, context, messageKey, null));
    }

    /** Admits a message that names the task by a name of its sender. */
    private Sent admitNamed(Send send, CallContext context, MessageKey messageKey, TaskName name) {
        NamedTasks.Meant meant = parts.names().meant(send, context, name, first -> fresh(first, context));
        return meant.pin().into(pin -> {
            if (!meant.begins()) {
                return proceed(pin, meant.send(), context, messageKey, name.name());
            }
            try {
                return begin(pin, meant.send(), context, messageKey, name.name());
            } catch (RuntimeException refused) {
                parts.names().settled(pin.task(), List.of(name));
                throw refused;
            }
        });
    }

    private Pin fresh(Message message, CallContext context) {
        String contextId = message.contextId() == null ? tasks.newId() : message.contextId();
        return tasks.begin(key(context, tasks.newId()), contextId);
    }

    /** The same message is being worked on: this sender waits for the same outcome, and starts nothing. */
    private Sent repeated(First first, Message message, CallContext context) {
        LiveTask rival;
        try {
            rival = first.live().join();
        } catch (CompletionException refused) {
            throw refused.getCause() instanceof A2AException same ? same : refused;
        }
        // Only now is it known which task and context the first message has got.
        Repetition.require(
                first.message().in(rival.contextId(), rival.key().taskId()),
                said(message, rival.key(), context),
                context.idempotencyKey());
        Pin pin = tasks.live().pin(rival);
        if (rival.ahead() == null) {
            return new Sent(pin, null, null, true, false);
        }
        pin.close();
        return new Sent(tasks.pinned(rival.key()), null, null, false, false);
    }

    private @Nullable Sent known(MessageKey messageKey, Message message, CallContext context) {
        String taskId = parts.log().taskOf(messageKey).orElse(null);
        Pin known = taskId == null ? null : tasks.live().pin(key(context, taskId));
        if (known == null) {
            return null;
        }
        return known.into(pin -> {
            requireRepetition(pin.task(), message, context);
            return new Sent(pin, null, null, false, false);
        });
    }

    /** Returns a message as repetitions are compared: without its ids if callers name their tasks. */
    private Message said(Message message, TaskKey task, CallContext context) {
        if (context.namesTasks()) {
            return message.in(null, null);
        }
        String taskId = message.taskId();
        return taskId != null
                        && parts.names().key(context, agent.name(), taskId).equals(task)
                ? message.in(message.contextId(), null)
                : message;
    }

    private void requireRepetition(LiveTask live, Message message, CallContext context) {
        Task task = live.ahead();
        if (task != null) {
            Message said = said(message, live.key(), context);
            String key = context.idempotencyKey();
            if (key != null) {
                Predicate<Message> isFirst = first -> parts.log()
                        .taskOf(firstOf(key, first, context))
                        .filter(live.key().taskId()::equals)
                        .isPresent();
                Repetition.requireAmong(task.history(), isFirst, said, key);
                return;
            }
            task.history().stream()
                    .filter(before -> before.messageId().equals(message.messageId()))
                    .findFirst()
                    .ifPresent(first -> Repetition.require(first, said, null));
        }
    }

    private Sent begin(Pin pin, Send send, CallContext context, MessageKey messageKey, @Nullable String name) {
        parts.intake().run();
        LiveTask live = pin.task();
        HandlerRun turn = turn(live, send, context, false, messageKey);
        live.reserve(List.of(send.message()));
        boolean inContext = send.message().contextId() != null;
        boolean taken = false;
        @Nullable Claim claim = null;
        try {
            if (inContext) {
                parts.turns().take(live.key(), live.contextId());
                taken = true;
            }
            PushConfig config = send.configuration().pushConfig();
            if (config != null) {
                live.bring(webhooks.admit(live, config, name, context, 0));
            }
            live.causedBy(Tasks.cause(context));
            answersFor(live, send.message(), messageKey, context);
            claim = claim(live, messageKey);
            live.runs().enter(turn);
            runner.start(turn);
            return new Sent(pin, null, turn, true, false);
        } catch (RuntimeException | Error refused) {
            if (claim != null) {
                parts.log().release(claim);
            }
            live.giveBackSpace();
            if (taken) {
                parts.turns().giveBack(live.key(), live.contextId());
            }
            throw refused;
        }
    }

    /** Has the log take a message, before the agent starts; returns null if the first segment of the task does. */
    private @Nullable Claim claim(LiveTask live, MessageKey messageKey) {
        if (parts.log().once() == Once.INDEX) {
            return null;
        }
        var claim = new Claim(messageKey, live.key().taskId(), live.naming());
        try {
            parts.log().claim(claim).join();
            return claim;
        } catch (CompletionException failure) {
            throw Refused.unwritten(failure.getCause() instanceof Exception cause ? cause : failure);
        }
    }

    private Sent proceed(Pin pin, Send send, CallContext context, MessageKey messageKey, @Nullable String name) {
        LiveTask live = pin.task();
        Message message = send.message();
        if (message.contextId() != null && !message.contextId().equals(live.contextId())) {
            throw A2AException.invalidParams(
                    "message.contextId", message.contextId() + " (expected: that of the task, or none)");
        }
        Sent handed = handedOver(pin, send, context, name);
        if (handed != null) {
            return handed;
        }
        long before = live.written();
        parts.turns().take(live.key(), live.contextId());
        var turn = turn(live, send, context, true, messageKey);
        try {
            return new Sent(pin, goOn(turn, send, context, messageKey, name, before), turn, false, true);
        } catch (RuntimeException | Error refused) {
            parts.turns().giveBack(live.key(), live.contextId());
            throw refused;
        }
    }

    /**
     * Has another engine admit a message to a task that it runs; null if no other engine does.
     *
     * @param name as of {@link #proceed}
     */
    private @Nullable Sent handedOver(Pin pin, Send send, CallContext context, @Nullable String name) {
        if (!pin.task().isForeign()) {
            return null;
        }
        Send named = name == null ? send : send.with(send.message().in(null, name));
        return switch (parts.mail().handMessage(pin.task(), named, context, tasks.patience(context))) {
            case Handed.Kept kept -> null;
            case Handed.Done(String taskId) -> {
                pin.close();
                yield new Sent(tasks.pinned(key(context, taskId)), null, null, false, true);
            }
            case Handed.Lost lost -> {
                A2AException ended =
                        A2AException.unavailable("The server that got the message has ended", Duration.ofSeconds(1));
                // The name of the message tells whether it was admitted.
                throw isNamed(context) ? OwnerMail.elsewhere(pin.task().key().taskId()) : ended;
            }
        };
    }

    /** Lets the task of {@code turn} go on with a message, and returns the task with it. */
    private LoggedEvent goOn(
            HandlerRun turn,
            Send send,
            CallContext context,
            MessageKey messageKey,
            @Nullable String name,
            long before) {
        LiveTask live = turn.live();
        Message message = send.message();
        return runner.goOn(turn, task -> {
            TaskState state = task.state();
            if (state.isTerminal()) {
                throw A2AException.of(
                        A2AError.UNSUPPORTED_OPERATION,
                        "The task has ended (" + state + "): send the message without taskId to begin another",
                        Map.of("taskId", task.id()));
            }
            Message received = message.in(live.contextId(), live.key().taskId());
            // The question, if there was one, comes before its answer in the history.
            List<TaskEvent> said = state.isInterrupted()
                    ? List.of(turn.moved(runner.resumed(live.key()), null, Map.of()), received)
                    : List.of(received);
            TaskLimits limits = parts.taskLimits();
            String excess = live.excess(task, said, limits.events(), limits.bytes());
            if (excess != null) {
                throw A2AException.of(
                        A2AError.UNSUPPORTED_OPERATION,
                        "The task would have " + excess + ": send the message without taskId to begin another",
                        Map.of("taskId", task.id()));
            }
            live.reserve(said);
            // Only now: the webhook of a refused message must get no event.
            PushConfig config = send.configuration().pushConfig();
            if (config != null) {
                live.bring(webhooks.admit(live, config, name, context, before));
            }
            live.causedBy(Tasks.cause(context));
            answersFor(live, message, messageKey, context);
            return said;
        });
    }

    private HandlerRun turn(LiveTask live, Send send, CallContext context, boolean followUp, MessageKey messageKey) {
        // The key names this message, not those that the agent sends.
        CallContext origin = context.withIdempotencyKey(null);
        return new HandlerRun(
                        live,
                        send.message(),
                        new HandlerRun.Origin(
                                origin,
                                send.configuration().acceptedOutputModes(),
                                send.metadata(),
                                followUp,
                                1,
                                messageKey),
                        parts.clock(),
                        parts.taskLimits(),
                        uri -> parts.extension(agent, uri),
                        () -> tasks.live().add(live))
                .offer(parts);
    }

    private TaskKey key(CallContext context, String taskId) {
        return new TaskKey(context.scope(), agent.name(), taskId);
    }
}
