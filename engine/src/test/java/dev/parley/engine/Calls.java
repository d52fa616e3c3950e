package dev.parley.engine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.protocol.AgentEndpoint;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.Feed;
import dev.parley.protocol.LoggedEvent;
import dev.parley.protocol.Message;
import dev.parley.protocol.Operation.GetTask;
import dev.parley.protocol.Operation.SendConfiguration;
import dev.parley.protocol.Operation.SendMessage;
import dev.parley.protocol.Operation.SubscribeToTask;
import dev.parley.protocol.Part;
import dev.parley.protocol.Task;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;

/** Calls of agents that several tests make, all by Alice, and their waits. */
public final class Calls {
    static final CallContext ALICE = CallContext.of("alice", new CallContext.Scope("t1", "alice"));

    private Calls() {}

    /**
     * Waits until a condition holds, which nothing announces; fails after 30 s, and when the thread is interrupted. The testkit has
     * more of the kind ({@code Eventually}), but depends on this module.
     */
    public static void awaitUntil(String awaited, BooleanSupplier condition) {
        long end = System.nanoTime() + Duration.ofSeconds(30).toNanos();
        while (!condition.getAsBoolean()) {
            if (Thread.currentThread().isInterrupted() || System.nanoTime() - end > 0) {
                throw new AssertionError(awaited + ": not within 30 s, or interrupted");
            }
            LockSupport.parkNanos(1_000_000);
        }
    }

    /** Sends a message that begins a task, and waits for no outcome. */
    static Task sendImmediately(AgentEndpoint agent, String text) {
        return sendImmediately(agent, Message.user(Part.text(text)));
    }

    /** Sends a message, and waits for no outcome. */
    static Task sendImmediately(AgentEndpoint agent, Message message) {
        var configuration = new SendConfiguration(List.of(), null, null, true);
        return (Task) agent.call(new SendMessage(null, message, configuration, Map.of()), ALICE);
    }

    /** Waits until the task ends. */
    static Task await(AgentEndpoint agent, String id) {
        try (Feed<LoggedEvent> stream = agent.watch(new SubscribeToTask(null, id, 0L), ALICE)) {
            drain(stream);
        } catch (InterruptedException stopped) {
            throw new IllegalStateException(stopped);
        }
        return agent.call(GetTask.of(id), ALICE);
    }

    /** Reads a stream to its end. */
    static List<LoggedEvent> drain(Feed<LoggedEvent> stream) throws InterruptedException {
        var all = new ArrayList<LoggedEvent>();
        for (var some = stream.next(Duration.ofSeconds(30)); some != null; some = stream.next(Duration.ofSeconds(30))) {
            assertThat(some).as("events within 30 s, after %s", all).isNotEmpty();
            all.addAll(some);
        }
        return all;
    }
}
