package dev.parley.store.database;

import dev.parley.store.connection.Outage;
import dev.parley.store.files.DataFiles;
import dev.parley.store.spi.DatabaseKind;
import dev.parley.store.spi.Ending;
import dev.parley.store.spi.StoreException;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** Transactions of the writer, one for each group of works. For its thread only, except {@link #listen}. */
final class Transactions {
    private static final Logger LOG = System.getLogger("dev.parley.store");

    /** After so long the works that are written are committed, so that others' need not wait for all of them. */
    private static final Duration LONGEST_GROUP = Duration.ofMillis(25);

    /**
     * A work that {@linkplain DatabaseSession weighs} more, some 5 ms of the writer, ends its transaction, so that works of other groups wait for
     * one such work at most, and has its group rest.
     */
    private static final long MAX_LIGHT = 256;

    /** Weight of all works of a transaction, after which it is committed: what is written waits for the disk, too. */
    private static final long MAX_WEIGHT = 4_096;

    /** Result of a transaction. */
    enum Ending {
        COMMITTED,
        /** Nothing of it is on disk. */
        ROLLED_BACK,
        /** The commit failed: it is on disk as a whole, or not at all. */
        UNCERTAIN
    }

    /** @param problem null if it was committed */
    record Result(Ending ending, @Nullable Exception problem) {}

    private final DatabaseSystem system;
    private final DataFiles files;
    private final WriteQueue queue;
    private final List<GroupListener> listeners = new CopyOnWriteArrayList<>();

    /** Heaviest work of the current transaction above {@link #MAX_LIGHT}. */
    private @Nullable Work heaviest;

    private long heaviestWeight;

    Transactions(DatabaseSystem system, DataFiles files, WriteQueue queue) {
        this.system = system;
        this.files = files;
        this.queue = queue;
    }

    /** Adds a listener. To be called on the writer's thread, so that the listener sees whole groups. */
    void listen(GroupListener listener) {
        listeners.add(listener);
    }

    /** Writes works in one transaction. Those that would take it too long go back into the queue. */
    Result transact(DatabaseSession session, Collection<Work> group) {
        Ending ending = Ending.ROLLED_BACK;
        long begun = System.nanoTime();
        heaviest = null;
        heaviestWeight = MAX_LIGHT;
        try {
            files.beforeWriting();
            if (!session.isConnected()) {
                reopen(session);
            }
            system.begin(session);
            write(session, group);
            for (GroupListener listener : listeners) {
                listener.beforeCommit(session);
            }
            session.flush();
            ending = Ending.UNCERTAIN;
            session.connection().commit();
            files.afterCommit();
            system.committed();
        } catch (Error error) {
            // Only the work that exceeded the limit fails.
            return undone(session, ending, new StoreException("could not write", error));
        } catch (SQLException | RuntimeException problem) {
            return undone(session, ending, problem);
        }
        Work heavy = heaviest;
        if (heavy != null) {
            queue.rest(heavy.group(), System.nanoTime() - begun);
        }
        hear(listener -> listener.committed(group.size()));
        return new Result(Ending.COMMITTED, null);
    }

    /** Writes a work that was refused before in a transaction that is rolled back, and returns why it is refused; null if it is not. */
    @Nullable
    Exception attempt(DatabaseSession session, Work work) {
        try {
            files.beforeWriting();
            if (!session.isConnected()) {
                reopen(session);
            }
            system.begin(session);
            work.write(session);
            for (GroupListener listener : listeners) {
                listener.beforeCommit(session);
            }
            session.flush();
            undone(session, Ending.ROLLED_BACK, null);
            return null;
        } catch (Error error) {
            return undone(session, Ending.ROLLED_BACK, new StoreException("could not write", error))
                    .problem();
        } catch (SQLException | RuntimeException problem) {
            return undone(session, Ending.ROLLED_BACK, problem).problem();
        }
    }

    private void write(DatabaseSession session, Collection<Work> group) throws SQLException {
        long end = System.nanoTime() + LONGEST_GROUP.toNanos();
        boolean enough = false;
        long weight = 0;
        var unwritten = new ArrayList<Work>();
        for (Iterator<Work> works = group.iterator(); works.hasNext(); ) {
            Work work = works.next();
            if (enough) {
                works.remove();
                unwritten.add(work);
            } else {
                session.weight = 0;
                work.write(session);
                if (session.weight > heaviestWeight) {
                    heaviest = work;
                    heaviestWeight = session.weight;
                }
                weight += session.weight;
                enough = session.weight > MAX_LIGHT || weight > MAX_WEIGHT || System.nanoTime() - end > 0;
            }
        }
        if (!unwritten.isEmpty()) {
            queue.giveBack(unwritten);
        }
    }

    private Result undone(DatabaseSession session, Ending ending, @Nullable Exception problem) {
        hear(GroupListener::rolledBack);
        session.deferred = null;
        if (ending == Ending.UNCERTAIN) {
            system.uncertain();
        }
        if (ending == Ending.UNCERTAIN
                || problem != null && system.kind() == DatabaseKind.SQLITE && Outage.isOfDatabase(problem)) {
            // SQLite has undone the transaction by itself, or not; its driver cannot know, and goes wrong from there
            // on.
            session.discard();
        } else {
            try {
                session.connection().rollback();
            } catch (SQLException | RuntimeException worse) {
                session.discard();
                if (problem != null) {
                    problem.addSuppressed(worse);
                }
            }
        }
        return new Result(ending, problem);
    }

    private void hear(Consumer<GroupListener> news) {
        for (GroupListener listener : listeners) {
            try {
                news.accept(listener);
            } catch (RuntimeException | Error fault) {
                LOG.log(Level.ERROR, "a listener of groups failed", fault);
            }
        }
    }

    /** Tells a listener of a new connection. A missing table of an extension does not stop the writes of others. */
    private void reopen(GroupListener listener, DatabaseSession session) throws SQLException {
        try {
            listener.reopened(session);
        } catch (SQLException | RuntimeException failure) {
            String part = Refusals.part(listener.getClass());
            if (system.kind() != DatabaseKind.SQLITE || Refusals.isOfAll(part) || !Outage.isStanding(failure)) {
                throw failure;
            }
            LOG.log(Level.WARNING, part + ": tables cannot be read", failure);
        }
    }

    /** Opens a connection again, after one that was discarded. */
    void reopen(DatabaseSession session) throws SQLException {
        session.connection();
        try {
            system.reopened(session);
            for (GroupListener listener : listeners) {
                reopen(listener, session);
            }
        } catch (SQLException | RuntimeException failure) {
            session.discard(); // otherwise listeners without the callback keep stale state
            throw failure;
        }
    }
}
