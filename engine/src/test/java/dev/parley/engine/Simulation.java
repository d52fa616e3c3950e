package dev.parley.engine;

import static java.util.Objects.requireNonNull;
import static java.util.Objects.requireNonNullElse;

import dev.parley.engine.spi.Once;
import dev.parley.engine.spi.PushStore;
import dev.parley.engine.spi.PushStore.Subscription;
import dev.parley.engine.spi.TaskLog.Subject;
import dev.parley.engine.spi.TaskLog.TaskKey;
import dev.parley.engine.spi.WebhookTransport;
import dev.parley.protocol.A2AError;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.AgentEndpoint;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.Feed;
import dev.parley.protocol.LoggedEvent;
import dev.parley.protocol.Message;
import dev.parley.protocol.Operation.CancelTask;
import dev.parley.protocol.Operation.CreatePushConfig;
import dev.parley.protocol.Operation.GetTask;
import dev.parley.protocol.Operation.ListTasks;
import dev.parley.protocol.Operation.SendConfiguration;
import dev.parley.protocol.Operation.SendMessage;
import dev.parley.protocol.Operation.SendStreamingMessage;
import dev.parley.protocol.Operation.SubscribeToTask;
import dev.parley.protocol.Part;
import dev.parley.protocol.PushConfig;
import dev.parley.protocol.Role;
import dev.parley.protocol.SendResult;
import dev.parley.protocol.Task;
import dev.parley.protocol.TaskState;
import dev.parley.protocol.TaskStatusUpdateEvent;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * An engine with agents, callers, webhooks and a log, all of them on one thread in an order that a seed decides, among failing
 * commits, crashes, stops and erasures; then a quiet time, after which everything has to be in order.
 *
 * <p>Checks each {@link Invariant}; a violation names the one that does not hold.
 */
final class Simulation {
    private static final Duration CHAOS = Duration.ofMinutes(3);
    private static final Duration QUIET = Duration.ofHours(5);
    /** Longer than the pause before another look at a task that could not be read. */
    private static final Duration REST = Duration.ofMinutes(20);

    private static final Duration LOOK = Duration.ofMinutes(1);

    /** An invariant that does not hold. */
    static final class Violation extends AssertionError {
        private static final long serialVersionUID = 1L;

        Violation(Invariant invariant, String detail) {
            super(invariant + " (" + invariant.beginning() + "): expected that " + detail);
        }
    }

    @SuppressWarnings("AnnotateFormatMethod") // the annotation would be a dependency for one method
    static void require(Invariant invariant, boolean holds, String detail, @Nullable Object... values) {
        if (!holds) {
            throw new Violation(invariant, detail.formatted(values));
        }
    }

    private final Random random;
    private final SimulatedThreads threads;
    private final SimulatedLog.Disk disk;
    private final List<Caller> callers = new ArrayList<>();
    private final Map<String, Set<String>> handled = new HashMap<>();
    private final Set<String> erased = new HashSet<>();
    private final Set<Long> refused = new HashSet<>();
    private final Map<Long, Set<Long>> told = new HashMap<>();
    /** The processes that call the receivers of webhooks. */
    private final Map<PushStore.Queue, List<SimulatedThreads.Machine>> sending = new HashMap<>();

    private final boolean resumable;
    private final boolean chaos;
    private final int concurrency;
    private final @Nullable Duration retention;
    /** Whether no process was killed and nothing was refused by the log. */
    private boolean calm;

    private boolean quiet;
    private @Nullable Throwable failure;
    private Server server;

    /** An engine of another process with the same log, which never fails; null for none. */
    private final @Nullable Server peer;

    private final List<Twin> twins = new ArrayList<>();
    /** The processes whose agents work at a task. */
    private final Map<String, Set<SimulatedThreads.Machine>> atWork = new HashMap<>();
    /** Tasks of which the agent has worked at a message. */
    private final Map<String, Set<String>> workedAt = new HashMap<>();

    Simulation(long seed) {
        this(seed, null);
    }

