package dev.parley.store.database;

import static java.util.Objects.requireNonNull;

import dev.parley.store.connection.HangWatch;
import dev.parley.store.connection.Outage;
import dev.parley.store.database.PostgresqlStream.EndedException;
import dev.parley.store.files.DataFiles;
import dev.parley.store.files.FileFaultException;
import dev.parley.store.spi.ClosedException;
import dev.parley.store.spi.DatabaseKind;
import dev.parley.store.spi.Ending;
import dev.parley.store.spi.OutageException;
import dev.parley.store.spi.StoreException;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** Thread that writes all works of a database, in groups, and tests the database while it fails. Methods are safe for any thread. */
final class Writer {
    private static final Logger LOG = System.getLogger("dev.parley.store");
    private static final String CANNOT_WRITE = "the database cannot be written: ";
    private static final String UNTIL_IT_CAN = "the database cannot be written; until it can, all changes are refused";
    private static final int GROUP = 1_024;

    /** Works that wait for the writer: some seconds of all that it can write. While a disk stands still, more are refused. */
    private static final int MAX_QUEUED = 65_536;

    /** A write this recent shows that writing works; also the shortest time between two {@link WriteTest}s. */
    private static final Duration RECENT = Duration.ofSeconds(1);

    /** Time limit of a {@link WriteTest}. */
    static final Duration TEST_PATIENCE = Duration.ofSeconds(2);

    private static final int PROBE_MS = 1_000;

    /** Attempts to write a group after broken connections, before each of its works is written by itself. */
    private static final int MAX_ATTEMPTS = 5;

    /** After about so many pages of the write-ahead log the checkpointer is called. */
    private static final int CHECKPOINT_AFTER = 4_096;

    /** Pages that each transaction writes, however little: the ends of tables and indexes, and inner pages of these. */
    private static final int PAGES_OF_GROUP = 8;

    private static final Work STOP = new Work() {
        @Override
        public void write(DatabaseSession session) {}

        @Override
        public void committed() {}

        @Override
        public void failed(Exception cause) {}

        @Override
        public boolean isBarrier() {
            return true;
        }
    };

    private final DatabaseSystem system;
    private final DataFiles files;
    /** Directory or URL without credentials, for operators. */
    private final String place;

    private final BooleanSupplier open;
    private final @Nullable Checkpointer checkpointer;
    private final WriteQueue queue = new WriteQueue(MAX_QUEUED);
    private final Transactions transactions;
    private final CommitCallbacks teller = new CommitCallbacks();
    private final Consumer<Ending> ended;
    private final HangWatch watch;
    private final Thread thread;
    private int pagesSinceCheckpoint;
    /** Whether little is left in a long write-ahead log, for the writer to move. */
    private volatile boolean restDue;

    private volatile @Nullable Outage outage;
    /** That the database does not answer; null if it does. Works are refused without waiting for the writer meanwhile. */
    private volatile @Nullable Outage silence;
    /** True from when the database may not be used any more. */
    private volatile boolean isEnded;

    private volatile Runnable outageChanged = () -> {};
    /** Whether the outage may be for lack of space; for the writer only. */
    private boolean needsSpace;
    /** Time of the last commit of a group, by {@link System#nanoTime}. */
    private volatile long committedAt = System.nanoTime() - RECENT.toNanos();

    private final AtomicReference<@Nullable WriteTest> latestTest = new AtomicReference<>();
    private final Refusals refusals = new Refusals();

    /**
     * @param open false once the database is closed
     * @param ended receives the reason, once, if the database may not be used any more
     */
    Writer(
            DatabaseSystem system,
            DataFiles files,
            String place,
            BooleanSupplier open,
            @Nullable Checkpointer checkpointer,
            DatabaseSession session,
            Consumer<Ending> ended) {
        this.ended = ended;
        this.watch = new HangWatch(system.patience(), this::giveUp);
        this.system = system;
        this.files = files;
        this.place = place;
        this.open = open;
        this.checkpointer = checkpointer;
        this.transactions = new Transactions(system, files, queue);
        this.thread = Thread.ofPlatform().daemon().name("store-writer").start(() -> writeAll(session));
    }

