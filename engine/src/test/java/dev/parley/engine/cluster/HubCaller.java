package dev.parley.engine.cluster;

import static dev.parley.engine.cluster.HubSimulation.fold;
import static dev.parley.engine.cluster.HubSimulation.require;

import dev.parley.engine.SentMessages;
import dev.parley.engine.SimulatedThreads;
import dev.parley.engine.cluster.History.Violation;
import dev.parley.engine.cluster.Hub.CutException;
import dev.parley.engine.cluster.SimulatedDatabase.Fault;
import dev.parley.engine.spi.TaskLog.MessageKey;
import dev.parley.engine.spi.TaskLog.Subject;
import dev.parley.engine.spi.TaskLog.TaskKey;
import dev.parley.protocol.A2AError;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.LoggedEvent;
import dev.parley.protocol.Message;
import dev.parley.protocol.Operation.CancelTask;
import dev.parley.protocol.Operation.GetTask;
import dev.parley.protocol.Operation.SendConfiguration;
import dev.parley.protocol.Operation.SendMessage;
import dev.parley.protocol.Task;
import dev.parley.protocol.TaskState;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Caller that picks a hub for each call, repeats calls without an answer at another hub, and checks each answer. */
final class HubCaller {
    /** Attempts of a read, a cancellation or an erasure. */
    private static final int ATTEMPTS = 3;

    /** Connections by which a stream is read: it does not end while its task waits for the caller. */
    private static final int CONNECTIONS = 8;

    private final HubSimulation simulation;
    private final SimulatedThreads.Machine outside;
    private final Random random;
    private final CallContext context;
    private final List<String> tasks = new ArrayList<>();
    private final SentMessages messages;
    /** The tasks that acknowledged messages lead to. */
    private final Map<String, String> led = new HashMap<>();

    private final Set<String> erased = new HashSet<>();
    private final Set<String> mayBeErased = new HashSet<>();
    private int left;
    private int streams;
    private int lost;

    HubCaller(HubSimulation simulation, SimulatedThreads.Machine outside, int number) {
        this.simulation = simulation;
        this.outside = outside;
        this.random = simulation.random;
        String name = "caller-" + number;
        this.context = CallContext.of(name, new CallContext.Scope("group-" + number % 2, name));
        this.messages = new SentMessages(name, random, this::plan);
        this.left = 2 + random.nextInt(6);
    }

    CallContext context() {
        return context;
    }

    Set<String> erased() {
        return erased;
    }

    @Override
    public String toString() {
        return context.caller() + ": " + left + " calls left";
    }

    boolean isDone() {
        return left == 0;
    }

    int streams() {
        return streams;
    }

    int lost() {
        return lost;
    }

    TaskKey key(String taskId) {
        return new TaskKey(context.scope(), Hub.AGENT, taskId);
    }

    /** Whether the state of a task cannot be checked: it may be erased, or a failover has lost events of it. */
    boolean isUnknown(String taskId) {
        return mayBeErased.contains(taskId) || simulation.database.tasksThatWentBack.contains(key(taskId));
    }

    void callAll() {
        while (left > 0) {
            simulation.sleep(random.nextInt(1_500));
            callOnce();
            left--;
        }
    }

    private void callOnce() {
        String known = tasks.isEmpty() ? null : simulation.threads.any(tasks);
        switch (random.nextInt(16)) {
            case 0, 1, 2 -> send(messages.fresh());
            case 3, 4 -> sendToAll(messages.fresh());
            case 5 -> send(messages.repeated());
            case 6, 7, 8 -> send(messages.followUp(known));
            case 9 -> sendToAll(messages.followUp(known));
            case 10 -> stream(messages.fresh(), null);
            case 11 -> stream(known == null ? messages.fresh() : null, known);
            case 12 -> {
                if (known != null) {
                    cancel(known);
                }
            }
            case 13, 14 -> {
                if (known != null) {
                    look(known);
                }
            }
            default -> erase();
        }
    }

    // ---- Messages

    private String plan() {
        var steps = new ArrayList<String>();
        for (int i = random.nextInt(5); i > 0; i--) {
            steps.add(
                    switch (random.nextInt(6)) {
                        case 0 -> "w";
                        case 1, 2 -> "a";
                        case 3 -> "s" + random.nextInt(8_000);
                        default -> "s" + random.nextInt(400);
                    });
        }
        steps.add(simulation.threads.any(List.of("c", "c", "c", "f", "i", "i s900 a", "i")));
        return String.join(" ", steps);
    }

