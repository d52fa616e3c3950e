package dev.parley.mcp.hub;

import dev.parley.protocol.AgentEndpoint;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.Feed;
import dev.parley.protocol.LoggedEvent;
import dev.parley.protocol.Operation.GetTask;
import dev.parley.protocol.Task;
import dev.parley.protocol.retry.Backoff;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Statuses of a task of an agent elsewhere without streams. A message that waits for its task would keep the id of the task until its end,
 * so that the client could neither get a handle nor cancel; A2A has no other operation that waits. So the task is read after pauses that
 * grow, while a reader waits.
 */
final class PolledTask implements Feed<LoggedEvent> {
    private static final Backoff PAUSES = new Backoff(Duration.ofMillis(100), Duration.ofSeconds(5));

    private final AgentEndpoint agent;
    private final String taskId;
    private final CallContext caller;
    private final CountDownLatch closed = new CountDownLatch(1);
    private int reads;
    private @Nullable Task last;

    PolledTask(AgentEndpoint agent, String taskId, CallContext caller) {
        this.agent = agent;
        this.taskId = taskId;
        this.caller = caller;
    }

    @Override
    public @Nullable List<LoggedEvent> next(Duration patience) throws InterruptedException {
        long end = System.nanoTime() + patience.toNanos();
        Task known = last;
        if (known != null && known.state().isTerminal()) {
            return null;
        }
        for (long left = patience.toNanos(); left > 0; left = end - System.nanoTime()) {
            long pause = PAUSES.bound(reads + 1).toNanos();
            if (closed.await(Math.min(pause, left), TimeUnit.NANOSECONDS)) {
                return null;
            }
            Task task = agent.call(GetTask.of(taskId), caller);
            reads++;
            last = task;
            if (known == null || !known.status().equals(task.status())) {
                reads = 0;
                return List.of(new LoggedEvent(0, task));
            }
        }
        return List.of();
    }

    @Override
    public void close() {
        closed.countDown();
    }
}
