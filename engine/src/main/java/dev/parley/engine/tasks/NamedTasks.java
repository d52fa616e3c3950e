package dev.parley.engine.tasks;

import dev.parley.engine.spi.TaskLog;
import dev.parley.engine.spi.TaskLog.Naming;
import dev.parley.engine.spi.TaskLog.TaskKey;
import dev.parley.engine.spi.TaskLog.TaskName;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.Message;
import dev.parley.protocol.Operation.Send;
import dev.parley.protocol.Task;
import dev.parley.protocol.support.Ids;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Names that callers of 0.1 and the Agentic Kernel give to their tasks, in front of the admission of messages. A name belongs to the task
 * until it has ended and another one begins under the name. Safe for any thread.
 *
 * <p>The segment that creates a task gives it its name, and repeated messages are recognised before: see ADR 29.
 */
public final class NamedTasks {
    /**
     * The task that a message is for.
     *
     * @param send the message, without the name
     * @param begins whether the task begins with it
     */
    public record Meant(Pin pin, Send send, boolean begins) {}

    private final TaskLog log;
    private final Tasks tasks;
    /** Tasks that are getting a name, until the log has it. */
    private final ConcurrentHashMap<TaskName, LiveTask> naming = new ConcurrentHashMap<>();

    public NamedTasks(TaskLog log, Tasks tasks) {
        this.log = log;
        this.tasks = tasks;
    }

    /**
     * Returns the task that a caller means by an id: the newest one of that name, or the one with that id. The same in every dialect,
     * so that an id that a caller of 0.1 goes on with does not lead another one to the task before it.
     */
    public TaskKey key(CallContext context, String agent, String taskId) {
        var name = new TaskName(context.scope(), agent, taskId);
        return key(context, name, context.literalIds() ? null : holder(name));
    }

    private @Nullable String holder(TaskName name) {
        return log.taskNamed(name).orElse(null);
    }

    private static TaskKey key(CallContext context, TaskName name, @Nullable String holder) {
        return new TaskKey(
                context.scope(), name.agent(), holder == null || context.literalIds() ? name.name() : holder);
    }

    /**
     * Returns the task of a name. If there is none, or it has ended, another one begins, which then has the name; it refers to the
     * one that had it.
     *
     * @param beginning a task that would begin with a message, not visible yet; if it does not come to be, its caller calls {@link
     *     #settled}
     */
    public Meant meant(Send send, CallContext context, TaskName name, Function<Message, Pin> beginning) {
        Message message = send.message();
        while (true) {
            awaitName(name, context);
            String holder = holder(name);
            TaskKey meant = key(context, name, holder);
            boolean known = !meant.taskId().equals(name.name()) || Ids.madeAt(name.name()) != null;
            Pin present = known ? tasks.live().pin(meant) : null; // most names are new: nothing to look up twice
            Task task = present == null ? null : present.task().ahead();
            if (present != null && task != null && !task.state().isTerminal()) {
                return new Meant(present, send.with(message.in(null, null)), false);
            }
            Message first = message.in(message.contextId(), null);
            if (present != null) {
                first = message.in(present.task().contextId(), null).referringTo(meant.taskId());
                present.close();
            }
            Pin fresh = beginning.apply(first);
            if (naming.putIfAbsent(name, fresh.task()) == null) {
                if (!Objects.equals(holder(name), holder)) {
                    // Another task got the name, and was settled, since it was looked up.
                    naming.remove(name, fresh.task());
                    fresh.close();
                    continue;
                }
                fresh.task().named(new Naming(name, holder));
                return new Meant(fresh, send.with(first), true);
            }
            fresh.close();
        }
    }

    /** Waits until the log knows the task that has just got this name, or there is no such task after all. */
    private void awaitName(TaskName name, CallContext context) {
        LiveTask live = naming.get(name);
        if (live == null) {
            return;
        }
        try {
            if (live.await(0, task -> true, tasks.patience(context)) == null) {
                throw A2AException.unavailable("Task " + name.name() + " has not begun yet", Duration.ofSeconds(1));
            }
        } catch (InterruptedException stopped) {
            Thread.currentThread().interrupt();
            throw Refused.stopping();
        } catch (A2AException refused) {
            if (live.isBroken()) {
                naming.remove(name, live); // the log does not get it
            }
            throw refused;
        }
        // Not before: a caller that has given up waiting must not let another task take the name of one that is yet to
        // begin.
        naming.remove(name, live);
    }

    /** Forgets the name that a task was getting, if any. */
    public void settled(LiveTask live, @Nullable Naming getting) {
        if (getting != null) {
            settled(live, List.of(getting.name()));
        }
    }

    /** Forgets names that a task was getting: the log has them, or will not get them. */
    public void settled(LiveTask live, List<TaskName> names) {
        names.forEach(name -> naming.remove(name, live));
    }
}
