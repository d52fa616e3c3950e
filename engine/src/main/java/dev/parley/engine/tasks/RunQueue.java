package dev.parley.engine.tasks;

import dev.parley.engine.scheduling.Guarded;
import dev.parley.protocol.Task;
import dev.parley.protocol.TaskEvent;
import dev.parley.protocol.TaskState;
import dev.parley.protocol.TaskStatus;
import dev.parley.protocol.TaskStatusUpdateEvent;
import java.util.ArrayDeque;
import java.util.Map;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/** The runs of a task, one after the other: each reads a message. Safe for any thread. */
public final class RunQueue {
    private final LiveTask task;
    private final ReentrantLock lock;
    private final ArrayDeque<Run> mailbox = new ArrayDeque<>();
    private volatile @Nullable Run run;
    /** True while the task is yet to be taken up: its runs wait. */
    private boolean held;

    private volatile long epoch;

    /** A call of the agent for a task. */
    public interface Run {
        /** Tells the handler that its task has been canceled. */
        void cancel();

        /** Interrupts the handler, if it runs. */
        void interrupt();

        /** Gives the run the {@linkplain RunQueue#epoch epoch} of its task. It writes in no other one. */
        void enters(long epoch);
    }

    /**
     * @param lock of the task
     * @param held whether the task is yet to be taken up
     */
    RunQueue(LiveTask task, ReentrantLock lock, boolean held) {
        this.task = task;
        this.lock = lock;
        this.held = held;
    }

    /** Lets {@code next} begin, if nothing runs; else it begins when what runs is done. Says which. */
    public boolean enter(Run next) {
        return Guarded.by(lock, () -> {
            next.enters(epoch);
            if (run != null || held) {
                mailbox.add(next);
                return false;
            }
            run = next;
            return true;
        });
    }

    /** Changes when another engine has written to the task. Runs of an earlier epoch write nothing. Takes no lock. */
    public long epoch() {
        return epoch;
    }

    /** Begins a new epoch, and returns the run that goes on; null if there is none. Called under the lock of the task. */
    @Nullable
    Run supersede() {
        long epochs = epoch;
        epoch = epochs + 1;
        return run;
    }

    /** The next message is there already: on disk the task must not wait for its caller, or a crash would lose it. */
    static TaskEvent goesOn(Task waiting) {
        var status = new TaskStatus(TaskState.WORKING, null, waiting.status().timestamp());
        return new TaskStatusUpdateEvent(waiting.id(), waiting.contextId(), status, Map.of());
    }

    /**
     * Has runs wait until the task is taken up; false if one goes on.
     *
     * @param isWritten whether all events of the task are on disk: the last run may have ended it, or asked, by those that are not
     */
    boolean hold(boolean isWritten) {
        return Guarded.by(lock, () -> {
            held |= isWritten && run == null;
            return held;
        });
    }

    /** The run that goes on, or waits for a slot; null if there is none. */
    public @Nullable Run current() {
        return run;
    }

    /** True if a run waits for the one that goes on. */
    public boolean hasMail() {
        return Guarded.by(lock, () -> !mailbox.isEmpty());
    }

    /**
     * Ends the run that went on, and returns the one that begins now; null if there is none. Until its agent {@linkplain #reads
     * reads} its message, this counts as mail.
     */
    public @Nullable Run leave() {
        lock.lock();
        try {
            Task ahead = task.ahead();
            if (task.isBroken() || ahead != null && ahead.state().isTerminal()) {
                mailbox.clear();
            }
            run = mailbox.peek();
            return run;
        } finally {
            lock.unlock();
        }
    }

    /**
     * Lets the runs of a task that was to be taken up begin, and returns the one that does; null if there is none.
     *
     * @param first the run before those of waiting messages; null for none
     */
    public @Nullable Run resume(@Nullable Run first) {
        lock.lock();
        try {
            held = false;
            if (first == null) {
                return leave();
            }
            first.enters(epoch);
            run = first;
            return first;
        } finally {
            lock.unlock();
        }
    }

    /** Has runs wait again: the task could not be resumed, and none of its runs has begun. */
    public void holdAgain() {
        Guarded.change(lock, () -> {
            run = null;
            held = true;
        });
    }

    /** Says that the task has left the state in which {@code reader} found it, which was no answer to its message. */
    public void reads(Run reader) {
        Guarded.change(lock, () -> mailbox.remove(reader));
    }

    /** True if {@code state} is what the task's caller waits for: its end, or a question with no message left to read. */
    public boolean isSettled(TaskState state) {
        if (state.isTerminal()) {
            return true;
        }
        return Guarded.by(lock, () -> {
            Task ahead = task.ahead();
            return state.isInterrupted()
                    && mailbox.isEmpty()
                    && ahead != null
                    && ahead.state().isInterrupted();
        });
    }
}