    /** Adds a listener. On the writer's thread, by a work. */
    void listen(GroupListener listener) {
        transactions.listen(listener);
    }

    /** Queues work, after that of its group. It fails if the database is closed, or does not keep up. */
    void submit(Work work) {
        Outage silent = silence;
        if (silent != null || isEnded) {
            Outage known = silent != null ? silent : outage;
            Exception refusal = known == null
                    ? new OutageException("the database may not be used any more")
                    : outageException("the database cannot be written", known);
            Thread.startVirtualThread(() -> CommitCallbacks.tell(work, refusal));
            return;
        }
        if (!queue.add(work)) {
            // On a thread of its own: the caller may hold a lock that the callback needs.
            Thread.startVirtualThread(() -> CommitCallbacks.tell(
                    work, new OutageException(queue.size() + " writes wait for the disk already; try again later")));
            return;
        }
        if (!open.getAsBoolean() && queue.remove(work)) {
            work.failed(new ClosedException());
        }
    }

    private void writeAll(DatabaseSession session) {
        var group = new ArrayDeque<Work>(GROUP);
        boolean stop = false;
        while (!stop) {
            try {
                take(group);
                watch.begin();
                stop = group.remove(STOP);
                Outage now = outage == null ? silence : outage;
                if (now != null && now.nanosToRetry() <= 0) {
                    tryToWrite(session, now, now.cause());
                }
                WriteTest test = latestTest.get();
                if (test != null
                        && outage == null
                        && !refusals.isEmpty()
                        && group.contains(test)
                        && refusals.tryAgain(work -> transactions.attempt(session, work))
                        && system.kind() == DatabaseKind.SQLITE) {
                    session.discard(); // so that listeners read tables that they could not read
                }
                writeGroup(session, group);
            } catch (RuntimeException | Error fault) {
                // Without its writer the hub would wait for ever.
                LOG.log(Level.ERROR, "the writer failed; it continues with the next group", fault);
                session.discard();
                refuse(group, new StoreException("could not write", fault));
            }
            watch.end();
        }
        do {
            refuse(group, new ClosedException());
            takeWithin(0, group);
        } while (!group.isEmpty());
        teller.end();
        session.discard();
    }

    /** Waits for work or, while the database fails or its answer was late, until the next attempt is due. */
    private void take(ArrayDeque<Work> group) {
        Outage now = outage == null ? silence : outage;
        takeWithin(now == null || isEnded ? Long.MAX_VALUE : now.nanosToRetry(), group);
    }

    /** Fails all waiting works because the database does not answer, and interrupts the statement of the writer. On the timer's thread. */
    private void giveUp() {
        if (isEnded) {
            return;
        }
        var late = new SQLException(
                "the database did not answer within " + system.patience().toSeconds() + " s");
        boolean isNew = silence == null;
        Outage known = outage;
        Outage found = known == null ? Outage.after(1, late) : known;
        silence = found;
        if (isNew) {
            LOG.log(Level.ERROR, UNTIL_IT_CAN + ": " + Outage.message(found.cause()));
            outageChanged.run();
        }
        WriteTest waiting = latestTest.get();
        if (waiting != null) {
            waiting.outageBegan();
        }
        if (isNew || watch.hasHadTime()) {
            system.interrupt(thread);
        }
        teller.tell(queue.removeAllBut(STOP), outageException("the database cannot be written", found));
    }

    /** @param isUnhurried true while writes have no time limit */
    void takeTime(boolean isUnhurried) {
        watch.takeTime(isUnhurried);
    }

    private void answered() {
        if (silence != null) {
            silence = null;
            LOG.log(Level.INFO, "the database answers again");
            outageChanged.run();
        }
    }

    private void takeWithin(long nanos, ArrayDeque<Work> group) {
        try {
            queue.take(group, GROUP, nanos);
        } catch (InterruptedException ignored) {
            // only close() ends this thread, by STOP
        }
    }

