package dev.parley.store.database;

import dev.parley.store.connection.Connector.Opening;
import dev.parley.store.connection.Connector.Use;
import dev.parley.store.connection.HangWatch;
import dev.parley.store.connection.Outage;
import dev.parley.store.connection.ServerIdentity.OtherServerException;
import dev.parley.store.database.DatabaseSession.Timeout;
import dev.parley.store.files.DataFiles;
import dev.parley.store.spi.OutageException;
import dev.parley.store.spi.ReadTimeoutException;
import dev.parley.store.spi.StoreException;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Optional;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** Connections for reading, which calling threads borrow. They end with the database. */
public final class Readers {
    private static final Duration FOREVER = Duration.ofDays(1_000);

    private final DatabaseSystem system;
    private final DataFiles files;
    private final Guard guard;
    private final Duration limit;
    private final BlockingQueue<DatabaseSession> idle;

    @SuppressWarnings("ThreadLocalUsage") // a thread may read two databases, and leaves nothing here
    private final ThreadLocal<@Nullable DatabaseSession> borrowed = new ThreadLocal<>();

    private final int connections;

    /** What allows reads. */
    interface Guard {
        /** @throws OutageException if the database is closed, or may not be used any more */
        void requireUsable();

        /** Has the writer look, for so long at most, whether its connection still leads to the server that is to be written. */
        void findServer(Duration patience);
    }

    /** @param limit time that a {@link #read} takes at most; zero for no limit */
    Readers(DatabaseSystem system, DataFiles files, Guard guard, int connections, Duration limit) throws SQLException {
        this.system = system;
        this.files = files;
        this.guard = guard;
        this.limit = limit;
        this.connections = connections;
        this.idle = new ArrayBlockingQueue<>(connections);
        try {
            for (int i = 0; i < connections; i++) {
                var session = new DatabaseSession(new Opening(system, Use.READ));
                session.connection();
                idle.add(session);
            }
        } catch (SQLException | RuntimeException failure) {
            discardIdle();
            throw failure;
        }
    }

    /**
     * Runs a query on the calling thread; each statement sees the rows at its beginning. One within another query uses its session and its
     * time: there may be no other session until this one is given back.
     */
    public <T> T read(DatabaseRead<T> question) {
        DatabaseSession outer = borrowed.get();
        if (outer != null) {
            try {
                return question.ask(outer);
            } catch (SQLException failure) {
                throw StoreException.of("could not read", failure);
            }
        }
        return limit.isZero() ? read(FOREVER, question) : readWithin(limit, question);
    }

    /**
     * Runs a query on the calling thread, at most for so long. A connection that has not answered by then is ended.
     *
     * @throws OutageException if the patience was over before the answer was there
     */
    <T> T readWithin(Duration patience, DatabaseRead<T> question) {
        try {
            return within(patience, true, question);
        } catch (ReadTimeoutException late) {
            throw new OutageException(
                    "the database did not answer within " + patience.toMillis() / 1000.0 + " s", late);
        }
    }

    /** Runs a query. All that it waits for has one time limit: a session, a connection, the search for a server, and statements. */
    private <T> T within(Duration patience, boolean isHard, DatabaseRead<T> question) {
        long end = System.nanoTime() + patience.toNanos();
        return read(patience, session -> {
            var timeout = new Timeout(session, end, isHard);
            session.timeout = timeout;
            ScheduledFuture<?> timer = HangWatch.TIMER.schedule(timeout::expire, timeout.left(), TimeUnit.NANOSECONDS);
            try {
                T answer = question.ask(session);
                if (!timeout.end()) {
                    return answer;
                }
            } catch (SQLException | RuntimeException failure) {
                if (!timeout.end()) {
                    throw failure;
                }
            } finally {
                timer.cancel(false);
                session.timeout = null;
            }
            throw new ReadTimeoutException(patience);
        });
    }

    /** Why nothing can be read at present, in words for operators; empty if this was. */
    Optional<String> problem(Duration patience) {
        try {
            readWithin(patience, session -> session.number("SELECT 1"));
            return Optional.empty();
        } catch (StoreException failure) {
            return Optional.of("the database cannot be read: " + Outage.words(failure));
        }
    }

    private <T> T read(Duration patience, DatabaseRead<T> question) {
        long end = System.nanoTime() + patience.toNanos();
        DatabaseSession session;
        try {
            session = idle.poll(patience.toNanos(), TimeUnit.NANOSECONDS);
            if (session == null) {
                throw new ReadTimeoutException(patience);
            }
        } catch (InterruptedException stopped) {
            Thread.currentThread().interrupt();
            throw new OutageException("interrupted while waiting to read", stopped);
        }
        borrowed.set(session);
        try {
            guard.requireUsable();
            files.requireReadable();
            if (session.isOutdated()) {
                session.discard();
            }
            try {
                return ask(session, question);
            } catch (OtherServerException moved) {
                guard.findServer(Duration.ofNanos(end - System.nanoTime()));
                return ask(session, question);
            }
        } catch (SQLException failure) {
            if (!Outage.isOfData(failure)) {
                session.discard();
            }
            throw StoreException.of("could not read", failure);
        } catch (RuntimeException failure) {
            if (failure instanceof ReadTimeoutException || Outage.isOfDatabase(failure)) {
                session.discard();
            }
            throw failure;
        } finally {
            borrowed.remove();
            session.readingSince = null;
            idle.add(session);
        }
    }

    /** Asks again, by a new connection, if the first statement found that the connection had been broken before. */
    private <T> T ask(DatabaseSession session, DatabaseRead<T> question) throws SQLException {
        long weight = session.weight;
        boolean kept = session.isConnected();
        session.readingSince = System.nanoTime();
        try {
            return question.ask(session);
        } catch (SQLException failure) {
            if (!kept || session.weight - weight > 1 || !system.isBroken(failure)) {
                throw failure;
            }
            session.discard();
            return question.ask(session);
        }
    }

    /**
     * Answers a question on the calling thread; all of its statements see the same moment.
     *
     * @param patience after this time the statement that runs is ended, and so are all further ones
     * @throws ReadTimeoutException if the patience was over before the answer was there
     */
    public <T> T snapshot(Duration patience, DatabaseRead<T> question) {
        return within(patience, false, session -> {
            Connection connection = session.connection();
            connection.setAutoCommit(false);
            try {
                system.beginSnapshot(session);
                return question.ask(session);
            } finally {
                restore(session, connection);
            }
        });
    }

    private static void restore(DatabaseSession session, Connection connection) {
        try {
            connection.rollback();
            connection.setAutoCommit(true);
        } catch (SQLException failure) {
            session.discard();
        }
    }

    /** Closes the connections that no thread has borrowed. The next use of one opens it again. */
    void discardIdle() {
        idle.forEach(DatabaseSession::discard);
    }

    void close() throws InterruptedException {
        var closed = new ArrayList<DatabaseSession>(connections);
        for (int i = 0; i < connections; i++) {
            DatabaseSession session = idle.take();
            session.discard();
            closed.add(session);
        }
        idle.addAll(closed); // wakes threads that wait for a session, which then find the database closed
    }
}
