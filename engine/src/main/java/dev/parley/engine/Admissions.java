package dev.parley.engine;

import dev.parley.engine.spi.TaskLog.MessageKey;
import dev.parley.engine.spi.TaskLog.TaskName;
import dev.parley.protocol.Message;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * Messages that were admitted, and names that callers gave to tasks, until the log has them. A message or a name that is sent again
 * meanwhile leads to the same task. Safe for any thread.
 */
final class Admissions {
    /** An admitted message that is not in the log yet, and the task that it leads to. */
    record First(Message message, CompletableFuture<LiveTask> live) {}

    private final ConcurrentHashMap<MessageKey, First> messages = new ConcurrentHashMap<>();
    private final ConcurrentHashMap<TaskName, LiveTask> names = new ConcurrentHashMap<>();

    /** Admits a message and returns null; if one of the same key is here, returns that one instead. */
    @Nullable
    First enter(MessageKey key, First message) {
        return messages.putIfAbsent(key, message);
    }

    /** Forgets a message: the log has it, or nothing of it will be written. */
    void leave(MessageKey key) {
        messages.remove(key);
    }

    /** The task that has got this name, as long as the log does not know it; null for none. */
    @Nullable
    LiveTask named(TaskName name) {
        return names.get(name);
    }

    /** Names a task; false if another task is getting this name. */
    boolean name(TaskName name, LiveTask live) {
        return names.putIfAbsent(name, live) == null;
    }

    /** Forgets the name of a task: the log has it, or will not get it. */
    void forget(TaskName name, LiveTask live) {
        names.remove(name, live);
    }

    /** Forgets messages and names that led to a task: the log has taken them, or refused them. */
    void settled(LiveTask live, List<MessageKey> keys, List<TaskName> given) {
        keys.forEach(messages::remove);
        given.forEach(name -> names.remove(name, live));
    }
}