    /** @param fault of the log; null for none */
    Simulation(long seed, SimulatedLog.@Nullable LogFault fault) {
        this.random = new Random(seed * 0x9e3779b97f4a7c15L);
        this.threads = new SimulatedThreads(random);
        this.disk = new SimulatedLog.Disk(threads);
        this.resumable = random.nextBoolean();
        this.concurrency = 1 + random.nextInt(4);
        this.chaos = random.nextInt(4) > 0;
        disk.faults = chaos && random.nextInt(3) > 0 ? random.nextInt(30) : 0;
        this.calm = disk.faults == 0;
        this.retention = random.nextBoolean() ? Duration.ofSeconds(5 + random.nextInt(60)) : null;
        disk.fault = fault;
        boolean hasPeer = random.nextInt(4) == 0;
        disk.once = hasPeer ? Once.CLAIM : Once.INDEX;
        this.server = new Server(retention);
        this.peer = hasPeer ? new Server(null) : null;
        int count = 2 + random.nextInt(4);
        for (int i = 0; i < count; i++) {
            callers.add(new Caller(i));
        }
        for (int i = 0; hasPeer && i < 2; i++) {
            twins.add(new Twin(new Caller(count + i)));
        }
    }

    /** Runs it, and returns a number that is another one if anything happened in another order. */
    long run() {
        callers.forEach(Caller::start);
        twins.forEach(Twin::start);
        twins.forEach(Twin::startAtPeer);
        if (peer != null) {
            callers.forEach(caller -> caller.readAt(peer));
        }
        int disasters = chaos ? random.nextInt(4) : 0;
        for (int i = 0; i < disasters; i++) {
            Duration until = Duration.ofNanos(threads.now()).plusMillis(random.nextInt(1_500));
            go(until, this::areDone);
            disaster();
        }
        go(CHAOS, this::areDone);
        disk.full = false;
        disk.faults = 0;
        quiet = true;
        rest();
        require(Invariant.WORKED_AT, areDone(), "every caller is answered: %s", callers);
        checkDisk();
        return threads.trace();
    }

    /** Number of calls that one engine has executed for the other. */
    int handedOver() {
        return disk.mail.executed();
    }

    /** Goes on until nothing has been left to do for longer than any pause, or the quiet time is over. */
    private void rest() {
        Duration end = Duration.ofNanos(threads.now()).plus(QUIET);
        Duration now = Duration.ofNanos(threads.now());
        Duration begun = now;
        while (now.compareTo(end) < 0 && now.minus(begun).compareTo(REST) < 0) {
            go(now.plus(LOOK), () -> false);
            now = now.plus(LOOK);
            if (!isAtRest()) {
                begun = now;
            }
        }
    }

    /** Whether every caller has its answer, no agent works, each task has ended or waits, and each webhook has been told. */
    private boolean isAtRest() {
        return areDone()
                && disk.log.unfinished().stream().allMatch(head -> head.state().isSettled())
                && disk.log.webhooks().pending().stream()
                        .allMatch(webhook -> webhook.delivered()
                                >= disk.events(webhook.task()).size())
                && Stream.of(server, requireNonNullElse(peer, server))
                        .allMatch(each -> each.working.values().stream().allMatch(count -> count == 0));
    }

    private void go(Duration end, java.util.function.BooleanSupplier done) {
        threads.run(end, () -> failure != null || done.getAsBoolean());
        if (failure != null) {
            throw failure instanceof Violation violation ? violation : new AssertionError(failure);
        }
    }

    private boolean areDone() {
        return callers.stream().allMatch(caller -> caller.left == 0)
                && twins.stream().allMatch(Twin::isDone);
    }

    private void disaster() {
        switch (random.nextInt(5)) {
            case 0, 1 -> {
                calm = false;
                restart();
            }
            case 2 -> stop();
            case 3 -> {
                calm = false;
                disk.full = true;
                go(Duration.ofNanos(threads.now()).plusSeconds(random.nextInt(20)), () -> false);
                disk.full = false;
            }
            default -> erase(threads.any(callers));
        }
    }

    private void restart() {
        server.process.kill();
        // A stop may interrupt an agent before its first event. Nothing is on disk then, and the caller sends the
        // message again.
        Set<String> written = disk.tasks().stream().map(TaskKey::taskId).collect(Collectors.toSet());
        workedAt.values().forEach(tasks -> tasks.retainAll(written));
        server = new Server(retention);
        callers.forEach(Caller::start);
        twins.forEach(Twin::start);
    }