    /** Sends a message until a hub acknowledges it or refuses it with a final error. */
    private void send(Message message) {
        boolean isPatient = random.nextBoolean();
        while (true) {
            Hub hub = simulation.threads.any(simulation.hubs);
            try {
                acknowledged(message, sent(hub, message, !isPatient));
                return;
            } catch (A2AException refusal) {
                if (isFinal(refusal, message.taskId(), message)) {
                    return;
                }
            } catch (CutException | Fault again) {
                isPatient = random.nextBoolean();
            }
            simulation.sleep(200 + random.nextInt(1_000));
        }
    }

    private Task sent(Hub hub, Message message, boolean immediately) {
        var configuration = new SendConfiguration(List.of(), null, null, immediately);
        return (Task) hub.call(
                outside, at -> at.agent.call(new SendMessage(null, message, configuration, Map.of()), context));
    }

    /** Sends a message to several hubs at once. */
    private void sendToAll(Message message) {
        int[] waiting = {simulation.hubs.size()};
        for (Hub hub : List.copyOf(simulation.hubs)) {
            outside.start("twin", () -> {
                try {
                    acknowledged(message, sent(hub, message, true));
                } catch (CutException | Fault | A2AException repeatedBelow) {
                    simulation.threads.mayYield();
                } catch (Throwable problem) {
                    simulation.fail(problem);
                }
                waiting[0]--;
            });
        }
        while (waiting[0] > 0) {
            simulation.sleep(500);
        }
        send(message);
    }

    private void acknowledged(Message message, Task task) {
        seen(task);
        String before = led.put(message.messageId(), task.id());
        simulation.history.add(() -> context.caller() + ": " + message.messageId() + " leads to " + task.id());
        require(
                before == null || before.equals(task.id()) || isUnknown(before) || wentBack(message.messageId()),
                "message " + message.messageId() + " leads to one task, and not to " + before + " and " + task.id());
        if (!tasks.contains(task.id())) {
            tasks.add(task.id());
        }
    }

    private boolean wentBack(String messageId) {
        return simulation.database.messagesThatWentBack.contains(new MessageKey(context.scope(), Hub.AGENT, messageId));
    }

    /** Whether a refusal is final. The call is repeated if not; fails if no caller may get this refusal. */
    private boolean isFinal(A2AException refusal, @Nullable String task, @Nullable Message message) {
        var error = refusal.error();
        if (error == A2AError.TASK_NOT_FOUND && message != null && wentBack(message.messageId())) {
            return message.taskId() != null; // a failover has lost the task for which its sender waited
        }
        if (error == A2AError.UNAVAILABLE || error == A2AError.INTERNAL && !simulation.isQuiet()) {
            return false;
        }
        boolean isExpected = error == A2AError.UNSUPPORTED_OPERATION
                || error == A2AError.TASK_NOT_CANCELABLE
                || (error == A2AError.TASK_NOT_FOUND || error == A2AError.INVALID_PARAMS)
                        && task != null
                        && isUnknown(task);
        if (!isExpected) {
            throw new AssertionError("unexpected refusal", refusal);
        }
        return true;
    }

    // ---- Reads

    /** Returns the answer of the first of several hubs; null if each was cut off, or the refusal is final. */
    private <T> @Nullable T attempt(String task, Function<Hub, T> call) {
        for (int i = 0; i < ATTEMPTS; i++) {
            try {
                return simulation.threads.any(simulation.hubs).call(outside, call);
            } catch (A2AException refusal) {
                if (isFinal(refusal, task, null)) {
                    return null;
                }
            } catch (CutException | Fault again) {
                simulation.threads.mayYield();
            }
            simulation.sleep(random.nextInt(2_000));
        }
        return null;
    }

    private void cancel(String task) {
        Task canceled = attempt(task, hub -> hub.agent.call(CancelTask.of(task), context));
        if (canceled != null) {
            seen(canceled);
            require(
                    canceled.state() == TaskState.CANCELED || isUnknown(task),
                    "a task that was canceled is: " + canceled);
        }
    }

