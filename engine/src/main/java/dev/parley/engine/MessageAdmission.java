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
import dev.parley.engine.tasks.MessageNames;
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
import java.util.ArrayList;
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

    private final Parts parts;
    private final Tasks tasks;
    private final Agent agent;
    private final Runner runner;
    private final TaskWebhooks webhooks;
    private final MediaTypes media;

    MessageAdmission(Parts parts, Agent agent, Runner runner, TaskWebhooks webhooks, AgentCard card) {
        this.parts = parts;
        this.tasks = parts.work().tasks();
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
        long begun = parts.time().threads().nanoTime();
        for (int attempt = 1; ; attempt++) {
            Sent sent = null;
            try {
                sent = admit(send, context, attempt > 1);
                return answer.apply(sent);
            } catch (A2AException refusal) {
                // Without its id a message that another engine has admitted would be admitted once more.
                boolean isKnown = sent != null && sent.turn() == null && (isNamed(context) || !sent.continues());
                if (isKnown && Refused.isOfOtherOwner(refusal)) {
                    leaveRefused(send, context);
                    continue; // a repetition, whose task goes on at another engine
                }
                boolean isElsewhere = isElsewhere(sent, refusal, context);
                if (!isElsewhere && !(refusal.getCause() instanceof KeyTakenException)
                        || parts.time().threads().nanoTime() - begun > wait
                        || !parts.work().runs().isOpen()) {
                    throw refusal;
                }
                leaveRefused(send, context);
                boolean isPending = refusal.getCause() instanceof KeyTakenException taken && taken.isPending();
                if (isPending || isElsewhere || attempt > 1) {
                    parts.work().runs().pause(PENDING.bound(attempt));
                }
            }
        }
    }

    /** Whether another engine may admit a message. Without an id that tells, it must not be in the log. */
    private boolean isElsewhere(@Nullable Sent sent, A2AException refusal, CallContext context) {
        return parts.work().mail().isElsewhere(refusal)
                && (isNamed(context) || sent == null || sent.live().written() < sent.since());
    }

    private static String messageId(Send send) {
        return send.message().messageId();
    }

    /** Whether the log tells by the name of a message that it has let it in: its key, or else its id. */
    private boolean isNamed(CallContext context) {
        return agent.deduplicates() || context.idempotencyKey() != null;
    }

    /** The names of a message: its key, and its id unless the agent wants each message anew. */
    private MessageNames names(Send send, CallContext context) {
        return MessageNames.of(context, agent.name(), agent.deduplicates() ? messageId(send) : null);
    }

    private void leave(MessageNames names) {
        names.all().forEach(parts.work().admissions()::leave);
    }

    private void leaveRefused(Send send, CallContext context) {
        names(send, context).all().forEach(parts.work().admissions()::leaveRefused);
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
            if (parts.work().runs().isOpen()) {
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
        MessageNames names =
                isNamed(context) ? names(send, context) : MessageNames.of(context, agent.name(), tasks.newId());
        var mine = new CompletableFuture<LiveTask>();
        for (MessageKey name : names.all()) {
            First first = parts.work().admissions().enter(name, new First(message, mine));
            if (first != null) {
                // Of two names the first may be here already, and senders may wait for it.
                var unused = first.live().whenComplete((live, refused) -> complete(mine, live, refused));
                names.all().stream()
                        .takeWhile(own -> !own.equals(name))
                        .forEach(parts.work().admissions()::leave);
                Repetition.require(first.message(), message, names.keyOf(name));
                return repeated(first, message, context, names.keyOf(name));
            }
        }
        try {
            Sent sent = admit(send, context, names, taken);
            mine.complete(sent.live());
            if (sent.turn() == null) {
                leave(names);
            }
            return sent;
        } catch (RuntimeException refused) {
            leave(names);
            mine.completeExceptionally(refused);
            throw refused;
        }
    }

    private static void complete(
            CompletableFuture<LiveTask> mine, @Nullable LiveTask live, @Nullable Throwable refused) {
        if (live == null) {
            mine.completeExceptionally(refused == null ? Refused.stopping() : refused);
        } else {
            mine.complete(live);
        }
    }

    /** Refuses an id with U+0000, which fields of HTTP and of streams cannot carry. */
    static void requireText(String field, @Nullable String id) {
        if (id != null && id.indexOf('\0') >= 0) {
            throw A2AException.invalidParams(field, "has the character U+0000 (expected: text without it)");
        }
    }

    private Sent admit(Send send, CallContext context, MessageNames names, boolean taken) {
        // A claim finds by itself what another engine has let in, without a look-up of each message that begins a task.
        boolean isClaimed = parts.log().once() == Once.CLAIM && send.message().taskId() == null;
        if (!isClaimed || taken || names.all().stream().anyMatch(parts.log()::mayHave)) {
            Sent known = known(names, send.message(), context);
            return known == null ? admitNew(send, context, names) : known;
        }
        try {
            return admitNew(send, context, names);
        } catch (A2AException refused) {
            Sent known = refused.getCause() instanceof KeyTakenException ? null : known(names, send.message(), context);
            if (known == null) {
                throw refused;
            }
            return known;
        }
    }

    private Sent admitNew(Send send, CallContext context, MessageNames names) {
        String taskId = send.message().taskId();
        if (taskId != null && context.namesTasks()) {
            return admitNamed(send, context, names, new TaskName(context.scope(), agent.name(), taskId));
        }
        return taskId == null
                ? fresh(send.message(), context).into(pin -> begin(pin, send, context, names, null))
                : tasks.pinned(parts.work().names().key(context, agent.name(), taskId))
                        .into(pin -> proceed(pin, send, context, names, null));
    }

    /** Admits a message that names the task by a name of its sender. */
    private Sent admitNamed(Send send, CallContext context, MessageNames names, TaskName name) {
        NamedTasks.Meant meant = parts.work().names().meant(send, context, name, first -> fresh(first, context));
        return meant.pin().into(pin -> {
            if (!meant.begins()) {
                return proceed(pin, meant.send(), context, names, name.name());
            }
            try {
                return begin(pin, meant.send(), context, names, name.name());
            } catch (RuntimeException refused) {
                parts.work().names().settled(pin.task(), List.of(name));
                throw refused;
            }
        });
    }

    private Pin fresh(Message message, CallContext context) {
        String contextId = message.contextId() == null ? tasks.newId() : message.contextId();
        return tasks.begin(key(context, tasks.newId()), contextId);
    }

    /** The same message is being worked on: this sender waits for the same outcome, and starts nothing. */
    private Sent repeated(First first, Message message, CallContext context, @Nullable String key) {
        LiveTask rival;
        try {
            rival = first.live().join();
        } catch (CompletionException refused) {
            throw refused.getCause() instanceof A2AException same ? same : refused;
        }
        // Only now is it known which task and context the first message has got.
        Repetition.require(
                first.message().in(rival.contextId(), rival.key().taskId()), said(message, rival.key(), context), key);
        Pin pin = tasks.live().pin(rival);
        if (rival.ahead() == null) {
            return new Sent(pin, null, null, true, false);
        }
        pin.close();
        return new Sent(tasks.pinned(rival.key()), null, null, false, false);
    }

    private @Nullable Sent known(MessageNames names, Message message, CallContext context) {
        for (MessageKey name : names.all()) {
            String taskId = parts.log().taskOf(name).orElse(null);
            Pin known = taskId == null ? null : tasks.live().pin(key(context, taskId));
            if (known != null) {
                return known.into(pin -> {
                    requireRepetition(pin.task(), message, context, name, names.keyOf(name));
                    return new Sent(pin, null, null, false, false);
                });
            }
        }
        return null;
    }

    /** Returns a message as repetitions are compared: without its ids if callers name their tasks. */
    private Message said(Message message, TaskKey task, CallContext context) {
        if (context.namesTasks()) {
            return message.in(null, null);
        }
        String taskId = message.taskId();
        return taskId != null
                        && parts.work()
                                .names()
                                .key(context, agent.name(), taskId)
                                .equals(task)
                ? message.in(message.contextId(), null)
                : message;
    }

    private void requireRepetition(
            LiveTask live, Message message, CallContext context, MessageKey name, @Nullable String key) {
        Task task = live.ahead();
        if (task != null) {
            Message said = said(message, live.key(), context);
            if (key != null) {
                Predicate<Message> isFirst = first -> parts.log()
                        .taskOf(MessageNames.firstUnder(name, key, first))
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

    private Sent begin(Pin pin, Send send, CallContext context, MessageNames names, @Nullable String name) {
        parts.intake().run();
        LiveTask live = pin.task();
        HandlerRun turn = turn(live, send, context, false, names);
        live.reserve(List.of(send.message()));
        boolean inContext = send.message().contextId() != null;
        boolean taken = false;
        List<Claim> claims = List.of();
        try {
            if (inContext) {
                parts.work().turns().take(live.key(), live.contextId());
                taken = true;
            }
            PushConfig config = send.configuration().pushConfig();
            if (config != null) {
                live.bring(webhooks.admit(live, config, name, context, 0));
            }
            live.causedBy(Tasks.cause(context));
            names.answeredBy(live, send.message());
            claims = claim(live, names);
            live.runs().enter(turn);
            runner.start(turn);
            return new Sent(pin, null, turn, true, false);
        } catch (RuntimeException | Error refused) {
            claims.forEach(parts.log()::release);
            live.giveBackSpace();
            if (taken) {
                parts.work().turns().giveBack(live.key(), live.contextId());
            }
            throw refused;
        }
    }

    /** Has the log take a message, before the agent starts; returns an empty list if the first segment of the task does. */
    private List<Claim> claim(LiveTask live, MessageNames names) {
        var claims = new ArrayList<Claim>();
        if (parts.log().once() == Once.INDEX) {
            return claims;
        }
        try {
            for (MessageKey name : names.all()) {
                var claim = new Claim(name, live.key().taskId(), claims.isEmpty() ? live.naming() : null);
                parts.log().claim(claim).join();
                claims.add(claim);
            }
            return claims;
        } catch (CompletionException failure) {
            claims.forEach(parts.log()::release);
            throw Refused.unwritten(failure.getCause() instanceof Exception cause ? cause : failure);
        }
    }

    private Sent proceed(Pin pin, Send send, CallContext context, MessageNames names, @Nullable String name) {
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
        parts.work().turns().take(live.key(), live.contextId());
        var turn = turn(live, send, context, true, names);
        try {
            return new Sent(pin, goOn(turn, send, context, names, name, before), turn, false, true);
        } catch (RuntimeException | Error refused) {
            parts.work().turns().giveBack(live.key(), live.contextId());
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
        return switch (parts.work().mail().handMessage(pin.task(), named, context, tasks.patience(context))) {
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
            HandlerRun turn, Send send, CallContext context, MessageNames names, @Nullable String name, long before) {
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
            TaskLimits limits = parts.work().limits();
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
            names.answeredBy(live, message);
            return said;
        });
    }

    private HandlerRun turn(LiveTask live, Send send, CallContext context, boolean followUp, MessageNames names) {
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
                                names.all()),
                        parts.time().clock(),
                        parts.work().limits(),
                        uri -> parts.extension(agent, uri),
                        () -> tasks.live().add(live))
                .offer(parts);
    }

    private TaskKey key(CallContext context, String taskId) {
        return new TaskKey(context.scope(), agent.name(), taskId);
    }
}
