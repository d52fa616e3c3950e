package dev.parley.mesh.hub;

import dev.parley.mesh.hub.MessageAnswers.Answer;
import dev.parley.mesh.hub.MessageAnswers.Key;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.support.ChangeCount;
import dev.parley.store.database.Database;
import dev.parley.store.database.DatabaseSession;
import dev.parley.store.database.PostgresqlSystem;
import dev.parley.store.shared.KeyLocks;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Claims of messages that are being handled, of hubs that share a database: a message that comes to two of them is handled by one. The
 * other one waits for the answer, which ends the claim. A claim of a hub that has ended is free at once. Safe for any thread.
 */
final class MessageClaims {
    private static final Logger LOG = System.getLogger("dev.parley.mesh");

    static final String SCHEMA = """
            -- Messages that hubs which share the database handle, with their streams.
            CREATE TABLE one_claim (
                group_id   TEXT NOT NULL,
                sender     TEXT NOT NULL,
                message_id TEXT NOT NULL,
                claimed_by BIGINT NOT NULL,
                at_ms      BIGINT NOT NULL,
                PRIMARY KEY (group_id, sender, message_id)
            );
            """;

    /** Hubs that wait for answers look for them when another one has ended a claim, and with the renewal of their lease. */
    private static final String FEED = "one/answers";

    /** Longest time in which a message is handled: its sender may wait for its task for five minutes. */
    private static final Duration LONGEST = Duration.ofMinutes(6);

    private static final Duration PAUSE = Duration.ofSeconds(1);
    private static final String NOW = "CAST(extract(epoch FROM statement_timestamp()) * 1000 AS BIGINT)";
    private static final String WHERE = " WHERE group_id = ? AND sender = ? AND message_id = ?";

    private static final String ADD = "INSERT INTO one_claim (group_id, sender, message_id, claimed_by, at_ms)"
            + " VALUES (?, ?, ?, ?, " + NOW + ") ON CONFLICT DO NOTHING";

    /** The stream of a claim, and whether it has ended, or the claim is older than any message that is handled. */
    private static final String HOLDER = "SELECT claimed_by, at_ms < " + NOW + " - " + 2 * LONGEST.toMillis()
            + " OR NOT EXISTS (SELECT 1 FROM stream WHERE stream_no = claimed_by) FROM one_claim" + WHERE;

    private static final String TAKE =
            "UPDATE one_claim SET claimed_by = ?, at_ms = " + NOW + WHERE + " AND claimed_by = ?";

    private static final String REMOVE = "DELETE FROM one_claim" + WHERE;

    /** Claims that hubs have left when they ended, of messages that did not come again. */
    private static final String SWEEP =
            "DELETE FROM one_claim WHERE at_ms < " + NOW + " - " + MessageAnswers.KEPT.toMillis();

    private final Database database;
    private final boolean isShared;
    private final KeyLocks locks;
    private final Duration longest;
    private final ChangeCount looks = new ChangeCount();
    /** Claims that are given up, each with its attempt. A new claim of this hub ends that; both are works of the one writer. */
    private final Map<Key, Object> releases = new ConcurrentHashMap<>();

    private record Holder(long stream, boolean isFree) {}

    /**
     * What became of an attempt: an answer, or a claim, or neither, if another hub handles the message.
     *
     * @param isFree whether no other hub has the message, as far as a look shows
     */
    private record Attempt(Optional<Answer> answer, boolean isClaimed, boolean isFree) {}

    /** @param database with the tables of {@link MessageAnswers} */
    MessageClaims(Database database) {
        this(database, LONGEST);
    }

    /** @param longest longest wait for another hub */
    MessageClaims(Database database, Duration longest) {
        this.database = database;
        this.longest = longest;
        this.isShared = database.access().feeds().isShared();
        this.locks = new KeyLocks(database.access().epochs());
        if (isShared) {
            database.write(session -> session.update(SWEEP));
            database.access().feeds().follow(FEED, looks::add);
        }
    }

    /**
     * Claims a message for this hub, in which one thread at a time handles it. Waits while another hub does, for some minutes at most.
     *
     * @return the answer of another hub; empty if this hub is to handle the message, and to {@linkplain #remove remove} or {@linkplain
     *     #release release} the claim
     * @throws A2AException UNAVAILABLE if the other hub has not answered in time
     */
    Optional<Answer> claim(Key key) {
        if (!isShared) {
            return Optional.empty();
        }
        long end = System.nanoTime() + longest.toNanos();
        while (true) {
            long before = looks.count();
            if (System.nanoTime() - end >= 0) {
                throw A2AException.unavailable("Another hub handles the message", PAUSE);
            }
            Attempt attempt = database.read(session -> look(session, key));
            if (attempt.isFree()) {
                attempt = database.write(key.group(), session -> attempt(session, key));
            }
            if (attempt.isClaimed() || attempt.answer().isPresent()) {
                return attempt.answer();
            }
            await(before, end);
        }
    }

