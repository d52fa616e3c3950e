package dev.parley.registry.hub;

import dev.parley.engine.Reply;
import dev.parley.engine.Request;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.Artifact;
import dev.parley.protocol.Feed;
import dev.parley.protocol.Part;
import dev.parley.protocol.Task;
import dev.parley.registry.EntryChange;
import dev.parley.registry.HistoryOperation;
import dev.parley.registry.HistoryOperation.WatchChanges;
import dev.parley.registry.store.EntryOperations;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Subscriptions to changes as tasks: a task shows the changes of each moment as its one artifact, so its webhook receives them as
 * notifications, in order, signed and repeated as those of any task. It goes on after a restart.
 */
record ChangeTasks(EntryOperations operations) {
    private static final String ARTIFACT = "changes";
    private static final String AFTER = "after";
    private static final Duration PATIENCE = Duration.ofMinutes(10);

    /** Changes of one artifact, so that a notification stays small. */
    private static final int AT_ONCE = 20;

    /** Artifacts of a task, so that its log is bounded; the next subscription goes on after the last one. */
    private static final int MOST = 10_000;

    void handle(Request request, Reply reply) throws InterruptedException {
        Map<String, @Nullable Object> members = members(request);
        if (members == null) {
            reply.reject("Unknown message (expected: a data part {\"watch\": \"changes\"} with members of a filter)");
            return;
        }
        Object given = members.remove(AFTER);
        WatchChanges watch;
        try {
            watch = HistoryOperation.WATCH.request().fromJson(members);
        } catch (A2AException wrong) {
            reply.reject(String.valueOf(wrong.getMessage()));
            return;
        }
        try (Feed<EntryChange> feed =
                operations.watch(new WatchChanges(watch.filter(), after(request, given)), request.context())) {
            reply.working("Watching changes");
            for (int sent = 0; sent < MOST; ) {
                List<EntryChange> next = feed.next(PATIENCE);
                if (next == null) {
                    throw new InterruptedException("the hub stops; the task goes on after its start");
                }
                for (int from = 0; from < next.size(); from += AT_ONCE) {
                    List<EntryChange> some = next.subList(from, Math.min(next.size(), from + AT_ONCE));
                    long last = some.getLast().number();
                    reply.artifact(new Artifact(
                            ARTIFACT,
                            null,
                            null,
                            List.of(Part.data(Map.of(
                                    ARTIFACT,
                                    some.stream()
                                            .map(HistoryOperation.WATCH.answer()::toJson)
                                            .toList()))),
                            Map.of(AFTER, String.valueOf(last)),
                            List.of()));
                    sent++;
                }
            }
            reply.complete("Subscribe again after the last change");
        }
    }

    /** Members of the request beside {@code watch}; null if the message is not one. */
    private static @Nullable Map<String, @Nullable Object> members(Request request) {
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
                filter.remove("watch");
                return filter;
            }
        }
        return null;
    }

    /** Number after which the task goes on: that of its last artifact, else as the message says, else the newest. */
    private static @Nullable Long after(Request request, @Nullable Object given) {
        Object after = request.task().stream()
                .flatMap(task -> task.artifacts().stream())
                .map(artifact -> artifact.metadata().get(AFTER))
                .reduce(given, (first, last) -> last);
        try {
            long number = after == null ? -1 : Long.parseLong(String.valueOf(after));
            return number < 0 ? null : (Long) number;
        } catch (NumberFormatException foreign) {
            return 0L;
        }
    }
}
