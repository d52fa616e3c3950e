package dev.parley.engine.tasks;

import dev.parley.engine.spi.TaskLog.MessageKey;
import dev.parley.protocol.Message;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Future;
import org.jspecify.annotations.Nullable;

/**
 * Messages that were admitted, until the log has them. A message that is sent again meanwhile leads to the same task. Safe for any thread.
 */
public final class Admissions {
    /** An admitted message that is not in the log yet, and the task that it leads to. */
    public record First(Message message, CompletableFuture<LiveTask> live) {
        boolean isRefused() {
            return live.state() == Future.State.SUCCESS && live.resultNow().isBroken();
        }
    }

    private final ConcurrentHashMap<MessageKey, First> messages = new ConcurrentHashMap<>();

    /** Admits a message and returns null; if one of the same key is here, returns that one instead. */
    @Nullable
    public First enter(MessageKey key, First message) {
        return messages.putIfAbsent(key, message);
    }

    /** Forgets a message: the log has it, or nothing of it will be written. */
    public void leave(MessageKey key) {
        messages.remove(key);
    }

    /** Forgets a message if it led to a task that the log has refused. */
    public void leaveRefused(MessageKey key) {
        messages.computeIfPresent(key, (message, first) -> first.isRefused() ? null : first);
    }

    /** Forgets messages that led to a task: the log has taken them, or refused them. */
    public void settled(List<MessageKey> keys) {
        keys.forEach(messages::remove);
    }
}