    private void stop() {
        Server stopping = server;
        boolean[] stopped = new boolean[1];
        stopping.run(() -> {
            stopping.engine.close();
            stopped[0] = true;
        });
        Duration end = Duration.ofNanos(threads.now()).plusMinutes(2);
        go(end, () -> stopped[0]);
        require(Invariant.CLOSED, stopped[0], "a stop comes to its end");
        go(Duration.ofNanos(threads.now()).plusMillis(100), () -> false); // what runs on has a closed log
        restart();
    }

    /** Whether a task was erased, or removed because it ended long ago. */
    private boolean isGone(@Nullable String task) {
        return erased.contains(task) || disk.removed.contains(task);
    }

    /** Erases while the tasks that are erased are read. */
    private void erase(Caller caller) {
        Server erasing = server;
        for (String task : caller.tasks) {
            if (random.nextBoolean()) {
                erasing.run(() -> caller.glance(erasing.agent, task));
            }
        }
        erasing.run(() -> {
            var gone = new HashSet<String>();
            try {
                erasing.engine.erase(
                        new Subject(caller.context.scope().group(), caller.context.caller(), null),
                        CallContext.anonymous(),
                        gone::addAll);
            } catch (SimulatedLog.Fault | A2AException notAll) {
                gone.removeIf(id -> disk.log.find(caller.key(id)).isPresent());
            }
            erased.addAll(gone);
            gone.forEach(id -> requireGone(erasing.agent, id, caller.context));
        });
    }

    private static void requireGone(AgentEndpoint agent, String id, CallContext context) {
        try {
            agent.call(GetTask.of(id), context);
            throw new Violation(Invariant.ONE_LIVE_TASK, "task " + id + " was erased and cannot be read");
        } catch (A2AException | SimulatedLog.Fault refused) {
            // as it has to be
        }
    }

    // ---- The server

    private final class Server {
        final SimulatedThreads.Machine process = threads.process();
        final SimulatedLog log = new SimulatedLog(disk, threads, process, random);
        final Map<String, Integer> working = new HashMap<>();
        final Engine engine;
        final AgentEndpoint agent;

        Server(@Nullable Duration retention) {
            Agent described = Agent.named("agent", "Does what messages say")
                    .resumable(resumable)
                    .concurrency(concurrency)
                    .handle(this::handle);
            this.engine = Engine.builder(log)
                    .threads(process)
                    .clock(threads)
                    .cacheBytes(random.nextBoolean() ? 0 : 1 << 20)
                    .grace(Duration.ofMillis(random.nextInt(2_000)))
                    .retention(retention)
                    .webhooks(log.webhooks(), new Transport(process))
                    .build();
            this.agent = engine.host(described);
        }

        void run(Runnable work) {
            process.start("outside", () -> {
                try {
                    work.run();
                } catch (Throwable problem) {
                    fail(problem);
                }
            });
        }

        private void handle(Request request, Reply reply) throws Exception {
            String task = request.taskId();
            if (log.isClosed()) {
                fail(new Violation(Invariant.CLOSED, "no handler begins after the log is closed"));
            }
            if (working.merge(task, 1, Integer::sum) > 1) {
                fail(new Violation(Invariant.ONE_LIVE_TASK, "at most one handler works at task " + task));
            }
            Set<SimulatedThreads.Machine> others = atWork.computeIfAbsent(task, id -> new HashSet<>());
            others.add(process);
            var isAtWork = new AtomicBoolean(true);
            Runnable rest = () -> {
                if (isAtWork.getAndSet(false)) {
                    working.merge(task, -1, Integer::sum);
                    others.remove(process);
                }
            };
            if (others.stream().filter(SimulatedThreads.Machine::isAlive).count() > 1) {
                fail(new Violation(Invariant.ONE_LIVE_TASK, "one process works at task " + task));
            }
            Set<String> messages = handled.computeIfAbsent(task, id -> new HashSet<>());
            messages.add(request.message().messageId());
            requireFirst(request.message().messageId(), task);
            try {
                for (String step : request.text().split(" ", -1)) {
                    threads.mayYield();
                    if (step.equals("i")) {
                        rest.run(); // the handler may linger while the task goes on
                    }
                    step(step, reply);
                    threads.mayYield();
                }
            } finally {
                rest.run();
            }
        }

