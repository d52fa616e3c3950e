package dev.parley.engine.tasks;

import dev.parley.protocol.LoggedEvent;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** The newest events of a task in memory, for its readers. Guarded by the lock of the task. */
final class Tail {
    /** Number of events, unless the only reader has read them. */
    private static final int SIZE = 1_024;

    private final ArrayDeque<LoggedEvent> events = new ArrayDeque<>();
    /** Open readers that have looked for events. */
    private final Set<Object> readers = new HashSet<>(2);

    void add(List<LoggedEvent> more) {
        for (LoggedEvent event : more) {
            if (events.size() == SIZE) {
                events.removeFirst();
            }
            events.addLast(event);
        }
    }

    void enter(Object reader) {
        readers.add(reader);
    }

    void leave(Object reader) {
        readers.remove(reader);
    }

    /** Returns the events after a position; null if they are no longer here. */
    @Nullable
    List<LoggedEvent> after(long position) {
        LoggedEvent oldest = events.peekFirst();
        if (oldest == null || oldest.sequence() > Math.max(position, 0) + 1) {
            return null;
        }
        var later = new ArrayList<LoggedEvent>(
                (int) Math.min(events.size(), events.getLast().sequence() - Math.max(position, 0)));
        var newestFirst = events.descendingIterator();
        while (newestFirst.hasNext()) {
            LoggedEvent event = newestFirst.next();
            if (event.sequence() <= position) {
                break;
            }
            later.add(event);
        }
        if (readers.size() == 1) {
            events.clear(); // later readers find them in the log
        }
        return later.reversed();
    }
}
