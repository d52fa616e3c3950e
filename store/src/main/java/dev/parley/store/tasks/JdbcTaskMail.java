package dev.parley.store.tasks;

import dev.parley.engine.spi.Once;
import dev.parley.engine.spi.TaskLog.TaskKey;
import dev.parley.engine.spi.TaskMail;
import dev.parley.protocol.A2AException;
import dev.parley.store.database.Checkpointer;
import dev.parley.store.database.Database;
import dev.parley.store.database.DatabaseRead;
import dev.parley.store.database.DatabaseSession;
import dev.parley.store.database.PostgresqlSystem;
import dev.parley.store.database.Work;
import dev.parley.store.encryption.EncryptionAtRest;
import dev.parley.store.shared.Poll;
import dev.parley.store.spi.ClosedException;
import dev.parley.store.spi.ModuleTables;
import dev.parley.store.spi.StoreException;
import dev.parley.store.tasks.TaskOwners.TaskOwner;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import java.util.function.LongConsumer;
import org.jspecify.annotations.Nullable;

/**
 * Calls for the owners of tasks, as rows of a database of PostgreSQL that several hubs share. A row belongs to the stream of its sender and
 * is addressed to the stream that owns the task. The owner marks it as taken before it executes the call. A stream that has ended takes
 * nothing any more, so a row that it has not taken can be sent again.
 *
 * <p>No statement waits for the lock of a row: the hub that holds it may pause, and all works of this one would wait. What is left out for
 * that is found by the next look. Safe for any thread.
 */
final class JdbcTaskMail implements TaskMail {
    private static final Logger LOG = System.getLogger("dev.parley.store");

    /** Calls of this hub that wait for an answer, at most. */
    static final int MOST_WAITING = 1_000;

    /** Bytes of these calls with which no further one is sent. */
    private static final int MOST_BYTES = 16 << 20;

    private static final int REMOVED_AT_ONCE = 1_000;

    private static final ModuleTables TABLES =
            new ModuleTables("mail", List.of("""
            -- Several hubs may start at once.
            """ + PostgresqlSystem.START_ALONE + """
            ;
            -- A number is that of a call of a stream. A row is removed when its answer has been read.
            CREATE TABLE IF NOT EXISTS mail (
                from_stream BIGINT NOT NULL,
                mail_no BIGINT NOT NULL,
                to_stream BIGINT NOT NULL,
                made_at TIMESTAMPTZ NOT NULL DEFAULT clock_timestamp(),
                is_taken BOOLEAN NOT NULL DEFAULT false,
                request BYTEA NOT NULL,
                answer BYTEA,
                PRIMARY KEY (from_stream, mail_no)
            );
            CREATE INDEX IF NOT EXISTS mail_to ON mail (to_stream)
            """));

    private static final String OWNER = "SELECT owner, EXISTS (SELECT 1 FROM stream WHERE stream_no = owner) FROM task"
            + " WHERE task_id = ? AND lane_no = ? AND owner IS NOT NULL";

    private static final String SEND =
            "INSERT INTO mail (from_stream, mail_no, to_stream, request) VALUES (?, ?, ?, ?)";

    /** Rows that a stream is to take: not those whose sender has ended, or whose longest wait is over. */
    private static final String DUE = " FROM mail WHERE to_stream = ? AND NOT is_taken"
            + " AND made_at > clock_timestamp() - INTERVAL '10 s'"
            + " AND EXISTS (SELECT 1 FROM stream WHERE stream_no = from_stream)";

    private static final String IS_DUE = "due";
    private static final String IS_OLD = "old";

    private static final String OLD = " FROM mail WHERE made_at < clock_timestamp() - INTERVAL '60 s'"
            + " OR NOT EXISTS (SELECT 1 FROM stream WHERE stream_no = from_stream)";

    /** Whether there is mail for a stream, and old mail. */
    private static String look(long stream) {
        return "SELECT CASE WHEN EXISTS (SELECT 1" + DUE.replace("?", Long.toString(stream)) + ") THEN '" + IS_DUE
                + "' ELSE '' END || CASE WHEN EXISTS (SELECT 1" + OLD + ") THEN '" + IS_OLD + "' ELSE '' END";
    }

    private static final String OF_CHOSEN =
            " WHERE mail.from_stream = chosen.from_stream AND mail.mail_no = chosen.mail_no";

    private static final String TAKE = chosen(DUE + " ORDER BY made_at LIMIT ?")
            + " UPDATE mail SET is_taken = true FROM chosen" + OF_CHOSEN
            + " RETURNING mail.from_stream, mail.mail_no, mail.request";

    private static final String ROW = " FROM mail WHERE from_stream = ? AND mail_no = ?";

