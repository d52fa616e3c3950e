package dev.parley.store.tasks;

import dev.parley.engine.spi.KeyTakenException;
import dev.parley.engine.spi.Once;
import dev.parley.engine.spi.TaskLog.Claim;
import dev.parley.engine.spi.TaskLog.MessageKey;
import dev.parley.engine.spi.TaskLog.Naming;
import dev.parley.engine.spi.TaskLog.Segment;
import dev.parley.store.database.Database;
import dev.parley.store.database.DatabaseSession;
import dev.parley.store.database.Work;
import dev.parley.store.tasks.TaskOwners.TaskOwner;
import dev.parley.store.tasks.TaskRows.Keys;
import dev.parley.store.tasks.TaskRows.MessageRow;
import dev.parley.store.tasks.TaskRows.RowUser;
import java.sql.SQLException;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;

/**
 * Claims of tasks that are about to begin: keys in the table of messages that lead to a task before it exists. The claim of a name is
 * that of its move from the task before, by a key that no message can have. Safe for any thread.
 */
final class TaskClaims {
    private static final long DAY_MS = TimeUnit.DAYS.toMillis(1);

    /** So close to midnight a key is written for both days if other hubs write, too: one may have the other day, by an older reading. */
    private static final long MIDNIGHT_MS = TimeUnit.SECONDS.toMillis(60);

    /** Begins and separates keys that are no ids of messages, which do not have the character. */
    private static final char OF_NAMES = '\0';

    /** A key of a lane. */
    private record OwnedId(TaskOwner lane, String id) {}

    private final Database database;
    private final TaskOwners lanes;
    private final TaskRows rows;
    private final TaskKeys seen;
    private final InstantSource clock;
    /** Decides the day of a key, for all hubs. */
    private final InstantSource days;

    private final long midnightMs;
    /** Tasks of this log that are yet to begin, by their keys. */
    private final ConcurrentHashMap<OwnedId, String> inProgress = new ConcurrentHashMap<>();

    /** @param clock decides how old a key is */
    TaskClaims(Database database, TaskOwners lanes, TaskRows rows, TaskKeys seen, InstantSource clock, Once once) {
        this.database = database;
        this.lanes = lanes;
        this.rows = rows;
        this.seen = seen;
        this.clock = clock;
        this.days = database.access().clock(clock);
        this.midnightMs = once == Once.CLAIM ? MIDNIGHT_MS : 0;
    }

    /** A key in words. */
    static String words(String key) {
        return key.indexOf(OF_NAMES) == 0
                ? "name \"" + key.substring(1, key.indexOf(OF_NAMES, 1)) + "\""
                : "message \"" + key + "\"";
    }

    CompletableFuture<@Nullable Void> claim(Claim claim) {
        var done = new CompletableFuture<@Nullable Void>();
        database.submit(new ClaimWork(claim, done));
        return done;
    }

    private static List<OwnedId> keys(Claim claim) {
        TaskOwner lane = lane(claim.message());
        var keys = new ArrayList<OwnedId>(2);
        keys.add(new OwnedId(lane, claim.message().messageId()));
        Naming naming = claim.naming();
        if (naming != null) {
            keys.add(new OwnedId(lane, move(naming)));
        }
        return keys;
    }

    private static String move(Naming naming) {
        return OF_NAMES + naming.name().name() + OF_NAMES + (naming.before() == null ? "" : naming.before());
    }

    private static TaskOwner lane(MessageKey message) {
        return new TaskOwner(message.scope(), message.agent());
    }

    /** Rows of a key, of one day or of two. */
    private List<MessageRow> keyRows(long lane, String key, String taskId) {
        long now = clock.millis();
        long agreed = days.millis();
        return LongStream.of((agreed - midnightMs) / DAY_MS, agreed / DAY_MS, (agreed + midnightMs) / DAY_MS)
                .distinct()
                .mapToObj(day -> new MessageRow(day, lane, key, taskId, now))
                .toList();
    }

    /** Day by which keys are removed: the earlier one if this hub and the database have different days. */
    long today() {
        return Math.min(clock.millis(), days.millis()) / DAY_MS;
    }

    private void forget(List<OwnedId> keys, String taskId) {
        keys.forEach(key -> inProgress.remove(key, taskId));
    }

