package dev.parley.engine.tasks;

import dev.parley.engine.spi.Space;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.TaskEvent;
import java.util.List;

/** Space that a task has reserved in the quota of its group. Guarded by the lock of the task. */
final class ReservedSpace {
    private final Space space;
    /** Reserved bytes of the pending events. */
    private long pending;
    /** Reserved bytes of events that are yet to be emitted. */
    private long ahead;

    ReservedSpace(Space space) {
        this.space = space;
    }

    boolean isLimited() {
        return space.isLimited();
    }

    /**
     * Reserves space for events that are to be emitted.
     *
     * @throws A2AException QUOTA_EXCEEDED if they do not fit; nothing is reserved then
     */
    void take(long bytes) {
        space.take(bytes);
        ahead += bytes;
    }

    /** Releases the space reserved for events that the task does not emit. */
    void giveBack() {
        giveBack(ahead);
        ahead = 0;
    }

    /** Assigns the reserved space to pending events; takes more if it does not suffice. */
    void use(List<TaskEvent> events) {
        if (space.isLimited()) {
            long bytes = StoredSize.of(events);
            long ofReserved = Math.min(bytes, ahead);
            ahead -= ofReserved;
            space.force(bytes - ofReserved);
            pending += bytes;
        }
    }

    /** Returns the space of the pending events, which are pending no longer. */
    long passOn() {
        long bytes = pending;
        pending = 0;
        return bytes;
    }

    /** Gives back the space of events that were passed on. */
    void giveBack(long bytes) {
        if (bytes > 0) {
            space.giveBack(bytes);
        }
    }
}
