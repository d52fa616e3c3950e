package dev.parley.store.database;

import dev.parley.store.connection.Connector.Opening;
import dev.parley.store.connection.Connector.Use;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/**
 * Ends hubs that are gone. Time passes by the clock of this program here: that of the server may be set. For the thread of the lease, whose
 * connection it uses.
 */
final class HubJudge {
    private static final Logger LOG = System.getLogger("dev.parley.store");

    /** A hub that has not seen the database for so long, or has lost its connection, ends no other one for a lease. */
    private static final Duration BLINDNESS = Duration.ofSeconds(3);

    /** A hub without a beat for so long is gone. */
    private static final Duration LEASE = Duration.ofSeconds(9);

    /** A hub without a beat for so long, and without a connection, is gone. */
    private static final Duration ABSENCE = Duration.ofMillis(1_500);

    /** A hub has so long for a new connection: all may have ended at once, when it had had no beat for some seconds. */
    private static final Duration RECONNECTION = Duration.ofMillis(900);

    /** Other hubs with their beats, and whether they are connected; and hub 0 if a hub that has ended has a stream. */
    private static final String OTHERS = "SELECT hub_no, CAST(beat_at AS TEXT), EXISTS (SELECT 1"
            + PostgresqlSystem.held(PostgresqlSystem.HUB_LOCK, "hub.hub_no") + ") FROM hub WHERE ended_at IS NULL"
            + " AND hub_no <> ? UNION ALL SELECT 0, '', true WHERE EXISTS (SELECT 1 FROM stream WHERE NOT EXISTS"
            + " (SELECT 1 FROM hub WHERE hub.hub_no = stream.hub_no AND ended_at IS NULL))";

    /** Ends a hub that has had no beat since one of a time. */
    private static final String JUDGE =
            "UPDATE hub SET ended_at = clock_timestamp() WHERE hub_no = ? AND ended_at IS NULL"
                    + " AND beat_at = CAST(? AS TIMESTAMPTZ) RETURNING name || ' (number ' || hub_no || ')'";

    /**
     * The beat of another hub.
     *
     * @param since when this hub sees no later one, by {@link System#nanoTime}
     * @param unconnected since when it sees no connection; null if it sees one
     */
    private record Beat(String at, long since, @Nullable Long unconnected) {
        Beat after(@Nullable Beat before) {
            return before == null
                    ? this
                    : new Beat(
                            at,
                            before.at.equals(at) ? before.since : since,
                            before.unconnected == null || unconnected == null ? unconnected : before.unconnected);
        }

        boolean isOver(long now) {
            return unconnected == null
                    ? now - since >= LEASE.toNanos()
                    : now - since >= ABSENCE.toNanos() && now - unconnected >= RECONNECTION.toNanos();
        }
    }

    private final PostgresqlSystem system;
    private final long hub;
    private final Runnable streamsEnded;
    private final Map<Long, Beat> beats = new HashMap<>();
    private long lookedAt = System.nanoTime();
    private long judgesFrom = lookedAt + BLINDNESS.toNanos();

    /** Whether streams of hubs that have ended are being ended, by another thread: that waits for transactions of theirs. */
    private final AtomicBoolean endsStreams = new AtomicBoolean();

    /** @param streamsEnded called when streams of other hubs have been ended */
    HubJudge(PostgresqlSystem system, long hub, Runnable streamsEnded) {
        this.system = system;
        this.hub = hub;
        this.streamsEnded = streamsEnded;
    }

    /** After a start of the server no hub is connected: none is judged for a lease. */
    void lostConnection() {
        beats.clear();
        judgesFrom = System.nanoTime() + LEASE.toNanos();
    }

    /**
     * Looks at the other hubs, and ends those that are gone.
     *
     * @param endsStreams whether their streams are ended, too; if not, the next hub to begin a stream ends them
     */
    void look(DatabaseSession session, boolean endsStreams) throws SQLException {
        long now = System.nanoTime();
        if (now - lookedAt > BLINDNESS.toNanos()) {
            lostConnection();
        }
        boolean isLeft = false;
        var seen = new HashMap<Long, Beat>();
        var gone = new HashMap<Long, Beat>();
        try (ResultSet row = session.bind(OTHERS, hub).executeQuery()) {
            long found = System.nanoTime();
            while (row.next()) {
                long number = row.getLong(1);
                if (number == 0) {
                    isLeft = true;
                    continue;
                }
                boolean isConnected = row.getBoolean(3);
                Beat beat = new Beat(DatabaseSession.text(row, 2), found, isConnected ? null : found)
                        .after(beats.get(number));
                seen.put(number, beat);
                if (beat.isOver(now)) {
                    gone.put(number, beat);
                }
            }
        }
        beats.clear();
        beats.putAll(seen);
        if (now - judgesFrom >= 0) {
            for (Map.Entry<Long, Beat> one : gone.entrySet()) {
                isLeft |= isEnded(session, one.getKey(), one.getValue());
            }
        }
        if (isLeft && endsStreams) {
            endStreams();
        }
        lookedAt = System.nanoTime();
    }

    private static boolean isEnded(DatabaseSession session, long number, Beat beat) throws SQLException {
        return session.first(
                        row -> {
                            LOG.log(Level.WARNING, "hub " + DatabaseSession.text(row, 1) + " is gone, and was ended");
                            return true;
                        },
                        JUDGE,
                        number,
                        beat.at)
                .orElse(false);
    }

    private void endStreams() {
        if (!endsStreams.compareAndSet(false, true)) {
            return;
        }
        Thread.ofPlatform().daemon().name("store-streams").start(() -> {
            var own = new DatabaseSession(new Opening(system, Use.RENEW));
            try {
                own.connection().setAutoCommit(false);
                if (PostgresqlStream.endAll(own, hub)) {
                    streamsEnded.run();
                }
            } catch (SQLException | RuntimeException failure) {
                LOG.log(
                        Level.WARNING,
                        "the stream of a hub that has ended could not be ended; it is tried again",
                        failure);
            } finally {
                own.discard();
                endsStreams.set(false);
            }
        });
    }
}
