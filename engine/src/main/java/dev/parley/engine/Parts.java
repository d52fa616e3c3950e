package dev.parley.engine;

import dev.parley.engine.mail.OwnerMail;
import dev.parley.engine.scheduling.Threads;
import dev.parley.engine.scheduling.TimeLimits;
import dev.parley.engine.spi.ConversationMemory;
import dev.parley.engine.spi.Memories;
import dev.parley.engine.spi.TaskLog;
import dev.parley.engine.spi.TaskLog.TaskKey;
import dev.parley.engine.spi.Tools;
import dev.parley.engine.tasks.Admissions;
import dev.parley.engine.tasks.ContextTurns;
import dev.parley.engine.tasks.NamedTasks;
import dev.parley.engine.tasks.Tasks;
import dev.parley.protocol.AgentEndpoint;
import dev.parley.protocol.TaskEvent.TaskEndedException;
import dev.parley.protocol.TaskState;
import java.time.InstantSource;
import java.util.Map;
import java.util.Optional;
import java.util.function.BiFunction;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The parts of an engine that its agents share.
 *
 * @param webhooks null if webhooks are not supported
 * @param intake called before a message begins a task, which it may refuse
 */
record Parts(
        TaskLog log,
        Time time,
        Work work,
        Services services,
        @Nullable Webhooks webhooks,
        RunObserver observer,
        Runnable intake) {
    /** The clock, the threads of runs and the limits of their times. */
    record Time(InstantSource clock, Threads threads, TimeLimits limits) {}

    /**
     * Tasks, and the order in which messages to them are admitted and run.
     *
     * @param mail for calls about tasks that other engines run
     * @param limits of the length of conversations and tasks
     */
    record Work(
            Tasks tasks,
            Runs runs,
            Admissions admissions,
            NamedTasks names,
            ContextTurns turns,
            OwnerMail mail,
            TaskLimits limits) {}

    /**
     * Services for the handlers of agents.
     *
     * @param extensions operations of extensions, by URI
     * @param tools null for none
     * @param memories of conversations; null for none
     */
    record Services(
            Map<String, Supplier<AgentEndpoint>> extensions,
            @Nullable BiFunction<Request, Reply, Tools> tools,
            @Nullable Memories memories) {}

    /** Operations of an extension that an agent uses; null if it does not use it. */
    @Nullable
    AgentEndpoint extension(Agent agent, String uri) {
        Supplier<AgentEndpoint> operations = services.extensions().get(uri);
        return operations == null || !agent.uses().contains(uri) ? null : operations.get();
    }

    /**
     * The tools of a run.
     *
     * @throws IllegalStateException if there are none
     */
    Tools tools(HandlerRun run) {
        if (services.tools() == null) {
            throw new IllegalStateException(
                    "agent " + run.live().key().agent() + ": no tools (expected: a hub that has some)");
        }
        return services.tools().apply(run, run);
    }

    /** The memory of the conversation of a run; empty if there are no memories. */
    Optional<ConversationMemory> memory(HandlerRun run) {
        if (services.memories() == null) {
            return Optional.empty();
        }
        TaskKey task = run.live().key();
        var key = new Memories.Key(task.scope(), task.agent(), run.contextId());
        BooleanSupplier isWanted =
                () -> !run.isCanceled() && !run.isSuperseded() && !run.live().isBroken();
        return Optional.of(new ConversationMemory(services.memories(), key, isWanted, full -> {
            run.fail(String.valueOf(full.getMessage())); // as for output that does not fit
            throw new TaskEndedException(task.taskId(), TaskState.FAILED);
        }));
    }
}
