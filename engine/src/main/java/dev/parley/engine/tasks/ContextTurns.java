package dev.parley.engine.tasks;

import static java.util.Objects.requireNonNull;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import dev.parley.engine.spi.TaskLog;
import dev.parley.engine.spi.TaskLog.Head;
import dev.parley.engine.spi.TaskLog.TaskKey;
import dev.parley.protocol.A2AError;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.CallContext.Scope;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Number of messages of each context. It is read from the log for a context that is not in memory;
 * messages that were answered without a task are counted in memory only. Safe for any thread.
 */
public final class ContextTurns {
    private static final int MOST_CONTEXTS = 20_000;

    private record Context(Scope scope, String agent, String contextId) {}

    private final Cache<Context, AtomicInteger> taken = Caffeine.newBuilder()
            .maximumSize(MOST_CONTEXTS)
            .executor(Runnable::run)
            .build();
    private final TaskLog log;
    private final int limit;

    public ContextTurns(TaskLog log, int limit) {
        this.log = log;
        this.limit = limit;
    }

    /** @throws A2AException UNSUPPORTED_OPERATION if the context has had all its turns */
    public void take(TaskKey task, String contextId) {
        int before = of(task, contextId).getAndUpdate(turns -> Math.min(turns + 1, limit));
        if (before >= limit) {
            throw A2AException.of(
                    A2AError.UNSUPPORTED_OPERATION,
                    "The context has had " + before + " messages (expected: at most " + limit
                            + "): send the message without naming a context or a task to begin another",
                    Map.of("contextId", contextId));
        }
    }

    /** Says that a message that took its turn was refused after all: the log has none of it. */
    public void giveBack(TaskKey task, String contextId) {
        AtomicInteger known = taken.getIfPresent(new Context(task.scope(), task.agent(), contextId));
        if (known != null) {
            known.decrementAndGet();
        }
    }

    private AtomicInteger of(TaskKey task, String contextId) {
        return requireNonNull(taken.get(
                new Context(task.scope(), task.agent(), contextId),
                context -> new AtomicInteger(log.turns(context.scope(), context.agent(), context.contextId()))));
    }

    /** Has the log asked anew about the contexts of tasks that are gone. */
    public void forget(List<Head> gone) {
        gone.forEach(head ->
                taken.invalidate(new Context(head.key().scope(), head.key().agent(), head.contextId())));
    }
}