    private static final String ANSWER = chosen(ROW) + " UPDATE mail SET answer = ? FROM chosen" + OF_CHOSEN;

    private static final String REMOVE = chosen(ROW) + " DELETE FROM mail USING chosen" + OF_CHOSEN;

    private static final String REMOVE_OLD =
            chosen(OLD + " LIMIT " + REMOVED_AT_ONCE) + " DELETE FROM mail USING chosen" + OF_CHOSEN;

    /** Chooses rows that no other transaction changes. Materialized: a subquery could be run, and lock rows, more than once. */
    private static String chosen(String rows) {
        return "WITH chosen AS MATERIALIZED (SELECT from_stream, mail_no" + rows + " FOR UPDATE OF mail SKIP LOCKED)";
    }

    /** Rows of a sender whose fate is known. A row that is seen as not taken by a stream that has ended was not taken. */
    private static final String KNOWN = "SELECT mail_no, is_taken, answer FROM mail WHERE from_stream = ?"
            + " AND (answer IS NOT NULL OR NOT EXISTS (SELECT 1 FROM stream WHERE stream_no = to_stream))";

    private record Owner(long stream, boolean isAlive) {}

    private record Row(long number, boolean isTaken, byte @Nullable [] answer) {}

    private final Database database;
    private final long stream;
    private final TaskOwners lanes;
    private final EncryptionAtRest atRest;
    private final LongConsumer hints;
    private final Poll poll;
    private final Poll.Question look;
    private final AtomicLong numbers = new AtomicLong();
    private final Map<Long, Waiting> waiting = new ConcurrentHashMap<>();
    private final AtomicInteger waitingBytes = new AtomicInteger();
    private volatile Runnable listener = () -> {};

    private JdbcTaskMail(
            Database database, long stream, TaskOwners lanes, EncryptionAtRest atRest, LongConsumer hints) {
        this.database = database;
        this.stream = stream;
        this.lanes = lanes;
        this.atRest = atRest;
        this.hints = hints;
        this.poll = database.access().poll();
        this.look = poll.add(look(stream));
    }

    /**
     * Returns the mail of a log, and makes its table; empty if no other hub writes to the database.
     *
     * @param hints has the hub of a stream look for mail; does not block
     */
    static Optional<JdbcTaskMail> of(
            Database database, TaskOwners lanes, EncryptionAtRest atRest, Once once, LongConsumer hints) {
        if (!(database.system() instanceof PostgresqlSystem system)) {
            return Optional.empty();
        }
        if (once == Once.INDEX) {
            removeLeft(database);
            return Optional.empty();
        }
        database.migrate(TABLES);
        return Optional.of(new JdbcTaskMail(database, system.stream(), lanes, atRest, hints));
    }

    /** Removes the rows that hubs have left which had a log with mail, if there were any: no hub looks for them any more. */
    private static void removeLeft(Database database) {
        try {
            boolean isThere = database.read(session ->
                            session.number("SELECT count(*) FROM module_version WHERE module = ?", TABLES.module()))
                    > 0;
            int removed = isThere ? REMOVED_AT_ONCE : 0;
            while (removed == REMOVED_AT_ONCE) {
                removed = database.write(REMOVED_AT_ONCE, session -> session.update(REMOVE_OLD));
            }
        } catch (StoreException failure) {
            LOG.log(ClosedException.level(failure), "calls that other hubs have left were not removed", failure);
        }
    }

    @Override
    public void onHint(Runnable listener) {
        this.listener = listener;
    }

    /** Tells the listener that another hub has written mail for this one. */
    void hinted() {
        poll.renew();
        listener.run();
    }

    // ---- Calls of this hub

    /** A call of this hub that waits for its answer. */
    private final class Waiting implements Outgoing {
        private final String group;
        private final long number;
        private final int bytes;
        private final CompletableFuture<Answer> answer = new CompletableFuture<>();

        Waiting(String group, long number, int bytes) {
            this.group = group;
            this.number = number;
            this.bytes = bytes;
        }

        @Override
        public CompletableFuture<Answer> answer() {
            return answer;
        }

        @Override
        public void close() {
            if (leave()) {
                remove(group, number); // after it was written, as a work of the same group
            }
        }

        /** Waits no more; false if it did not. */
        boolean leave() {
            boolean waited = waiting.remove(number, this);
            if (waited) {
                waitingBytes.addAndGet(-bytes);
            }
            return waited;
        }
    }

    /** A call whose fate is known without a row. */
    private record Unsent(CompletableFuture<Answer> answer) implements Outgoing {
        @Override
        public void close() {}
    }

