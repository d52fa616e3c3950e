package dev.parley.mesh.hub;

import static java.util.stream.Collectors.toMap;

import dev.parley.mesh.MeshViews.Connection;
import dev.parley.mesh.MeshViews.ConnectionType;
import dev.parley.mesh.MeshViews.DelegationStatus;
import dev.parley.mesh.MeshViews.Entity;
import dev.parley.mesh.MeshViews.EntityType;
import dev.parley.mesh.MeshViews.OntologyType;
import dev.parley.mesh.MeshViews.TaskFacts;
import dev.parley.mesh.hub.Events.Event;
import dev.parley.mesh.hub.Events.Page;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** The events of one group so far, summed up: connections, and how each agent did. Safe for any thread. */
final class GroupSummary {
    private static final int ROWS_AT_ONCE = 1_000;
    private static final Duration LONGEST_READ = Duration.ofSeconds(2);
    private static final int MOST_PAIRS = 10_000;
    private static final int MOST_DELEGATIONS = 10_000;
    private static final double HALF_LIFE_MILLIS = Duration.ofDays(7).toMillis();

    /** Messages from one agent to another. */
    record Pair(String from, String to) {}

    /** Messages of a pair. */
    static final class Traffic {
        private long count;
        private Instant first = Instant.MAX;
        private Instant last = Instant.MIN;

        private void add(Instant at) {
            count++;
            first = at.isBefore(first) ? at : first;
            last = at.isAfter(last) ? at : last;
        }

        Connection connection(String group, Pair pair) {
            return new Connection(
                    group,
                    ConnectionType.COMMUNICATES_WITH,
                    OntologyType.COMMUNICATED,
                    pair.from(),
                    pair.to(),
                    count,
                    null,
                    null,
                    null,
                    first,
                    last,
                    Map.of("protocol", "a2a"));
        }
    }

    /** A task that one agent delegated to another. */
    record Delegated(
            Event event, DelegationStatus status, @Nullable Instant ended) {
        Entity entity() {
            var facts =
                    new TaskFacts(status, event.agent(), event.other(), text("correlationId", ""), event.at(), last());
            return new Entity(
                    text("taskId", ""), event.group(), EntityType.TASK, OntologyType.TASK, null, facts, metadata());
        }

        Connection connection() {
            return new Connection(
                    event.group(),
                    ConnectionType.DELEGATED_TO,
                    OntologyType.DELEGATED,
                    event.other(),
                    event.agent(),
                    null,
                    status,
                    text("taskId", ""),
                    text("correlationId", ""),
                    event.at(),
                    last(),
                    metadata());
        }

        private String text(String name, String otherwise) {
            return Objects.requireNonNullElse(event.metadata(name), otherwise);
        }

        private Instant last() {
            return ended == null ? event.at() : ended;
        }

        private Map<String, String> metadata() {
            return Map.of("protocol", text("protocol", "a2a"));
        }
    }

    /** Ended tasks of an agent. Their weights halve every seven days, so that trust follows what happens now. */
    static final class Outcomes {
        private long completed;
        private long ended;
        private double weight;
        private double success;
        private Instant at = Instant.EPOCH;

        private void add(boolean isCompleted, Instant time) {
            double own = 1;
            if (time.isBefore(at)) { // of another hub, whose events are read later
                own = left(time, at);
            } else {
                double factor = left(at, time);
                weight *= factor;
                success *= factor;
                at = time;
            }
            ended++;
            weight += own;
            if (isCompleted) {
                completed++;
                success += own;
            }
        }

        /** Share of a weight that is left after a time. */
        private static double left(Instant from, Instant to) {
            return Math.pow(0.5, Math.max(0, Duration.between(from, to).toMillis()) / HALF_LIFE_MILLIS);
        }

        /** Share of completed tasks; 1 before the first. */
        double successRate() {
            return ended == 0 ? 1 : (double) completed / ended;
        }

        long ended() {
            return ended;
        }

        /** 0 to 1: the decayed share of completed tasks, as if one had been completed and one failed before; one half without tasks. */
        double trust(Instant now) {
            double factor = left(at, now);
            return (1 + success * factor) / (2 + weight * factor);
        }
    }

    private final Events events;
    private final String group;
    private volatile EventPlace last = EventPlace.BEGINNING;
    private boolean isPartial;
    private final Map<Pair, Traffic> traffic = new LinkedHashMap<>();
    private final Map<String, Outcomes> records = new HashMap<>();

    /** By task, the oldest first; the oldest leave. */
    private final LinkedHashMap<String, Delegated> delegations = new LinkedHashMap<>();

