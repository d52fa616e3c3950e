package dev.parley.registry.hub;

import dev.parley.engine.Reply;
import dev.parley.engine.Request;
import dev.parley.protocol.Artifact;
import dev.parley.protocol.Feed;
import dev.parley.protocol.InvalidField;
import dev.parley.protocol.Part;
import dev.parley.protocol.Task;
import dev.parley.registry.RegistryProtocol;
import dev.parley.registry.RegistryProtocol.WatchChanges;
import dev.parley.registry.store.EntryOperations;
import dev.parley.registry.store.StoredEntries;
import java.time.Duration;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Subscriptions to changes as tasks: a task shows the changes of each moment as its one artifact, so its webhook receives them as
 * notifications, in order, signed and repeated as those of any task. It goes on after a restart.
 */
final class ChangeTasks {
    private static final String ARTIFACT = "changes";
    private static final String AFTER = "after";
    private static final Duration PATIENCE = Duration.ofMinutes(10);

    /** Changes of one artifact, so that a notification stays small. */
    private static final int AT_ONCE = 20;

    /** Artifacts of a task, so that its log is bounded; the next subscription goes on after the last one. */
    private static final int MOST = 10_000;

    private final StoredEntries entries;

    ChangeTasks(StoredEntries entries) {
        this.entries = entries;
    }

    void handle(Request request, Reply reply) throws InterruptedException {
        Map<String, @Nullable Object> filter = filter(request);
        if (filter == null) {
            reply.reject("Unknown message (expected: a data part {\"watch\": \"changes\"} with members of a filter)");
            return;
        }
        var members = new HashSet<>(filter.keySet());
        members.remove("watch");
        try {
            RegistryProtocol.requireFilter(members);
        } catch (InvalidField unknown) {
            reply.reject(unknown.field() + ": " + unknown.problem());
            return;
        }
        long after = after(request, filter);
        try (Feed<Map<String, Object>> feed =
                EntryOperations.watch(entries, new WatchChanges(filter, after), request.context())) {
            reply.working("Watching changes");
            for (int sent = 0; sent < MOST; ) {
                List<Map<String, Object>> next = feed.next(PATIENCE);
                if (next == null) {
                    throw new InterruptedException("the hub stops; the task goes on after its start");
                }
                for (int from = 0; from < next.size(); from += AT_ONCE) {
                    List<Map<String, Object>> some =
                            List.copyOf(next.subList(from, Math.min(next.size(), from + AT_ONCE)));
                    Object last = some.getLast().get("number");
                    reply.artifact(new Artifact(
                            ARTIFACT,
                            null,
                            null,
                            List.of(Part.data(Map.of(ARTIFACT, some))),
                            Map.of(AFTER, String.valueOf(last)),
                            List.of()));
                    sent++;
                }
            }
            reply.complete("Subscribe again after the last change");
        }
    }

    private static @Nullable Map<String, @Nullable Object> filter(Request request) {
        for (Part part : request.task()
                .map(Task::history)
                .filter(all -> !all.isEmpty())
                .map(List::getFirst)
                .orElse(request.message())
                .parts()) {
            if (part instanceof Part.Data data
                    && data.data() instanceof Map<?, ?> members
                    && ARTIFACT.equals(members.get("watch"))) {
                var filter = new LinkedHashMap<String, @Nullable Object>();
                members.forEach((name, value) -> filter.put(String.valueOf(name), value));
                return filter;
            }
        }
        return null;
    }

    /** Number after which the task goes on: that of its last artifact, else as the message says, else the newest. */
    private static long after(Request request, Map<String, @Nullable Object> filter) {
        Object after = request.task().stream()
                .flatMap(task -> task.artifacts().stream())
                .map(artifact -> artifact.metadata().get(AFTER))
                .reduce(filter.get(AFTER), (first, last) -> last);
        try {
            return after == null ? -1 : Long.parseLong(String.valueOf(after));
        } catch (NumberFormatException foreign) {
            return 0;
        }
    }
}
