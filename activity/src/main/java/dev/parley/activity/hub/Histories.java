package dev.parley.activity.hub;

import dev.parley.activity.ActivityOperation.EventView;
import dev.parley.activity.ActivityOperation.History;
import dev.parley.activity.ActivityOperation.ReadHistory;
import dev.parley.activity.ActivityOperation.TaskView;
import dev.parley.dialect.Json;
import dev.parley.engine.spi.DamagedTaskException;
import dev.parley.engine.spi.TaskLog.Cause;
import dev.parley.engine.spi.TaskLog.Head;
import dev.parley.engine.spi.TaskLog.Listed;
import dev.parley.extension.HubParts;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.LoggedEvent;
import dev.parley.protocol.Task;
import dev.parley.protocol.TaskEvent;
import dev.parley.protocol.TaskStatusUpdateEvent;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Histories of tasks. Safe for any thread. */
final class Histories {
    private static final Duration PATIENCE = Duration.ofSeconds(10);
    private static final int DEFAULT_EVENTS = 100;

    /** Bytes of events after which a page ends. */
    private static final int MOST_BYTES = 1 << 20;

    private final HubParts hub;
    private final TaskViews views;

    Histories(HubParts hub, TaskViews views) {
        this.hub = hub;
        this.views = views;
    }

    History read(ReadHistory read, CallContext caller) {
        Sight sight = Sight.of(hub.agents(), caller, read.reach());
        String group = sight.group();
        if (group == null) {
            throw A2AException.invalidParams("group", "* (expected: the group of the task)");
        }
        return hub.database()
                .scan(
                        sight.payer(),
                        PATIENCE,
                        () -> hub.tasks()
                                .find(group, read.taskId())
                                .filter(head -> sight.sees(
                                        head.key().scope(), head.key().agent()))
                                .map(head -> history(head, read))
                                .orElseThrow(() -> A2AException.taskNotFound(read.taskId())));
    }

    private History history(Head head, ReadHistory read) {
        int limit = read.limit() == null ? DEFAULT_EVENTS : read.limit();
        Optional<Cause> cause = hub.tasks().cause(head.key());
        TaskView task = views.of(new Listed(head, cause.map(Cause::caller).orElse("")), false);
        NavigableMap<Long, Instant> times = hub.tasks().times(head.key(), read.after() + 1, limit + 1);
        List<LoggedEvent> logged;
        try {
            logged = logged(head, read.after(), limit, times);
        } catch (DamagedTaskException damaged) {
            return damaged(head, task, read.after() + 1, times);
        }
        var events = new ArrayList<EventView>();
        Instant before = task.created() == null ? head.statusTime() : task.created();
        int bytes = 0;
        for (LoggedEvent each : logged) {
            if (bytes >= MOST_BYTES) {
                break;
            }
            byte[] json = Json.writeEvent(each.event());
            bytes += json.length;
            Instant at = at(each, times, before);
            events.add(new EventView(each.sequence(), at, members(json)));
            before = at;
        }
        long last = events.isEmpty() ? read.after() : events.getLast().number();
        return new History(task, events, last < head.lastSequence() && !events.isEmpty() ? (Long) last : null);
    }

    /** Events after a number: those of a whole page, or of the first segment if one after it cannot be read. */
    private List<LoggedEvent> logged(Head head, long after, int limit, NavigableMap<Long, Instant> times) {
        try {
            return hub.tasks().read(head.key(), after, limit, MOST_BYTES);
        } catch (DamagedTaskException damaged) {
            Long next = times.higherKey(after + 1);
            if (next == null || next - after > limit) {
                throw damaged;
            }
            return hub.tasks().read(head.key(), after, Math.toIntExact(next - after - 1), MOST_BYTES);
        }
    }

    /** A page with an event that cannot be read, in the place of all of its segment. */
    private static History damaged(Head head, TaskView task, long number, NavigableMap<Long, Instant> times) {
        Map.Entry<Long, Instant> written = times.floorEntry(number);
        var members = new LinkedHashMap<String, @Nullable Object>();
        members.put(EventView.DAMAGED, true);
        Instant at = written == null ? head.statusTime() : written.getValue();
        Long next = times.higherKey(number);
        return new History(task, List.of(new EventView(number, at, members)), next == null ? null : (Long) (next - 1));
    }

    /** When an event was written; otherwise the time of its status, or of the event before. */
    private static Instant at(LoggedEvent event, NavigableMap<Long, Instant> times, Instant before) {
        Map.Entry<Long, Instant> written = times.floorEntry(event.sequence());
        if (written != null) {
            return written.getValue();
        }
        Instant status = status(event.event());
        return status == null ? before : status;
    }

    private static @Nullable Instant status(TaskEvent event) {
        return switch (event) {
            case Task task -> task.status().timestamp();
            case TaskStatusUpdateEvent update -> update.status().timestamp();
            default -> null;
        };
    }

    @SuppressWarnings("unchecked") // an object of JSON
    private static Map<String, @Nullable Object> members(byte[] json) {
        return (Map<String, @Nullable Object>) Json.read(json, Map.class);
    }
}