    GroupSummary(Events events, String group) {
        this.events = events;
        this.group = group;
    }

    /** Reads the events since the last time; those of a long past in several calls, so that none exceeds its time limit. */
    void advance() {
        long end = System.nanoTime() + LONGEST_READ.toNanos();
        EventPlace from = last;
        while (!add(from, events.next(group, from, ROWS_AT_ONCE)) && System.nanoTime() - end < 0) {
            from = last;
        }
    }

    /** Adds a page unless another thread has been faster. Returns whether it was added and is the last one. */
    private synchronized boolean add(EventPlace from, Page page) {
        boolean isNext = last.equals(from);
        if (isNext) {
            page.events().forEach(this::add);
            last = page.last();
            isPartial = !page.isLast();
        }
        return isNext && page.isLast();
    }

    private void add(Event event) {
        String task = event.metadata("taskId");
        switch (event.type()) {
            case A2A_MESSAGE_RECEIVED -> count(new Pair(event.actor(), event.agent()), event.at());
            case A2A_MESSAGE_SENT -> count(new Pair(event.agent(), event.other()), event.at());
            case A2A_TASK_DELEGATED -> {
                if (task != null) {
                    Delegated early = delegations.get(task); // its end may have been recorded first
                    delegations.put(
                            task,
                            new Delegated(
                                    event,
                                    early == null ? DelegationStatus.ACCEPTED : early.status(),
                                    early == null ? null : early.ended()));
                    trim();
                }
            }
            case A2A_TASK_COMPLETED -> {
                Delegated before = task == null ? null : delegations.get(task);
                if (task == null || before != null && before.ended() != null) {
                    return; // a message says so: of no task of this hub, or of one whose end was seen
                }
                String word = Objects.requireNonNullElse(event.metadata("status"), "completed");
                var status = DelegationStatus.valueOf(word.toUpperCase(Locale.ROOT));
                records.computeIfAbsent(event.agent(), agent -> new Outcomes())
                        .add(status == DelegationStatus.COMPLETED, event.at());
                delegations.put(task, new Delegated(before == null ? event : before.event(), status, event.at()));
                trim();
            }
        }
    }

    private void trim() {
        if (delegations.size() > MOST_DELEGATIONS) {
            delegations.pollFirstEntry();
        }
    }

    private void count(Pair pair, Instant at) {
        if (traffic.size() < MOST_PAIRS || traffic.containsKey(pair)) {
            traffic.computeIfAbsent(pair, any -> new Traffic()).add(at);
        }
    }

    /** Connections up to the last {@link #advance}, the newest delegations first; of some types, and of one agent unless null. */
    synchronized List<Connection> connections(Set<ConnectionType> types, @Nullable String agent, int limit) {
        var all = new ArrayList<Connection>();
        if (types.contains(ConnectionType.COMMUNICATES_WITH)) {
            traffic.forEach((pair, sum) -> all.add(sum.connection(group, pair)));
        }
        if (types.contains(ConnectionType.DELEGATED_TO)) {
            delegations.reversed().values().forEach(each -> all.add(each.connection()));
        }
        return all.stream()
                .filter(each -> agent == null || agent.equals(each.fromEntityId()) || agent.equals(each.toEntityId()))
                .limit(limit)
                .toList();
    }

    /** Tasks as entities, the newest first; of one agent unless null. */
    synchronized List<Entity> tasks(@Nullable String agent, Set<String> visible, int limit) {
        return delegations.reversed().values().stream()
                .filter(each -> visible.contains(each.event().agent()))
                .filter(each -> agent == null
                        || agent.equals(each.event().agent())
                        || agent.equals(each.event().other()))
                .limit(limit)
                .map(Delegated::entity)
                .toList();
    }

    /** Whether there are events that the sums do not have yet. */
    synchronized boolean isPartial() {
        return isPartial;
    }

    /** Measurements of an agent. */
    record Known(double successRate, double trust, long tasks, long open) {}

    /** Measurements of agents, as of now. */
    synchronized Map<String, Known> of(Set<String> agents) {
        return agents.stream().collect(toMap(agent -> agent, agent -> of(agent)));
    }

    private Known of(String agent) {
        Outcomes record = records.getOrDefault(agent, new Outcomes());
        long open = delegations.values().stream()
                .filter(each -> each.ended() == null && each.event().agent().equals(agent))
                .count();
        return new Known(record.successRate(), record.trust(Instant.now()), record.ended(), open);
    }
}