    /** A claim on its way to the database. */
    private final class ClaimWork implements Work, RowUser {
        private final Claim claim;
        private final List<OwnedId> keys;
        private final CompletableFuture<@Nullable Void> done;
        private @Nullable RuntimeException taken;

        ClaimWork(Claim claim, CompletableFuture<@Nullable Void> done) {
            this.claim = claim;
            this.keys = keys(claim);
            this.done = done;
        }

        @Override
        public String group() {
            return claim.message().scope().group();
        }

        @Override
        public void write(DatabaseSession session) throws SQLException {
            taken = null;
            String taskId = claim.taskId();
            for (OwnedId key : keys) {
                String other = inProgress.putIfAbsent(key, taskId);
                if (other != null && !other.equals(taskId)) {
                    taken = new KeyTakenException(words(key.id), true);
                    return;
                }
            }
            long lane = lanes.number(session, lane(claim.message()));
            Naming naming = claim.naming();
            if (naming != null && !seen.isAt(session, lane, naming)) {
                taken = new KeyTakenException(words(move(naming)), false);
                return;
            }
            seen.addMessage(days.millis() / DAY_MS, lane, claim.message().messageId());
            List<MessageRow> all = keys.stream()
                    .flatMap(key -> keyRows(lane, key.id, taskId).stream())
                    .toList();
            rows.keys(session, new Keys(all, true, this));
        }

        @Override
        public void refused(RuntimeException cause) {
            taken = cause;
        }

        @Override
        public void committed() {
            if (taken == null) {
                done.complete(null);
            } else {
                failed(taken);
            }
        }

        @Override
        public void failed(Exception cause) {
            forget(keys, claim.taskId());
            done.completeExceptionally(cause);
        }
    }

    /** Removes a claim, unless its task exists: the commit of its first segment may have landed although this hub has not heard of it. */
    void release(Claim claim) {
        List<OwnedId> keys = keys(claim);
        database.submit(new Work() {
            @Override
            public String group() {
                return claim.message().scope().group();
            }

            @Override
            public void write(DatabaseSession session) throws SQLException {
                long now = days.millis();
                long lane = lanes.number(session, lane(claim.message()));
                for (OwnedId key : keys) {
                    // Also of the day before: the claim may be some time old.
                    for (long day = now / DAY_MS - 1; day <= now / DAY_MS + 1; day++) {
                        RivalKey.release(session, new MessageRow(day, lane, key.id, claim.taskId(), now));
                    }
                }
                forget(keys, claim.taskId()); // before the commit: the next claim follows in the same group
            }

            @Override
            public void committed() {}

            @Override
            public void failed(Exception cause) {
                forget(keys, claim.taskId());
            }
        });
    }

    /**
     * Writes the keys of a segment that it has not claimed; tells {@code user} if they lead to another task. Its task must exist before or
     * be written in the same transaction. On the writer thread.
     */
    void write(DatabaseSession session, long lane, Segment segment, RowUser user) throws SQLException {
        String taskId = segment.head().key().taskId();
        var all = new ArrayList<MessageRow>();
        for (MessageKey message : segment.messages()) {
            String claimant =
                    inProgress.isEmpty() ? null : inProgress.get(new OwnedId(lane(message), message.messageId()));
            if (claimant == null) {
                seen.addMessage(days.millis() / DAY_MS, lane, message.messageId());
                all.addAll(keyRows(lane, message.messageId(), taskId));
            } else if (!claimant.equals(taskId)) {
                user.refused(new KeyTakenException(words(message.messageId()), true));
                return;
            }
        }
        if (!all.isEmpty()) {
            rows.keys(session, new Keys(all, false, user));
        }
    }

    /** Says that a segment is on disk: its claims are no more. */
    void written(Segment segment) {
        for (Claim claim : claims(segment)) {
            forget(keys(claim), claim.taskId());
        }
    }

    /** Says that a segment will not be on disk, and gives up its claims. */
    void refused(Segment segment) {
        claims(segment).forEach(this::release);
    }

    private List<Claim> claims(Segment segment) {
        if (inProgress.isEmpty()) {
            return List.of();
        }
        String taskId = segment.head().key().taskId();
        return segment.messages().stream()
                .filter(message -> taskId.equals(inProgress.get(new OwnedId(lane(message), message.messageId()))))
                .map(message -> new Claim(message, taskId, segment.naming()))
                .toList();
    }
}
