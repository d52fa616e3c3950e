package dev.parley.store.tasks;

import dev.parley.engine.spi.Once;
import dev.parley.engine.spi.PushStore.ClaimResult;
import dev.parley.engine.spi.PushStore.Queue;
import dev.parley.store.database.Database;
import dev.parley.store.database.DatabaseSession;
import dev.parley.store.database.PostgresqlSystem;
import dev.parley.store.shared.Poll;
import dev.parley.store.spi.ModuleTables;
import java.util.Collection;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Senders of queues of webhooks, where several hubs write to a database of PostgreSQL: a row for each queue that a hub has claimed, with
 * the number of its stream. A hub that finds the row of another one leaves a mark, and a row with a mark is not removed by its hub, which
 * looks for events once more. Safe for any thread.
 *
 * <p>A statement that changes the row of a queue takes a lock of the queue first, until the end of its transaction, or changes nothing. So
 * none of them waits for a row: a hub that pauses in its transaction does not stop the writers of others.
 *
 * <p>A row is the right to send as long as its stream lives. Since an ended stream writes nothing, others remove its rows. Each hub has a
 * further row that belongs to no queue, from before its first event on: if it ends between an event and the claim of its queue, the other
 * hubs find this row, and look at all webhooks.
 */
final class WebhookSenders {
    private static final ModuleTables TABLES =
            new ModuleTables("webhook senders", List.of("""
            -- Several hubs may start at once.
            """ + PostgresqlSystem.START_ALONE + """
            ;
            -- The stream is 0 if its hub has left the queue to others.
            CREATE TABLE IF NOT EXISTS webhook_sender (
                queue     TEXT COLLATE "C" PRIMARY KEY,
                stream_no BIGINT NOT NULL,
                marked    BOOLEAN NOT NULL DEFAULT false
            ) WITH (fillfactor = 70);
            CREATE INDEX IF NOT EXISTS webhook_sender_by_stream ON webhook_sender (stream_no)
            """));

    /** Queues that are changed by one statement, which locks each of them. */
    private static final int AT_ONCE = 100;

    private static final String CLAIM = "INSERT INTO webhook_sender (queue, stream_no)"
            + " SELECT CAST(?1 AS TEXT), CAST(?2 AS BIGINT) WHERE " + isFree("CAST(?1 AS TEXT)")
            + " ON CONFLICT (queue) DO UPDATE SET marked = webhook_sender.stream_no <> excluded.stream_no"
            + " RETURNING webhook_sender.stream_no";

    private static final String RELEASE =
            "DELETE FROM webhook_sender WHERE queue = ? AND stream_no = ? AND NOT marked AND " + isFree("queue");

    /** Limits the locks to the rows that are changed: other conditions could be checked after the lock is taken. */
    private static final String FREE = "WITH free AS MATERIALIZED (SELECT queue FROM"
            + " (SELECT queue FROM webhook_sender WHERE stream_no = ANY (CAST(?1 AS BIGINT[]))%s OFFSET 0) AS queues"
            + " WHERE " + isFree("queue") + " LIMIT " + AT_ONCE + ") ";

    private static final String ABANDON = FREE.formatted(" AND queue = ANY (CAST(?2 AS TEXT[]))")
            + "UPDATE webhook_sender SET stream_no = 0 FROM free"
            + " WHERE webhook_sender.queue = free.queue AND stream_no = ANY (CAST(?1 AS BIGINT[]))";

    private static final String RELEASE_ENDED = FREE.formatted("")
            + "DELETE FROM webhook_sender USING free"
            + " WHERE webhook_sender.queue = free.queue AND stream_no = ANY (CAST(?1 AS BIGINT[]))";