        /** An agent works at a message for one task. */
        private void requireFirst(String message, String task) {
            Set<String> tasks = workedAt.computeIfAbsent(message, id -> new HashSet<>());
            tasks.removeIf(Simulation.this::isGone);
            tasks.add(task);
            if (peer != null && message.startsWith(TWIN) && calm && tasks.size() > 1) {
                fail(new Violation(Invariant.ONE_TASK, "the agent works once at message " + message + ": " + tasks));
            }
        }

        private void step(String step, Reply reply) throws Exception {
            switch (step.charAt(0)) {
                case 'w' -> reply.working("busy");
                case 'a' -> reply.artifact("part", "text");
                case 'l' -> reply.artifact(SimulatedLog.LATE, "text");
                case 's' -> threads.sleep(process, Duration.ofMillis(Integer.parseInt(step.substring(1))));
                case 'c' -> reply.complete("done");
                case 'f' -> reply.fail("no");
                case 'i' -> reply.askForInput("and?");
                case 'm' -> reply.message("answer");
                case 'x' -> throw new IllegalStateException("a fault of the agent");
                default -> throw new IllegalArgumentException(step);
            }
        }
    }

    private void fail(Throwable problem) {
        if (failure == null) {
            failure = problem;
        }
    }

    private final class Transport implements WebhookTransport {
        private final SimulatedThreads.Machine process;

        Transport(SimulatedThreads.Machine process) {
            this.process = process;
        }

        @Override
        public void check(String group, PushConfig config) {}

        @Override
        public Outcome deliver(Subscription webhook, LoggedEvent event, Supplier<Task> task)
                throws InterruptedException {
            Set<Long> before = told.computeIfAbsent(webhook.generation(), generation -> new HashSet<>());
            List<SimulatedThreads.Machine> senders =
                    sending.computeIfAbsent(webhook.queue(), queue -> new ArrayList<>());
            senders.add(process);
            long running =
                    senders.stream().filter(SimulatedThreads.Machine::isAlive).count();
            if (running > 1 || before.stream().anyMatch(sequence -> sequence > event.sequence())) {
                fail(new Violation(
                        Invariant.ONE_SENDER,
                        "event " + event.sequence() + " of " + webhook.queue() + " is sent by one of " + running
                                + " engines, after none of " + before));
            }
            try {
                threads.sleep(process, Duration.ofMillis(random.nextInt(2_000)));
            } finally {
                senders.remove(process);
            }
            int luck = quiet ? 100 : random.nextInt(100);
            if (luck < 3) {
                refused.add(webhook.generation());
                return new Outcome.Failed("status 410", false, null);
            }
            if (luck < 20) {
                return new Outcome.Failed("status 503", true, Duration.ofSeconds(1));
            }
            before.add(event.sequence());
            return new Outcome.Accepted();
        }
    }

    // ---- The callers

    private final class Caller {
        final CallContext context;
        final List<String> tasks = new ArrayList<>();
        final SentMessages messages;
        final Map<String, String> led = new HashMap<>();
        final Map<String, Integer> attempts = new HashMap<>();
        int left = 3 + random.nextInt(6);

        Caller(int number) {
            String name = "caller-" + number;
            this.context = CallContext.of(name, new CallContext.Scope("group-" + number % 2, name));
            this.messages = new SentMessages(name, random, this::plan);
        }

        @Override
        public String toString() {
            return context.caller() + ": " + left + " calls left";
        }

        TaskKey key(String taskId) {
            return new TaskKey(context.scope(), "agent", taskId);
        }

        /** Goes on, be it after a crash in the middle of a call. */
        void start() {
            Server called = server;
            if (left > 0) {
                called.run(() -> {
                    while (left > 0) {
                        callOnce(called);
                        left--;
                    }
                });
            }
        }