    private void await(long before, long end) {
        try {
            looks.await(before, Math.min(2 * PAUSE.toNanos(), end - System.nanoTime()));
        } catch (InterruptedException stopped) {
            Thread.currentThread().interrupt();
            throw A2AException.unavailable("The hub stops", PAUSE);
        }
    }

    private static Optional<Holder> holder(DatabaseSession session, Key key) throws SQLException {
        return session.first(
                row -> new Holder(row.getLong(1), row.getBoolean(2)),
                HOLDER,
                key.group(),
                key.sender(),
                key.messageId());
    }

    /** The answer first: its claim stays if another hub looked at the key at the same moment. */
    private Attempt look(DatabaseSession session, Key key) throws SQLException {
        Optional<Answer> answer = MessageAnswers.find(session, key);
        boolean isHeld = answer.isEmpty()
                && holder(session, key)
                        .filter(holder -> !holder.isFree() && holder.stream() != stream())
                        .isPresent();
        return new Attempt(answer, false, answer.isEmpty() && !isHeld);
    }

    private boolean isClaimed(DatabaseSession session, Key key) throws SQLException {
        if (session.update(ADD, key.group(), key.sender(), key.messageId(), stream()) > 0) {
            return true;
        }
        Holder holder = holder(session, key).orElse(null);
        if (holder == null || !holder.isFree()) {
            return holder != null && holder.stream() == stream();
        }
        // Compared with what was read: another hub may have taken it since.
        return session.update(TAKE, stream(), key.group(), key.sender(), key.messageId(), holder.stream()) > 0;
    }

    private Attempt attempt(DatabaseSession session, Key key) throws SQLException {
        boolean isClaimed = isLocked(session, key) && isClaimed(session, key);
        if (isClaimed) {
            releases.remove(key);
        }
        // After the claim: the hub that had it may have answered before.
        Optional<Answer> answer = isClaimed ? MessageAnswers.find(session, key) : Optional.empty();
        if (answer.isPresent()) {
            remove(session, key);
        }
        return new Attempt(answer, isClaimed, false);
    }

    private boolean isLocked(DatabaseSession session, Key key) throws SQLException {
        return locks.take(session, "one_claim/" + key.group() + "/" + key.sender() + "/" + key.messageId());
    }

    private long stream() {
        return ((PostgresqlSystem) database.system()).stream();
    }

    /** Removes a claim in the transaction that keeps the answer, unless another hub looks at it. */
    void remove(DatabaseSession session, Key key) throws SQLException {
        if (isShared && isLocked(session, key)) {
            removeLocked(session, key);
        }
    }

    private void removeLocked(DatabaseSession session, Key key) throws SQLException {
        session.update(REMOVE + " AND claimed_by = ?", key.group(), key.sender(), key.messageId(), stream());
    }

    /** Tells hubs that wait that a claim has ended. Does not block. */
    void tell() {
        database.access().feeds().tell(FEED);
    }

    /** Gives up a claim of a message that was refused. Does not wait. */
    void release(Key key) {
        if (!isShared) {
            return;
        }
        var attempt = new Object();
        releases.put(key, attempt);
        Thread.ofVirtual().name("mesh-claim").start(() -> release(key, attempt));
    }

    private void release(Key key, Object attempt) {
        try {
            boolean unused = locks.patiently(() -> database.write(key.group(), session -> isOver(session, key, attempt))
                    ? Optional.of(true)
                    : Optional.empty());
            tell();
        } catch (RuntimeException failure) {
            LOG.log(Level.DEBUG, "the claim of a message ends later", failure);
        } finally {
            releases.remove(key, attempt);
        }
    }

    /** False if another hub looks at the claim at the moment. */
    private boolean isOver(DatabaseSession session, Key key, Object attempt) throws SQLException {
        if (!attempt.equals(releases.get(key))) {
            return true; // claimed again
        }
        boolean isLocked = isLocked(session, key);
        if (isLocked) {
            removeLocked(session, key);
        }
        return isLocked;
    }

    /** Erases the claims of messages of a sender. */
    static void erase(DatabaseSession session, String group, String sender) throws SQLException {
        session.update("DELETE FROM one_claim WHERE group_id = ? AND sender = ?", group, sender);
    }
}