    @Override
    public Optional<Outgoing> send(Request request) {
        Owner owner = owner(request.task()).orElse(null);
        if (owner == null || owner.stream == stream) {
            return Optional.empty();
        }
        if (!owner.isAlive) {
            return Optional.of(new Unsent(CompletableFuture.completedFuture(new Answer.Moved())));
        }
        long number = numbers.incrementAndGet();
        byte[] body = atRest.webhook(MailBodies.write(request), place(stream, number));
        var call = new Waiting(request.task().scope().group(), number, body.length);
        if (waiting.size() >= MOST_WAITING || waitingBytes.get() > MOST_BYTES) {
            throw A2AException.unavailable("Too many calls wait for other servers", Duration.ofSeconds(1));
        }
        waitingBytes.addAndGet(body.length);
        waiting.put(number, call);
        database.submit(new MailWork(
                call.group,
                1 + body.length / Checkpointer.PAGE,
                false,
                session -> session.update(SEND, stream, number, owner.stream, body),
                () -> hints.accept(owner.stream),
                failure -> {
                    call.leave();
                    call.answer.completeExceptionally(failure);
                }));
        return Optional.of(call);
    }

    /** Returns the owner of a task; empty if it has none, or there is no such task. */
    private Optional<Owner> owner(TaskKey task) {
        Long lane = lanes.find(TaskOwner.of(task));
        return lane == null
                ? Optional.empty()
                : database.read(session ->
                        session.first(row -> new Owner(row.getLong(1), row.getBoolean(2)), OWNER, task.taskId(), lane));
    }

    private void complete(Row row) {
        Waiting call = waiting.get(row.number);
        if (call != null && call.leave()) {
            try {
                call.answer.complete(answer(row));
            } catch (RuntimeException unreadable) {
                call.answer.completeExceptionally(unreadable);
            }
        }
        remove("", row.number);
    }

    private Answer answer(Row row) {
        byte[] answer = row.answer;
        if (answer == null) {
            return row.isTaken ? new Answer.Lost() : new Answer.Moved();
        }
        return MailBodies.readAnswer(atRest.open(answer, "answer to " + place(stream, row.number)));
    }

    private void remove(String group, long number) {
        database.submit(new MailWork(
                group, 1, true, session -> session.update(REMOVE, stream, number), () -> {}, JdbcTaskMail::notRemoved));
    }

    /** A row that could not be removed is removed when it is old. */
    private static void notRemoved(Exception failure) {
        LOG.log(Level.DEBUG, "mail could not be removed", failure);
    }

    // ---- Calls of other hubs

    @Override
    public boolean look() {
        if (!waiting.isEmpty()) {
            database.read(session -> session.list(
                            row -> new Row(row.getLong(1), row.getBoolean(2), row.getBytes(3)), KNOWN, stream))
                    .forEach(this::complete);
        }
        String found = look.text().orElse("");
        if (found.contains(IS_OLD)) {
            database.submit(new MailWork(
                    "",
                    REMOVED_AT_ONCE,
                    true,
                    session -> session.update(REMOVE_OLD),
                    () -> {},
                    JdbcTaskMail::notRemoved));
        }
        return found.contains(IS_DUE);
    }

    @Override
    public List<Incoming> receive(int limit) {
        return List.copyOf(database.write(
                limit,
                session -> session.list(
                        row -> new Taken(row.getLong(1), row.getLong(2), row.getBytes(3)), TAKE, stream, limit)));
    }

    /** A call of another hub that this one has taken. */
    private final class Taken implements Incoming {
        private final long sender;
        private final long number;
        private final byte[] body;

        Taken(long sender, long number, byte[] body) {
            this.sender = sender;
            this.number = number;
            this.body = body;
        }

        @Override
        public Request request() {
            return MailBodies.readRequest(atRest.open(body, place(sender, number)));
        }

        @Override
        public void answer(Answer answer) {
            byte[] sealed = atRest.webhook(MailBodies.write(answer), "answer to " + place(sender, number));
            database.submit(new MailWork(
                    "",
                    1,
                    false,
                    session -> session.update(ANSWER, sender, number, sealed),
                    () -> hints.accept(sender),
                    failure -> LOG.log(
                            ClosedException.level(failure), "an answer to another hub could not be written", failure)));
        }
    }

    private static String place(long stream, long number) {
        return "mail " + number + " of stream " + stream;
    }

    /** A statement on its way to the database. */
    private record MailWork(
            String group,
            int rows,
            boolean isPatient,
            DatabaseRead<Integer> change,
            Runnable done,
            Consumer<Exception> lost)
            implements Work {
        @Override
        public void write(DatabaseSession session) throws SQLException {
            change.ask(session);
        }

        @Override
        public void committed() {
            done.run();
        }

        @Override
        public void failed(Exception cause) {
            lost.accept(cause);
        }

        @Override
        public String part() {
            return "mail";
        }
    }
}