        /** Reads its tasks at another engine than that which gets its messages. */
        void readAt(Server other) {
            int reads = 1 + random.nextInt(8);
            other.run(() -> {
                for (int i = 0; i < reads; i++) {
                    tryTo(other, agent -> {
                        if (!tasks.isEmpty()) {
                            String task = threads.any(tasks);
                            if (random.nextInt(4) == 0) {
                                cancel(agent, task);
                            } else if (random.nextBoolean()) {
                                send(agent, messages.followUp(task), random.nextBoolean());
                            } else if (random.nextBoolean()) {
                                subscribe(agent, task);
                            } else {
                                look(agent, task);
                            }
                        }
                    });
                }
            });
        }

        private void callOnce(Server called) {
            tryTo(called, this::call);
        }

        /** A call, which may be refused or interrupted. */
        private interface Call {
            void to(AgentEndpoint agent) throws InterruptedException;
        }

        private void tryTo(Server called, Call call) {
            boolean mayFail = !quiet;
            try {
                threads.sleep(called.process, Duration.ofMillis(random.nextInt(200)));
                call.to(called.agent);
            } catch (A2AException refusal) {
                requireReason(refusal, mayFail);
            } catch (SimulatedLog.Fault unread) {
                require(Invariant.HEALED, mayFail, "nothing fails for no reason");
            } catch (InterruptedException unexpected) {
                throw new Violation(Invariant.ONE_READ, "callers are not interrupted");
            }
        }

        /** @param mayFail whether the log could fail when the call began */
        private void requireReason(A2AException refusal, boolean mayFail) {
            var error = refusal.error();
            boolean expected = error == A2AError.UNAVAILABLE
                    || error == A2AError.UNSUPPORTED_OPERATION
                    || error == A2AError.TASK_NOT_CANCELABLE
                    || error == A2AError.INTERNAL && peer != null && mayFail // a fault of the log at the other engine
                    || error == A2AError.TASK_NOT_FOUND && !(erased.isEmpty() && disk.removed.isEmpty());
            if (!expected && !(refusal.error() == A2AError.TASK_NOT_FOUND && chaos)) {
                throw new AssertionError("unexpected refusal", refusal);
            }
        }

        private void call(AgentEndpoint agent) throws InterruptedException {
            String known = tasks.isEmpty() ? null : threads.any(tasks);
            switch (random.nextInt(13)) {
                case 0, 1 -> send(agent, messages.fresh(), false);
                case 2 -> send(agent, messages.fresh(), true);
                case 3, 4 -> stream(agent, messages.fresh());
                case 5 -> send(agent, messages.repeated(), random.nextBoolean());
                case 6 -> send(agent, messages.followUp(known), false);
                case 7 -> send(agent, messages.followUp(known), true);
                case 8 -> {
                    if (known != null) {
                        cancel(agent, known);
                    }
                }
                case 9 -> {
                    if (known != null) {
                        subscribe(agent, known);
                    }
                }
                case 10, 11 -> {
                    if (known != null) {
                        agent.call(new CreatePushConfig(null, hook(known)), context);
                    }
                }
                default -> {
                    if (known != null) {
                        look(agent, known);
                    }
                }
            }
        }

        /** Has the agent emit this and that, and end in some way. */
        private String plan() {
            var steps = new ArrayList<String>();
            for (int i = random.nextInt(4); i > 0; i--) {
                steps.add(
                        switch (random.nextInt(5)) {
                            case 0 -> "w";
                            case 1 -> "a";
                            case 2 -> "s50"; // as long as a sender waits for the first word
                            default -> "s" + random.nextInt(400);
                        });
            }
            steps.add(threads.any(
                    peer == null
                            ? List.of("c", "c", "f", "i", "i", "m", "m", "x", "a", "s10")
                            : List.of("c", "f", "i", "i s900 l", "i s900 l", "i s3000 l", "m", "x", "a", "s10")));
            return String.join(" ", steps);
        }

        private SendConfiguration configuration(boolean immediately) {
            PushConfig webhook = random.nextInt(4) > 0 ? null : hook(null);
            return new SendConfiguration(List.of(), webhook, null, immediately);
        }

        private PushConfig hook(@Nullable String taskId) {
            return new PushConfig(null, "hook", taskId, "https://hook-" + messages.count(), null, null);
        }