    private void refuse(Queue<Work> works, Exception cause) {
        teller.tell(works, cause);
        works.clear();
    }

    /** Writes works and tells each of them, until {@code group} is empty. */
    private void writeGroup(DatabaseSession session, Queue<Work> group) {
        writeGroup(session, group, 1);
    }

    private void writeGroup(DatabaseSession session, Queue<Work> group, int attempt) {
        Outage known = outage;
        if (known != null) {
            refuse(group, outageException("the database cannot be written", known));
            return;
        }
        if (group.isEmpty()) {
            return;
        }
        Transactions.Result result = transactions.transact(session, group);
        Exception problem = result.problem();
        if (problem == null) {
            committedAt = System.nanoTime();
            tellCommitted(group);
            answered();
            if (restDue) {
                restDue = false;
                moveRest(session);
            }
            return;
        }
        Outage silent = silence;
        if (silent != null && Outage.isOfDatabase(problem)) {
            refuse(group, outageException("could not write", silent));
            tryToWrite(session, outage, problem);
            return;
        }
        if (Outage.isOfDatabase(problem) && !Outage.isOfData(problem)) {
            tryToWrite(session, null, problem);
            awaitDatabase(session);
            if (outage == null && result.ending() == Transactions.Ending.UNCERTAIN && system.hasLanded()) {
                tellCommitted(group);
                return;
            }
            if (outage == null && attempt < MAX_ATTEMPTS && repeatsGroups() && StoreException.isTemporary(problem)) {
                writeGroup(session, group, attempt + 1);
                return;
            }
        }
        if (outage != null || group.size() == 1 || result.ending() == Transactions.Ending.UNCERTAIN) {
            refuse(session, group, problem);
        } else if (repeatsGroups()) {
            // A commit waits for a network and a disk, so few of them have to find the works that fail.
            var firstHalf = new ArrayDeque<Work>();
            for (int left = group.size() / 2; left > 0; left--) {
                firstHalf.add(group.remove());
            }
            writeGroup(session, firstHalf);
            writeGroup(session, group);
        } else {
            // One bad piece must not take the others with it: each gets a transaction of its own.
            for (Work work = group.poll(); work != null; work = group.poll()) {
                writeGroup(session, new ArrayDeque<>(List.of(work)));
            }
        }
    }

    private void refuse(DatabaseSession session, Queue<Work> group, Exception problem) {
        Outage now = outage;
        if (now != null) {
            if (!FileFaultException.isCauseOf(problem)) { // logged by the attempt to write
                LOG.log(Level.ERROR, "could not write", problem);
            }
            refuse(group, outageException("could not write", now));
        } else if (group.size() == 1 && Outage.isStanding(problem) && !hasPassed(session, group.element(), problem)) {
            refuse(group, refusals.add(group.element(), problem));
        } else {
            LOG.log(Level.ERROR, "could not write", problem);
            refuse(group, StoreException.of("could not write", problem));
        }
    }

    /** Whether a fault of SQLite's file is over: it took another write after the fault, and takes this work. */
    private boolean hasPassed(DatabaseSession session, Work work, Exception problem) {
        return Outage.mayLackSpace(problem) && transactions.attempt(session, work) == null;
    }

    private OutageException outageException(String message, Outage known) {
        // Callers are not told where the data is.
        String words = Outage.words(known.cause())
                .replace(" in data directory \"" + place + "\"", "")
                .replace(place, "the data directory");
        return new OutageException(
                message,
                CANNOT_WRITE + (Outage.isFull(known.cause()) ? "its disk is full: " : "") + words,
                known.cause());
    }

    /** Whether works can wait for the database, since the outcome of each commit is known in the end. */
    private boolean repeatsGroups() {
        return system.patience().isPositive();
    }