    /** Reads a task: as the database had it when the call began, or later, unless its hub waits for the outcome of a commit. */
    private void look(String task) {
        boolean isUnconfirmed = simulation.database.isUnconfirmed(key(task));
        List<LoggedEvent> before = simulation.database.events(key(task));
        Task found = attempt(task, hub -> hub.agent.call(GetTask.of(task), context));
        if (found == null) {
            return;
        }
        require(!erased.contains(task), "task " + task + " is erased, and cannot be read");
        seen(found);
        if (before.isEmpty() || isUnconfirmed || isUnknown(task)) {
            return;
        }
        List<LoggedEvent> now = simulation.database.events(key(task));
        for (int count = before.size(); count <= now.size(); count++) {
            if (fold(now.subList(0, count)).equals(found)) {
                return;
            }
        }
        throw new Violation("task " + task + " is read as it was when the call began, or later, and not as " + found
                + " when it was " + fold(before));
    }

    /** Checks that a task in an answer is a state that the database has or had. */
    private void seen(Task task) {
        Task folded = null;
        for (LoggedEvent event : simulation.database.events(key(task.id()))) {
            folded = event.event().applyTo(folded);
            if (folded.equals(task)) {
                return;
            }
        }
        require(
                isUnknown(task.id()),
                "what is seen of task " + task.id() + " is in the database: " + task + ", and not " + folded);
    }

    // ---- Streams

    /** Reads a stream to its end; continues at any hub when a connection ends. */
    private void stream(@Nullable Message message, @Nullable String task) {
        streams++;
        var reader = new StreamReader(this, simulation, message, task);
        for (int i = 0; i < CONNECTIONS && !reader.isOver(); i++) {
            Hub hub = simulation.threads.any(simulation.hubs);
            try {
                hub.call(outside, reader::readAt);
            } catch (A2AException refusal) {
                if (isFinal(refusal, reader.task(), message)) {
                    return;
                }
            } catch (CutException | Fault cut) {
                simulation.threads.mayYield();
            }
            reader.cut();
            simulation.sleep(random.nextInt(1_000));
        }
    }

    /** Says that a stream has begun with the answer to its message. */
    void begun(Message message, Task task) {
        acknowledged(message, task);
    }

    // ---- Erasure

    private void erase() {
        if (tasks.isEmpty() || random.nextInt(3) > 0) {
            return;
        }
        mayBeErased.addAll(tasks);
        simulation.runs.erased.addAll(tasks);
        var subject = new Subject(context.scope().group(), context.scope().owner(), null);
        var gone = new HashSet<String>();
        for (int i = 0; i < ATTEMPTS; i++) {
            try {
                simulation
                        .threads
                        .any(simulation.hubs)
                        .call(
                                outside,
                                hub -> hub.engine.erase(subject, CallContext.anonymous(), ids -> {
                                    gone.addAll(ids);
                                    mayBeErased.addAll(ids);
                                    simulation.runs.erased.addAll(ids);
                                }));
                erased.addAll(gone);
                simulation.history.add(() -> context.caller() + ": erased " + gone);
                gone.forEach(this::requireGone);
                break;
            } catch (A2AException | CutException | Fault again) {
                simulation.sleep(random.nextInt(2_000));
            }
        }
        tasks.clear();
        messages.clear();
    }

    private void requireGone(String task) {
        for (Hub hub : List.copyOf(simulation.hubs)) {
            try {
                Task found = hub.call(outside, at -> at.agent.call(GetTask.of(task), context));
                require(
                        simulation.database.tasksThatWentBack.contains(key(task)),
                        "no hub shows task " + task + " when its erasure is answered: " + found);
            } catch (A2AException | CutException | Fault refused) {
                simulation.threads.mayYield();
            }
        }
    }

    // ---- What holds in the end

    void check() {
        led.forEach((message, task) -> {
            SimulatedDatabase.MessageRow row = simulation.database.messages.get(
                    new MessageKey(context.scope(), Hub.AGENT, message), simulation.database.newest());
            boolean isThere = row != null && row.taskId().equals(task) && simulation.database.task(key(task)) != null;
            if (!isThere && !mayBeErased.contains(task)) {
                require(
                        wentBack(message) || isUnknown(task),
                        "message " + message + " was acknowledged, and leads to task " + task);
                lost++;
            }
        });
        erased.removeIf(task -> simulation.database.tasksThatWentBack.contains(key(task)));
    }
}