        private void send(AgentEndpoint agent, Message message, boolean immediately) {
            var send = new SendMessage(null, message, configuration(immediately), Map.of());
            attempts.merge(message.messageId(), 1, Integer::sum);
            SendResult result = agent.call(send, context);
            if (result instanceof Task task) {
                acknowledged(message, task);
                require(
                        Invariant.WEBHOOK_WITH_MESSAGE,
                        attempts.getOrDefault(message.messageId(), 0)
                                        > 1 // one with another webhook may have been admitted first
                                || send.configuration().pushConfig() == null
                                || disk.log
                                        .webhooks()
                                        .find(key(task.id()), "hook")
                                        .isPresent()
                                || isGone(task.id())
                                || chaos && disk.log.find(key(task.id())).isEmpty(),
                        "the webhook of message %s is on disk",
                        message.messageId());
                require(
                        Invariant.ONE_READ,
                        immediately || task.state().isSettled(),
                        "a send waits for its outcome: %s",
                        task.state());
            }
        }

        private void acknowledged(Message message, Task task) {
            seen(task);
            String before = led.put(message.messageId(), task.id());
            require(
                    Invariant.ONE_LIVE_TASK,
                    before == null || before.equals(task.id()) || isGone(before),
                    "message %s leads to one task: %s and %s",
                    message.messageId(),
                    before,
                    task.id());
            if (!tasks.contains(task.id())) {
                tasks.add(task.id());
            }
        }

        /** Nobody sees a task in a state that is not on disk. */
        private void seen(Task task) {
            if (isGone(task.id())) {
                return;
            }
            Task folded = null;
            for (LoggedEvent event : disk.events(key(task.id()))) {
                folded = event.event().applyTo(folded);
                if (folded.equals(task)) {
                    return;
                }
            }
            // Erasures that are under way have not said yet what they erase.
            require(
                    Invariant.DURABLE,
                    folded == null && chaos,
                    "what is seen of task %s is on disk: %s, %s",
                    task.id(),
                    task,
                    folded);
        }

        private void cancel(AgentEndpoint agent, String task) {
            Task canceled = agent.call(CancelTask.of(task), context);
            seen(canceled);
            require(Invariant.DURABLE, canceled.state() == TaskState.CANCELED, "a task that was canceled is");
        }

        /** Reads a task that may be erased at the same time. */
        private void glance(AgentEndpoint agent, String task) {
            try {
                agent.call(GetTask.of(task), context);
            } catch (A2AException | SimulatedLog.Fault refused) {
                // erased, or not readable now
            }
        }

        private void look(AgentEndpoint agent, String task) {
            if (random.nextBoolean()) {
                agent.call(ListTasks.all(), context).tasks().forEach(one -> {
                    require(
                            Invariant.SCOPED,
                            isGone(one.id())
                                    || chaos
                                    || disk.log.find(key(one.id())).isPresent(),
                            "task %s belongs to its reader",
                            one.id());
                    if (!one.artifacts().isEmpty()) {
                        seen(one);
                    }
                });
                return;
            }
            boolean gone = erased.contains(task); // not after the call, in the middle of which it may be erased
            List<LoggedEvent> before = disk.events(key(task));
            Task found = agent.call(GetTask.of(task), context);
            // An engine is not told that another one has erased a task which had ended.
            boolean isPeer = peer != null && agent.equals(peer.agent);
            require(
                    Invariant.ONE_LIVE_TASK,
                    !gone || isPeer && found.state().isTerminal(),
                    "what was erased cannot be read");
            if (!before.isEmpty()) {
                Task old = null;
                for (LoggedEvent event : before) {
                    old = event.event().applyTo(old);
                }
                boolean isNewer =
                        found.history().size() >= requireNonNull(old).history().size()
                                && found.artifacts().size() >= old.artifacts().size()
                                && (found.equals(old) || !old.state().isTerminal());
                require(Invariant.ONE_READ, isNewer, "task %s is read as it was on disk, or later", task);
            }
            seen(found);
        }

        private void stream(AgentEndpoint agent, Message message) throws InterruptedException {
            var send = new SendStreamingMessage(null, message, configuration(false), Map.of());
            attempts.merge(message.messageId(), 1, Integer::sum);
            try (Feed<LoggedEvent> stream = agent.watch(send, context)) {
                read(stream, message, null);
            }
        }

