package dev.parley.mesh.hub;

import dev.parley.engine.Request;
import dev.parley.engine.RunObserver;
import dev.parley.protocol.Task;
import dev.parley.protocol.TaskState;
import dev.parley.protocol.support.Ids;
import dev.parley.store.database.Database;
import dev.parley.store.database.DatabaseSession;
import dev.parley.store.database.Work;
import dev.parley.store.spi.DatabaseKind;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Durations of the last 100 tasks of each skill, from their acceptance to their completion. They are written at most once a second, so a
 * crash loses those of the last second. Hubs that share a database write to places of their own, and read those of all, see {@link
 * SharedDurations}. Safe for any thread.
 */
final class Durations implements RunObserver {
    private static final int KEPT = 100;
    private static final int MOST_SKILLS = 10_000;
    private static final Duration PAUSE = Duration.ofSeconds(1);

    static final String SCHEMA = """
            CREATE TABLE one_duration (
                agent   TEXT NOT NULL,
                skill   TEXT NOT NULL,
                place   INTEGER NOT NULL,
                millis  BIGINT NOT NULL,
                PRIMARY KEY (agent, skill, place)
            );
            """;

    /** Gives the places of a skill to hubs: those of 0 to one that has its database alone, others to a stream. */
    static final String SCHEMA_OF_HUBS = """
            CREATE TABLE one_duration_of_hub (
                agent    TEXT NOT NULL,
                skill    TEXT NOT NULL,
                hub_slot BIGINT NOT NULL,
                place    INTEGER NOT NULL,
                millis   BIGINT NOT NULL,
                PRIMARY KEY (agent, skill, hub_slot, place)
            );
            INSERT INTO one_duration_of_hub (agent, skill, hub_slot, place, millis)
                SELECT agent, skill, 0, place, millis FROM one_duration;
            DROP TABLE one_duration;
            ALTER TABLE one_duration_of_hub RENAME TO one_duration;
            """;

    /** A skill of an agent; empty for tasks that name none. */
    private record Key(String agent, String skill) {}

    /** A ring of durations. Guarded by the class. */
    private static final class Ring {
        private final long[] millis = new long[KEPT];
        private int size;
        private int next;
        /** Places that are not written yet, as of {@code next}. */
        private int unwritten;

        void add(long duration) {
            millis[next] = duration;
            next = (next + 1) % KEPT;
            size = Math.min(KEPT, size + 1);
            unwritten = Math.min(KEPT, unwritten + 1);
        }

        long median() {
            long[] sorted = Arrays.copyOf(millis, size);
            Arrays.sort(sorted);
            return size % 2 == 1 ? sorted[size / 2] : (sorted[size / 2 - 1] + sorted[size / 2]) / 2;
        }
    }

    private record Measured(Key key, int place, long millis) {}

    private final Database database;
    private final @Nullable SharedDurations shared;
    private final long slot;
    private final Map<Key, Ring> rings = new HashMap<>();
    private long writtenAt = System.nanoTime() - PAUSE.toNanos();

    /** @param database with the table of {@link #SCHEMA_OF_HUBS} */
    Durations(Database database) {
        this(database, SharedDurations.LIFETIME);
    }

    /** @param lifetime time for which what was read of all hubs is used */
    Durations(Database database, Duration lifetime) {
        this.database = database;
        if (database.kind() == DatabaseKind.POSTGRESQL) {
            SharedDurations.fold(database);
        }
        if (database.access().feeds().isShared()) {
            shared = new SharedDurations(database, lifetime);
            slot = shared.slot();
        } else {
            shared = null;
            slot = 0;
            read();
        }
    }

    private void read() {
        List<Measured> all = database.read(session -> session.list(
                row -> new Measured(
                        new Key(DatabaseSession.text(row, 1), DatabaseSession.text(row, 2)),
                        row.getInt(3),
                        row.getLong(4)),
                "SELECT agent, skill, place, millis FROM one_duration WHERE hub_slot = 0"
                        + " ORDER BY agent, skill, place"));
        for (Measured measured : all) {
            Ring ring = rings.computeIfAbsent(measured.key(), key -> new Ring());
            ring.next = measured.place() % KEPT;
            ring.add(measured.millis());
            ring.unwritten = 0;
        }
    }

    /** The median of a skill; empty before the first measurement. */
    Optional<Duration> median(String agent, String skill) {
        return shared == null ? ownMedian(agent, skill) : shared.median(agent, skill);
    }

    private synchronized Optional<Duration> ownMedian(String agent, String skill) {
        Ring ring = rings.get(new Key(agent, skill));
        return ring == null ? Optional.empty() : Optional.of(Duration.ofMillis(ring.median()));
    }

    @Override
    public void observe(String agent, Request request, Runnable work) {
        work.run();
        Task task = request.task().orElse(null);
        Instant begun = task == null || task.state() != TaskState.COMPLETED ? null : Ids.madeAt(task.id());
        if (begun != null && !request.isFollowUp()) { // else it has waited for its caller
            add(agent, skill(request), Duration.between(begun, Instant.now()));
        }
    }

    private static String skill(Request request) {
        @Nullable String named = EnvelopeMembers.of(request.message()).skill();
        return named != null ? named : request.message().metadata().get("skillId") instanceof String id ? id : "";
    }

    /** Adds a measurement of a skill; empty for tasks that name none. */
    synchronized void add(String agent, String skill, Duration duration) {
        var key = new Key(agent, skill);
        if (rings.size() < MOST_SKILLS || rings.containsKey(key)) {
            rings.computeIfAbsent(key, any -> new Ring()).add(Math.max(0, duration.toMillis()));
            if (System.nanoTime() - writtenAt >= PAUSE.toNanos()) {
                write();
            }
        }
    }

    /** Submits new durations for writing. */
    synchronized void write() {
        writtenAt = System.nanoTime();
        var changed = new ArrayList<Measured>();
        rings.forEach((key, ring) -> {
            for (; ring.unwritten > 0; ring.unwritten--) {
                int place = Math.floorMod(ring.next - ring.unwritten, KEPT);
                changed.add(new Measured(key, place, ring.millis[place]));
            }
        });
        if (!changed.isEmpty()) {
            database.submit(new Writing(List.copyOf(changed), slot));
        }
    }

    private record Writing(List<Measured> changed, long slot) implements Work {
        @Override
        public void write(DatabaseSession session) throws SQLException {
            for (Measured one : changed) {
                session.update(
                        "INSERT INTO one_duration (agent, skill, hub_slot, place, millis) VALUES (?, ?, ?, ?, ?)"
                                + " ON CONFLICT (agent, skill, hub_slot, place) DO UPDATE SET millis = excluded.millis",
                        one.key().agent(),
                        one.key().skill(),
                        slot,
                        one.place(),
                        one.millis());
            }
        }

        @Override
        public void committed() {}

        @Override
        public void failed(Exception cause) {} // measurements may be lost

        @Override
        public int rows() {
            return changed.size();
        }
    }
}
