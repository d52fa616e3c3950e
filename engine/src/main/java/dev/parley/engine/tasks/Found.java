package dev.parley.engine.tasks;

import dev.parley.protocol.LoggedEvent;
import java.util.List;

/** Result of reading a task at a position: events, the snapshot, the end, or nothing yet. */
public sealed interface Found {
    record Events(List<LoggedEvent> events) implements Found {}

    /** The events after the position are no longer in memory. */
    record Behind() implements Found {}

    record Nothing() implements Found {}

    record End() implements Found {}
}