        private void subscribe(AgentEndpoint agent, String task) throws InterruptedException {
            boolean resumed = random.nextBoolean();
            SubscribeToTask subscribe = resumed ? new SubscribeToTask(null, task, 0L) : SubscribeToTask.of(task);
            try (Feed<LoggedEvent> stream = agent.watch(subscribe, context)) {
                read(stream, null, resumed ? task : null);
            }
        }

        /** Reads a stream until it ends, or for a while; {@code task}: from its first event on. */
        private void read(Feed<LoggedEvent> stream, @Nullable Message message, @Nullable String task)
                throws InterruptedException {
            long last = task == null ? -1 : 0;
            String id = task;
            boolean answered = false;
            while (true) {
                List<LoggedEvent> events = stream.next(Duration.ofSeconds(random.nextInt(40)));
                if (events == null) {
                    require(
                            Invariant.ONE_READ,
                            answered || isGone(id),
                            "a stream does not end before its answer: %s",
                            id);
                    return;
                }
                if (events.isEmpty() && random.nextInt(3) == 0) {
                    return;
                }
                for (LoggedEvent event : events) {
                    switch (event.event()) {
                        case Message answer -> answered = true;
                        case Task begun -> {
                            id = begun.id();
                            if (message != null) {
                                acknowledged(message, begun);
                            } else {
                                seen(begun);
                            }
                            answered |= ends(message, begun.state());
                        }
                        case TaskStatusUpdateEvent moved ->
                            answered |= ends(message, moved.status().state());
                        default -> {}
                    }
                    if (id != null && event.sequence() > 0) {
                        requireNext(id, last, event);
                        last = event.sequence();
                    }
                }
            }
        }

        /** True if a stream may end at a state: that of a message also when its task waits for the caller. */
        private static boolean ends(@Nullable Message message, TaskState state) {
            return message == null ? state.isTerminal() : state.isSettled();
        }

        /** A stream has neither gaps nor repetitions, and shows what is on disk. */
        private void requireNext(String task, long last, LoggedEvent event) {
            List<LoggedEvent> written = disk.events(key(task));
            if (written.isEmpty() && (chaos || isGone(task))) {
                return; // erased
            }
            require(
                    Invariant.ONE_READ,
                    event.sequence() > last,
                    "events come in order: %s after %s",
                    event.sequence(),
                    last);
            require(
                    Invariant.DURABLE,
                    event.sequence() <= written.size(),
                    "event %s of task %s is on disk",
                    event.sequence(),
                    task);
            LoggedEvent same = written.get((int) event.sequence() - 1);
            require(
                    Invariant.DURABLE,
                    event.event() instanceof Task || event.event().equals(same.event()),
                    "event %s of task %s is that on disk",
                    event.sequence(),
                    task);
            for (long between = Math.max(last, 0) + 1; last >= 0 && between < event.sequence(); between++) {
                require(
                        Invariant.ONE_READ,
                        !written.get((int) between - 1).event().isPublic(),
                        "event %s of task %s is in the stream",
                        between,
                        task);
            }
        }
    }

    private static final String TWIN = "twin-";

    /** A caller that sends each of its messages to both engines at the same time. */
    private final class Twin {
        private final Caller sender;
        private final List<Message> messages = new ArrayList<>();
        private int atServer;
        private int atPeer;

        Twin(Caller sender) {
            this.sender = sender;
            int count = 1 + random.nextInt(5);
            for (int i = 0; i < count; i++) {
                String plan = threads.any(List.of("c", "f", "s10 c", "s60 c", "w c"));
                messages.add(Message.user(Part.text(plan)).withId(TWIN + sender.context.caller() + "-" + i));
            }
        }

        boolean isDone() {
            return atServer == messages.size() && atPeer == messages.size();
        }

        void start() {
            Server called = server;
            called.run(() -> {
                while (atServer < messages.size()) {
                    send(called, atServer);
                    atServer++;
                }
            });
        }

        void startAtPeer() {
            Server called = requireNonNull(peer);
            called.run(() -> {
                while (atPeer < messages.size()) {
                    send(called, atPeer);
                    atPeer++;
                }
            });
        }

