package dev.parley.engine.tasks;

import dev.parley.engine.spi.PushStore.Subscription;
import dev.parley.engine.spi.TaskLog.Cause;
import dev.parley.engine.spi.TaskLog.Head;
import dev.parley.engine.spi.TaskLog.MessageKey;
import dev.parley.engine.spi.TaskLog.Naming;
import dev.parley.engine.spi.TaskLog.Segment;
import dev.parley.engine.spi.TaskLog.TaskName;
import dev.parley.protocol.LoggedEvent;
import dev.parley.protocol.TaskState;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The next segment of a task for the log. Guarded by the lock of the task, except for its name. */
final class Draft {
    static final int MAX_EVENTS = 4_096;
    private static final int MAX_BYTES = 4 << 20;

    private List<LoggedEvent> events = new ArrayList<>();
    private int bytes;
    private List<MessageKey> messages = new ArrayList<>();
    private List<Subscription> webhooks = new ArrayList<>();
    private volatile @Nullable Naming name;

    boolean isFull() {
        return events.size() >= MAX_EVENTS || bytes >= MAX_BYTES;
    }

    boolean isEmpty() {
        return events.isEmpty();
    }

    void add(LoggedEvent event, int weight) {
        events.add(event);
        bytes += weight;
    }

    /** Has the segment say that a message led to the task. */
    void add(MessageKey message) {
        messages.add(message);
    }

    void add(Subscription webhook) {
        webhooks.add(webhook);
    }

    /** Has the segment say what callers call the task. */
    void name(@Nullable Naming called) {
        name = called;
    }

    @Nullable
    Naming name() {
        return name;
    }

    List<MessageKey> messages() {
        return messages;
    }

    /**
     * Returns the segment, and begins the next one.
     *
     * @param before state of the task before it; null if it is the first
     */
    Segment take(Head head, Cause cause, @Nullable TaskState before) {
        var segment = new Segment(head, events, messages, name, cause, webhooks, before);
        drop();
        return segment;
    }

    static List<TaskName> namesIn(@Nullable Naming naming) {
        return naming == null ? List.of() : List.of(naming.name());
    }

    /** Begins anew. */
    void drop() {
        events = new ArrayList<>();
        bytes = 0;
        messages = new ArrayList<>();
        webhooks = new ArrayList<>();
        name = null;
    }
}