    /** Tries to write until the database takes it, or the works have waited for long enough. */
    private void awaitDatabase(DatabaseSession session) {
        long end = watch.end(System.nanoTime());
        for (Outage now = outage;
                now != null
                        && !isEnded
                        && !FileFaultException.isCauseOf(now.cause())
                        && open.getAsBoolean()
                        && System.nanoTime() - end < 0;
                now = outage) {
            LockSupport.parkNanos(Math.max(1, Math.min(now.nanosToRetry(), end - System.nanoTime())));
            if (now.nanosToRetry() <= 0) {
                tryToWrite(session, now, now.cause());
            }
        }
    }

    private void tellCommitted(Queue<Work> group) {
        teller.tell(group, null);
        pagesSinceCheckpoint += PAGES_OF_GROUP;
        for (Work work = group.poll(); work != null; work = group.poll()) {
            pagesSinceCheckpoint += work.rows();
        }
        if (pagesSinceCheckpoint >= CHECKPOINT_AFTER) {
            pagesSinceCheckpoint = 0;
            moveSoon();
        }
    }

    /**
     * Asks the database itself whether it can write, by writing, and says in {@link #outage} if it cannot.
     *
     * @param problem the latest failure
     */
    private void tryToWrite(DatabaseSession session, @Nullable Outage before, Exception problem) {
        needsSpace |= system.kind() == DatabaseKind.SQLITE && Outage.mayLackSpace(problem);
        if (needsSpace) {
            freeSpaceSoon(); // it may be the write-ahead log that fills the disk
        }
        try {
            files.require();
            boolean remembers = session.isConnected();
            system.lockTimeout(session, PROBE_MS);
            if (!remembers) {
                transactions.reopen(session);
            }
            system.begin(session);
            system.touch(session);
            session.commit();
            files.afterCommit();
            system.committed();
            if (needsSpace) {
                SqliteSystem.requireSpace(session);
            }
            system.lockTimeout(session, SqliteSystem.BUSY_MS);
            if (before != null) {
                LOG.log(Level.INFO, "the database can be written again");
            }
            committedAt = System.nanoTime();
            outage = null;
            needsSpace = false;
            if (before != null) {
                outageChanged.run();
            }
            answered();
        } catch (SQLException | RuntimeException failure) {
            stillFails(session, before, problem, failure);
        }
    }

    /** Notes in {@link #outage} that the database cannot be written yet. */
    private void stillFails(DatabaseSession session, @Nullable Outage before, Exception problem, Exception failure) {
        Thread.interrupted(); // by the watch, while a connection was opened
        session.discard();
        boolean isOfFiles = FileFaultException.isCauseOf(failure);
        if (!needsSpace && !isOfFiles) {
            moveSoon();
        }
        // The checkpointer, which frees space, holds the lock meanwhile; on a slow disk for longer than an attempt
        // waits.
        Exception cause = needsSpace && Outage.isBusy(failure) ? problem : failure;
        outage = Outage.after(before == null ? 1 : before.failures() + 1, cause);
        if (isOfFiles) {
            if (before == null || !Outage.message(before.cause()).equals(Outage.message(failure))) {
                LOG.log(Level.ERROR, UNTIL_IT_CAN + ": " + Outage.message(failure));
            }
        } else if (before == null) {
            LOG.log(Level.ERROR, UNTIL_IT_CAN, failure);
        }
        WriteTest waiting = latestTest.get();
        if (waiting != null) {
            waiting.outageBegan();
        }
        if (before == null) {
            outageChanged.run();
        }
        Ending end = EndedException.in(failure);
        if (end != null) {
            end(end);
        }
    }

    /** Has nothing written any more. On any thread. */
    void end(Ending end) {
        outage = outage == null ? Outage.after(1, new SQLException(end.words())) : outage;
        isEnded = true;
        ended.accept(end);
        teller.tell(queue.removeAllBut(STOP), new OutageException(end.words()));
    }

    /** Has the writer move the rest of the write-ahead log, so that the next transaction begins it anew. */
    void moveRest() {
        restDue = true;
    }

    private void moveRest(DatabaseSession session) {
        try {
            files.moveNow(() -> {
                Connection connection = session.connection();
                connection.setAutoCommit(true);
                session.once("PRAGMA wal_checkpoint(PASSIVE)");
                connection.setAutoCommit(false);
                return connection;
            });
        } catch (SQLException | RuntimeException failure) {
            session.discard();
            LOG.log(Level.WARNING, "a checkpoint failed; the next one moves its pages too", failure);
        }
    }