        private void send(Server called, int number) {
            boolean mayFail = !quiet;
            try {
                Duration at = Duration.ofMillis(300L * number + random.nextInt(20));
                threads.sleep(called.process, at.minusNanos(Math.min(threads.now(), at.toNanos())));
                var configuration = new SendConfiguration(List.of(), null, null, true);
                Message message = messages.get(number);
                SendResult result =
                        called.agent.call(new SendMessage(null, message, configuration, Map.of()), sender.context);
                sender.acknowledged(message, (Task) result);
            } catch (A2AException refusal) {
                sender.requireReason(refusal, mayFail);
            } catch (SimulatedLog.Fault unread) {
                require(Invariant.HEALED, mayFail, "nothing fails for no reason");
            } catch (InterruptedException unexpected) {
                throw new Violation(Invariant.ONE_READ, "callers are not interrupted");
            }
        }
    }

    // ---- What holds in the end

    private void checkDisk() {
        for (TaskKey key : disk.tasks()) {
            require(Invariant.ONE_LIVE_TASK, !erased.contains(key.taskId()), "task %s is erased", key.taskId());
            Task task = null;
            for (LoggedEvent event : disk.events(key)) {
                task = event.event().applyTo(task);
            }
            Task ended = requireNonNull(task);
            require(
                    Invariant.WORKED_AT,
                    ended.state().isSettled(),
                    "somebody works at task %s, or it has ended: %s",
                    key.taskId(),
                    ended);
            if (ended.state().isInterrupted()) {
                Message question = ended.history().stream()
                        .filter(message -> message.role() == Role.USER)
                        .reduce((first, second) -> second)
                        .orElseThrow();
                require(
                        Invariant.READ_BEFORE_ASKING,
                        handled.getOrDefault(key.taskId(), Set.of()).contains(question.messageId()),
                        "message %s of task %s was read",
                        question.messageId(),
                        key.taskId());
            }
            if (calm && ended.state() == TaskState.FAILED) {
                checkFailure(key, ended);
            }
            disk.log.webhooks().of(key).forEach(this::checkWebhook);
        }
        require(
                Invariant.WEBHOOK_WITH_MESSAGE,
                disk.log.webhooks().pending().stream()
                        .allMatch(webhook -> disk.log.find(webhook.task()).isPresent()
                                || isGone(webhook.task().taskId())),
                "every webhook belongs to a task");
        require(Invariant.CLOSED, server.working.values().stream().allMatch(count -> count == 0), "no handler runs");
    }

    /** A task that failed because of a stop was worked at, since its last question or its begin. */
    private void checkFailure(TaskKey key, Task failed) {
        Message reason = failed.status().message();
        if (reason == null || !reason.text().startsWith("The server was restarted")) {
            return;
        }
        var messages = new ArrayList<String>();
        for (LoggedEvent event : disk.events(key)) {
            switch (event.event()) {
                case Task begun -> begun.history().forEach(message -> messages.add(message.messageId()));
                case Message message -> messages.add(message.messageId());
                // Messages that came meanwhile are worked at after the question.
                case TaskStatusUpdateEvent moved
                when moved.status().state().isInterrupted() && !messages.isEmpty() -> messages.removeFirst();
                default -> {}
            }
        }
        require(
                Invariant.SUBMITTED,
                messages.stream().anyMatch(handled.getOrDefault(key.taskId(), Set.of())::contains),
                "task %s did not fail before its handler began for one of %s",
                key.taskId(),
                messages);
    }

    private void checkWebhook(Subscription webhook) {
        if (refused.contains(webhook.generation())) {
            return;
        }
        require(
                Invariant.HEALED,
                webhook.deadSince() == null,
                "a webhook is given up only for what its receiver says: %s",
                webhook);
        Set<Long> heard = told.getOrDefault(webhook.generation(), Set.of());
        for (LoggedEvent event : disk.events(webhook.task())) {
            require(
                    Invariant.ONE_READ,
                    event.sequence() <= webhook.delivered(),
                    "webhook %s is told of everything: %s of %s",
                    webhook.config().url(),
                    webhook.delivered(),
                    event.sequence());
        }
        long last = disk.events(webhook.task()).size();
        require(
                Invariant.ONE_READ,
                heard.contains(last) || heard.isEmpty() && webhook.attempts() == 0,
                "webhook %s heard of the last event",
                webhook);
    }
}