    /** Looks into the index once for each stream, and not for each row. */
    private static final String ENDED = "WITH RECURSIVE streams (no) AS (SELECT min(stream_no) FROM webhook_sender"
            + " UNION ALL SELECT (SELECT min(stream_no) FROM webhook_sender WHERE stream_no > no) FROM streams"
            + " WHERE no IS NOT NULL)"
            + " SELECT string_agg(CAST(no AS TEXT), ',') FROM streams WHERE no IS NOT NULL"
            + " AND NOT EXISTS (SELECT 1 FROM stream WHERE stream_no = no)";

    /** A condition for a webhook: its queue is claimed by a stream. The row cannot change while that stream writes something else. */
    static final String IS_CLAIMED =
            " AND EXISTS (SELECT 1 FROM webhook_sender AS sender WHERE sender.queue = ? AND sender.stream_no = ?)";

    private final Database database;
    private final long stream;
    private final Poll.Question ended;

    private WebhookSenders(Database database, long stream) {
        this.database = database;
        this.stream = stream;
        database.migrate(TABLES);
        int unused = database.write(session -> session.update(
                "INSERT INTO webhook_sender (queue, stream_no) VALUES (?, ?) ON CONFLICT DO NOTHING",
                "stream " + stream,
                stream));
        this.ended = database.access().poll().add(ENDED);
    }

    /** The senders of a database to which several hubs write; null if one hub does. */
    static @Nullable WebhookSenders of(Database database, Once once) {
        return once == Once.CLAIM && database.system() instanceof PostgresqlSystem system
                ? new WebhookSenders(database, system.stream())
                : null;
    }

    /** Takes the lock of a queue until the end of the transaction; false if another hub has it. */
    private static String isFree(String queue) {
        return "pg_try_advisory_xact_lock(" + PostgresqlSystem.SENDER_LOCK + ", hashtext(current_schema() || '/' || "
                + queue + "))";
    }

    /** The number of this hub's stream. */
    long stream() {
        return stream;
    }

    ClaimResult claim(Queue queue) {
        Optional<Long> holder = database.write(
                queue.group(), session -> session.first(row -> row.getLong(1), CLAIM, queue.id(), stream));
        return holder.map(number -> number == stream ? ClaimResult.GRANTED : ClaimResult.TAKEN)
                .orElse(ClaimResult.BUSY);
    }

    boolean release(Queue queue) {
        return database.write(queue.group(), session -> session.update(RELEASE, queue.id(), stream)) > 0;
    }

    void abandon(Collection<Queue> queues) {
        List<String> ids = queues.stream().map(Queue::id).toList();
        for (int from = 0; from < ids.size(); from += AT_ONCE) {
            List<String> some = ids.subList(from, Math.min(ids.size(), from + AT_ONCE));
            int unused = database.write(
                    some.size(), session -> session.update(ABANDON, array(List.of(stream)), array(some)));
        }
    }

    /**
     * Removes rows of streams that have ended. Their numbers are read before: a condition on the table of streams would not be checked
     * again for a row that another hub has claimed meanwhile.
     */
    boolean releaseEnded() {
        String streams = ended.text().orElse("");
        int all = 0;
        int removed = streams.isEmpty() ? 0 : AT_ONCE;
        while (removed == AT_ONCE) {
            removed = database.write(AT_ONCE, session -> session.update(RELEASE_ENDED, '{' + streams + '}'));
            all += removed;
        }
        return all > 0;
    }

    /** Returns an array of numbers or digits as PostgreSQL reads it. */
    private static String array(List<?> values) {
        return values.stream().map(Objects::toString).collect(Collectors.joining(",", "{", "}"));
    }

    Set<Queue> marked(Set<Queue> claimed) {
        Set<String> marked = Set.copyOf(database.read(session -> session.list(
                row -> DatabaseSession.text(row, 1),
                "SELECT queue FROM webhook_sender WHERE stream_no = ? AND marked",
                stream)));
        return marked.isEmpty()
                ? Set.of()
                : claimed.stream().filter(queue -> marked.contains(queue.id())).collect(Collectors.toUnmodifiableSet());
    }

    boolean maySend() {
        return database.access().obstacle().isEmpty();
    }
}