    private void moveSoon() {
        if (checkpointer != null) {
            checkpointer.wake();
        }
    }

    private void freeSpaceSoon() {
        if (checkpointer != null) {
            checkpointer.freeSpace();
        }
    }

    void onOutage(Runnable changed) {
        outageChanged = changed;
    }

    /** Why nothing can be written at present, for operators; empty if the last attempt succeeded. The writer tries again by itself. */
    Optional<String> outage() {
        Outage silent = silence;
        Outage now = silent == null ? outage : silent;
        if (now == null) {
            return Optional.empty();
        }
        String full = Outage.isFull(now.cause()) ? "the disk of " + place + " is full: " : "";
        return Optional.of(CANNOT_WRITE + full + Outage.words(now.cause()));
    }

    /**
     * {@link #outage()}, found by a write if there was none for a second. The write takes its turn among all others, so a
     * writer that hangs is an outage, too. Waits for 2 s at most; callers share one write a second.
     */
    Optional<String> testWriting() {
        Optional<String> known = outage();
        boolean isRecent = System.nanoTime() - committedAt < RECENT.toNanos();
        if (known.isPresent() || isRecent && refusals.isEmpty() && files.areOpen()) {
            return known;
        }
        try {
            return writeTest().outcome(TEST_PATIENCE).or(refusals::ofTasks);
        } catch (InterruptedException stopped) {
            Thread.currentThread().interrupt();
            return Optional.of("interrupted while the database was tested");
        }
    }

    Map<String, String> refusedParts() {
        return refusals.ofOthers();
    }

    /** Has the writer look whether its connection still leads to the server that is to be written, by a write. Waits for 2 s at most. */
    void findServer(Duration patience) {
        try {
            writeTest().outcome(patience);
        } catch (InterruptedException stopped) {
            Thread.currentThread().interrupt();
        }
    }

    private WriteTest writeTest() {
        WriteTest latest = latestTest.get();
        var next = new WriteTest();
        boolean isNew = (latest == null || latest.isOutdated()) && latestTest.compareAndSet(latest, next);
        if (isNew) {
            submit(next);
        }
        return isNew ? next : requireNonNull(latestTest.get());
    }

    /** A write that shows whether writing works. */
    private final class WriteTest implements Work {
        private final long begun = System.nanoTime();
        private final CompletableFuture<Optional<String>> outcome = new CompletableFuture<>();

        boolean isOutdated() {
            return outcome.isDone() && (System.nanoTime() - begun >= RECENT.toNanos() || !files.areOpen());
        }

        /** Why nothing can be written; empty if this was. Waits until 2 s after the begin, and for {@code patience} at most. */
        Optional<String> outcome(Duration patience) throws InterruptedException {
            long left = Math.min(patience.toNanos(), begun + TEST_PATIENCE.toNanos() - System.nanoTime());
            try {
                return outcome.get(left, TimeUnit.NANOSECONDS);
            } catch (TimeoutException late) {
                return Optional.of("the database did not answer within " + TEST_PATIENCE.toSeconds() + " s");
            } catch (ExecutionException impossible) {
                throw new IllegalStateException(impossible);
            }
        }

        @Override
        public void write(DatabaseSession session) throws SQLException {
            system.touch(session);
        }

        @Override
        public void committed() {
            outcome.complete(Optional.empty());
        }

        /** Ends the wait before the writer gives up on works that wait for the database. */
        void outageBegan() {
            outcome.complete(outage());
        }

        @Override
        public void failed(Exception cause) {
            outcome.complete(outage().or(() -> Optional.of(CANNOT_WRITE + Outage.words(cause))));
        }
    }

    /** Writes the submitted works, calls their callbacks, and ends the thread. */
    void close() throws InterruptedException {
        queue.addUnbounded(STOP);
        thread.join();
        teller.join();
    }
}
