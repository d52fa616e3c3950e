package dev.parley.engine.tasks;

import dev.parley.engine.spi.TaskLog.MessageKey;
import dev.parley.engine.spi.TaskLog.Segment;
import dev.parley.engine.spi.TaskLog.TaskName;
import java.util.List;

/** Follows what becomes of the events of tasks. Called on the log's thread; must not block. */
public interface TaskListener {
    /** A segment is on disk. */
    void written(LiveTask live, Segment segment);

    /** Called when the log has refused a segment because of {@code cause}, before any other thread can see that. */
    void refuses(LiveTask live, Segment segment, Exception cause);

    /**
     * The log has refused a segment, and with it all that was emitted after it.
     *
     * @param messages messages that were to be answered for, and now are not
     * @param names names that the task was to get, and now does not
     */
    void refused(LiveTask live, List<MessageKey> messages, List<TaskName> names);
}
