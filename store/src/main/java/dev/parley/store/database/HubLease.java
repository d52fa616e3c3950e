package dev.parley.store.database;

import dev.parley.store.connection.Connector.Opening;
import dev.parley.store.connection.Connector.Use;
import dev.parley.store.connection.HangWatch;
import dev.parley.store.connection.Outage;
import dev.parley.store.connection.ServerIdentity.OtherServerException;
import dev.parley.store.database.PostgresqlStream.EndedException;
import dev.parley.store.shared.DatabaseClock;
import dev.parley.store.shared.Epochs;
import dev.parley.store.shared.Epochs.Barrier;
import dev.parley.store.shared.Feeds;
import dev.parley.store.spi.Ending;
import dev.parley.store.spi.Registration;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.postgresql.PGConnection;
import org.postgresql.PGNotification;

/**
 * Renews the lease of a hub in PostgreSQL each second, by a connection of its own and by the clock of the database, and so learns that
 * the hub was ended by another one, also while it has nothing to write.
 *
 * <p>Hubs that share a database also end those of them that are gone, and wait for their turn to work with the database. A hub that
 * shares its database and cannot renew its lease for 8 s ends itself, since others wait for 9 s. A hub without {@code --cluster}
 * serves on while its server is down; but after a pause of the program of 8 s it answers nothing before it has renewed its lease.
 *
 * <p>Methods are safe for any thread.
 */
final class HubLease implements AutoCloseable {
    private static final Logger LOG = System.getLogger("dev.parley.store");

    private static final Duration BEAT = Duration.ofSeconds(1);

    /** Pause of a hub that shares its database before a renewal that follows one that has failed. */
    private static final Duration RETRY = Duration.ofMillis(200);

    /** Pause between two looks of a hub that waits for its turn. */
    private static final Duration LOOK = Duration.ofMillis(500);

    /** Without a beat for so long a hub has lost its lease, as it must assume; others wait for longer. */
    static final Duration SILENCE = Duration.ofSeconds(8);

    /** The same for a hub that cannot know whether others see its connection. */
    private static final Duration ALONE = Duration.ofMillis(1_400);

    /** A renewal without an answer for so long may have lost its connection. */
    private static final Duration PROMPT = Duration.ofMillis(400);

    /** A hub that works is connected within this time, or tries again: networks repeat what they have lost at growing intervals. */
    private static final Duration CONNECT = Duration.ofSeconds(4);

    /** A hub that reads a copy again renews its lease so much later at most. */
    private static final Duration READING = Duration.ofMillis(200);

    /** The end of a hub waits so long for a database that does not answer. */
    private static final Duration LONGEST_END = Duration.ofSeconds(5);

    private static final String RENEW =
            "UPDATE hub SET beat_at = clock_timestamp(), lease_until = clock_timestamp() + interval '9 s', version = ?,"
                    + " agents = CAST(string_to_array(?, chr(10)) AS TEXT[]) WHERE hub_no = ? AND ended_at IS NULL";

    /** The same of a hub that works with a database that it shares. */
    private static final String RENEW_SHARED = RENEW.replace("version = ?", "seen = CAST(? AS BIGINT[]), version = ?")
            + " RETURNING (SELECT string_agg(kind || ' ' || n, ',') FROM epoch),"
            + " (SELECT string_agg(array_to_string(other.seen, ' '), ',') FROM hub AS other"
            + " WHERE other.ended_at IS NULL AND other.hub_no <> hub.hub_no"
            + " AND EXISTS (SELECT 1 FROM stream WHERE stream.hub_no = other.hub_no)),"
            + " CAST(extract(epoch FROM beat_at) * 1000 AS BIGINT)";

    static final String END = "UPDATE hub SET ended_at = clock_timestamp() WHERE hub_no = ? AND ended_at IS NULL";

    /** Query for a hub that works with the database, and for which this one waits. */
    private static final String HINDRANCE =
            PostgresqlStream.hindrances("name || ' (number ' || hub_no || ')'") + " LIMIT 1";

    /** What a hub that waits for its turn does next. */
    enum NextStep {
        /** Another hub works with the database. */
        WAITS,
        /** No hub works with the database. */
        TAKES,
        /** The server of the database is another one; what was opened by its connections is to be opened again. */
        RECONNECTS,
        /** Another hub has ended this one. */
        ENDED
    }

    private final long hub;
    private final Registration registration;
    private final Epochs epochs;
    private final Feeds feeds;
    private final DatabaseClock clock = new DatabaseClock();
    private final HubJudge judge;
    private final DatabaseSession session;

    private final Thread thread;
    private final ScheduledFuture<?> ticks;
    private volatile Moment ticked = Moment.now();
    /** Before the latest renewal that the database has answered was sent. */
    private volatile Moment beat = Moment.now();

    /** Before the latest renewal was sent whose numbers all copies in memory have. */
    private volatile Moment current = beat;

    /** When a renewal, or a look, was sent that the database has not answered yet; null if there is none. */
    private volatile @Nullable Moment sent;

    /** Whether this connection had the lock by which others see that the hub is connected at the latest beat, and is not lost since. */
    private volatile boolean isLocked;

    private volatile boolean isDoubtful;
    private volatile boolean isClosed;
    /** Receives the end of a hub that works; null while the hub waits for its turn. */
    private volatile @Nullable Consumer<Ending> ended;

    private volatile Runnable otherServer = () -> {};
    private boolean isRenewed = true;

    /**
     * A moment by both clocks: the monotonic one may stand still while a virtual machine is paused, and the other one may be set.
     *
     * @param nanos of {@link System#nanoTime}
     * @param millis of {@link System#currentTimeMillis}
     */
    private record Moment(long nanos, long millis) {
        static Moment now() {
            return new Moment(System.nanoTime(), System.currentTimeMillis());
        }

        /** Whether more time has passed since then, by one of the clocks. */
        boolean isOlderThan(Duration time) {
            return System.nanoTime() - nanos >= time.toNanos()
                    || System.currentTimeMillis() - millis >= time.toMillis();
        }

        Moment later(Moment other) {
            return other.nanos - nanos > 0 ? other : this;
        }
    }

    // Of the hub that waits.
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition turned = lock.newCondition();
    private NextStep turn = NextStep.WAITS;
    private String awaited = "";
    private @Nullable Ending gone;

    /** The connection on which the thread waits for hints; null if it does not. */
    private volatile @Nullable Connection hearing;

    // Of the thread.
    private boolean isListening;

    /** Begins to renew the lease of a hub that is registered. */
    HubLease(PostgresqlSystem system, Registration registration) {
        this.hub = system.hub();
        this.registration = registration;
        this.epochs = registration.isShared() ? new Epochs(hub) : Epochs.NONE;
        this.feeds = registration.isShared() ? new Feeds(hub) : Feeds.NONE;
        this.judge = new HubJudge(system, hub, () -> feeds.tellAll(Feeds.ENDED_HUBS));
        this.session = new DatabaseSession(new Opening(system, Use.RENEW));
        this.thread = Thread.ofPlatform().daemon().name("store-lease").start(this::renewAll);
        this.ticks = HangWatch.TIMER.scheduleAtFixedRate(
                this::tick, BEAT.toMillis(), BEAT.toMillis(), TimeUnit.MILLISECONDS);
    }

    /**
     * Has the hub work with the database from now on.
     *
     * @param end receives the reason if the hub may not any more
     * @param search has the writer look for the server; may block for some seconds
     */
    void work(Consumer<Ending> end, Runnable search) {
        otherServer = search;
        ticked = Moment.now();
        Ending before;
        lock.lock();
        try {
            ended = end;
            before = gone;
        } finally {
            lock.unlock();
        }
        LockSupport.unpark(thread); // to LISTEN at once, and not with the next look
        if (before != null) {
            end.accept(before);
        }
    }

    long hub() {
        return hub;
    }

    /** Numbers of the changes of which this hub has copies. */
    Epochs epochs() {
        return epochs;
    }

    /** Read with each renewal of the lease of a hub that works and shares the database. */
    DatabaseClock clock() {
        return clock;
    }

    /** Rows of all hubs of which this hub passes on those of others. */
    Feeds feeds() {
        return feeds;
    }

    /** False if a copy in memory may lack a change of another hub that has ended waiting for this one. Costs nothing. */
    boolean isCurrent() {
        return !registration.isShared() || !current.isOlderThan(SILENCE);
    }

    /** False if another hub may work with the database by now. Costs nothing. */
    boolean isCertain() {
        if (!registration.isShared()) {
            return !isDoubtful && !ticked.isOlderThan(SILENCE);
        }
        Moment waiting = sent;
        boolean isSeen = isLocked && (waiting == null || !waiting.isOlderThan(PROMPT));
        return !beat.isOlderThan(isSeen ? SILENCE : ALONE);
    }

    /** Apart from the renewals, which may wait for a network. */
    private void tick() {
        long now = System.nanoTime();
        Consumer<Ending> end = ended;
        long beatAt = beat.nanos;
        if (registration.isShared()) {
            if (end != null && !isClosed && now - beatAt >= SILENCE.toNanos()) {
                end.accept(new Ending(
                        Ending.Cause.UNSEEN,
                        "the lease of the hub could not be renewed for "
                                + Duration.ofNanos(now - beatAt).toSeconds()
                                + " s, so that another hub may work with the database",
                        0));
            }
        } else if (ticked.isOlderThan(SILENCE)) {
            isDoubtful = true; // before the time says otherwise
            LOG.log(
                    Level.WARNING,
                    "the hub did not run for some seconds, or the clock was set forward; it answers when it has renewed its"
                            + " lease");
        }
        ticked = Moment.now();
    }

    private void renewAll() {
        long next = System.nanoTime();
        long looked = next - LOOK.toNanos();
        while (!isClosed) {
            long now = System.nanoTime();
            if (now - next >= 0) {
                if (!renew()) {
                    break;
                }
                next = now + (isRenewed || !registration.isShared() ? BEAT : RETRY).toNanos();
            }
            if (registration.isShared() && now - looked >= LOOK.toNanos()) { // hints of other hubs come more often
                looked = now;
                look();
            }
            boolean isBrief = registration.isAtOnce() || registration.isShared() && ended == null;
            long pause = isBrief ? LOOK.toNanos() : next - System.nanoTime();
            pause = Math.max(1, Math.min(pause, next - System.nanoTime()));
            if (registration.isShared() && ended != null && session.isConnected()) {
                next = hears(pause) ? System.nanoTime() : next;
            } else {
                LockSupport.parkNanos(pause);
            }
        }
        if (isClosed && isRenewed) {
            end();
        }
        session.discard();
    }

    private void end() {
        try {
            session.update(END, hub);
        } catch (SQLException | RuntimeException failure) {
            LOG.log(Level.DEBUG, "the end of the hub could not be written", failure);
        }
    }

    /** Waits for a hint of another hub; true if the numbers of changes are to be looked at. */
    private boolean hears(long nanos) {
        try {
            Connection connection = session.connection();
            if (!isListening) {
                session.once("LISTEN \""
                        + session.first(row -> DatabaseSession.text(row, 1), "SELECT " + Epochs.CHANNEL)
                                .orElseThrow() + '"');
                isListening = true;
                feeds.listens();
            }
            hearing = connection;
            if (isClosed) {
                return false;
            }
            PGNotification @Nullable [] hints = connection
                    .unwrap(PGConnection.class)
                    .getNotifications((int) Math.max(1, TimeUnit.NANOSECONDS.toMillis(nanos)));
            boolean isNews = false;
            for (PGNotification hint : hints == null ? new PGNotification[0] : hints) {
                String words = hint.getParameter();
                isNews |= !feeds.takes(words) && epochs.isNews(words);
            }
            return isNews;
        } catch (SQLException | RuntimeException failure) {
            survives(failure);
            return true;
        } finally {
            hearing = null;
        }
    }

    /** Renews the lease; null if the hub has been ended. */
    private @Nullable CompletableFuture<Boolean> renewed() throws SQLException {
        String agents = String.join("\n", registration.agents().get());
        // The tables of a hub that waits may be those of an earlier release.
        if (!registration.isShared() || ended == null) {
            return session.update(RENEW, registration.version(), agents, hub) == 0
                    ? null
                    : CompletableFuture.completedFuture(true);
        }
        Set<Barrier> barriers = epochs.waiting();
        long askedAt = System.nanoTime();
        return session.first(
                        row -> {
                            clock.read(row.getLong(3), askedAt);
                            return epochs.looked(barriers, DatabaseSession.text(row, 1), DatabaseSession.text(row, 2));
                        },
                        RENEW_SHARED,
                        epochs.seen(),
                        registration.version(),
                        agents,
                        hub)
                .orElse(null);
    }

    private void noteCurrent(Moment moment) {
        lock.lock();
        try {
            current = current.later(moment);
        } finally {
            lock.unlock();
        }
    }

    /** Has a copy that is out of date read again, and says so at once if that takes a moment only. */
    private void follow(CompletableFuture<Boolean> reading, Moment since) throws SQLException {
        boolean isNews = !reading.isDone();
        CompletableFuture<?> unused = reading.thenAccept(isRead -> {
            if (isRead) {
                noteCurrent(since);
            }
        });
        if (isNews
                && reading.copy()
                        .completeOnTimeout(false, READING.toMillis(), TimeUnit.MILLISECONDS)
                        .join()) {
            unused = renewed();
            epochs.tellSeen(session);
        }
    }

    /** Returns false if the hub has been ended. */
    private boolean renew() {
        Moment now = Moment.now();
        sent = now;
        try {
            if (!session.isConnected()) {
                isLocked = false;
                epochs.reconnected();
                isListening = false;
            }
            requireLock();
            CompletableFuture<Boolean> reading = renewed();
            if (reading == null) {
                isLocked = false;
                otherServer.run(); // finds out if the database went back in time instead
                accept(PostgresqlStream.takenOver());
                return false;
            }
            beat = now;
            isLocked = registration.isShared();
            isDoubtful &= now.isOlderThan(SILENCE); // the answer may be from before a pause
            if (!isRenewed) {
                LOG.log(Level.INFO, "the lease of the hub is renewed again");
            }
            isRenewed = true;
            sent = null;
            follow(reading, now);
            if (ended != null) {
                feeds.renewed();
            }
        } catch (SQLException | RuntimeException failure) {
            return survives(failure);
        } finally {
            sent = null;
        }
        return true;
    }

    /** Has the server show others that this hub is connected, by this connection. */
    private void requireLock() throws SQLException {
        if (registration.isShared() && !isLocked) {
            if (ended != null) {
                session.open(CONNECT);
            }
            PostgresqlSystem.show(session, hub);
        }
    }

    /** Ends hubs that are gone, and finds out whether it is this hub's turn. */
    private void look() {
        sent = Moment.now();
        try {
            judge.look(session, ended != null && registration.isAtOnce());
            if (ended == null) {
                String name = session.first(
                                row -> DatabaseSession.text(row, 1),
                                HINDRANCE,
                                PostgresqlStream.hindranceOf(hub, registration))
                        .orElse("");
                turn(name.isEmpty() ? NextStep.TAKES : NextStep.WAITS, name);
            }
        } catch (SQLException | RuntimeException failure) {
            survives(failure);
        } finally {
            sent = null;
        }
    }

    /** Returns false if the hub has been ended. */
    private boolean survives(Exception failure) {
        isLocked = false; // the driver may have closed the connection, and others may see that at once
        session.discard();
        judge.lostConnection();
        if (failure instanceof OtherServerException) {
            turn(NextStep.RECONNECTS, "");
            otherServer.run();
            return true;
        }
        Ending end = EndedException.in(failure);
        if (end != null) {
            accept(end);
            return false;
        }
        if (isRenewed && !isClosed) {
            isRenewed = false;
            LOG.log(Level.WARNING, "the lease of the hub cannot be renewed: " + Outage.message(failure));
        }
        return true;
    }

    private void accept(Ending end) {
        Consumer<Ending> receiver;
        lock.lock();
        try {
            receiver = ended;
            gone = end;
        } finally {
            lock.unlock();
        }
        if (receiver != null) {
            receiver.accept(end);
        }
        turn(NextStep.ENDED, "");
    }

    private void turn(NextStep next, String name) {
        lock.lock();
        try {
            turn = next;
            awaited = name;
            turned.signalAll();
        } finally {
            lock.unlock();
        }
    }

    /**
     * Waits until there is something to do for a hub that does not work with the database yet, or another hub works with it.
     *
     * @param known name of the hub that works, as of {@link #working}
     */
    NextStep awaitTurn(String known) throws InterruptedException {
        lock.lockInterruptibly();
        try {
            while (turn == NextStep.WAITS && awaited.equals(known)) {
                turned.await();
            }
            NextStep found = turn;
            turn = found == NextStep.ENDED ? found : NextStep.WAITS; // until the next look
            return found;
        } finally {
            lock.unlock();
        }
    }

    /** Name of the hub that works with the database; empty if none does, or it is not known yet. */
    String working() {
        lock.lock();
        try {
            return awaited;
        } finally {
            lock.unlock();
        }
    }

    /** Ends the hub, unless it has been ended, without waiting for that. */
    void abandon() {
        isClosed = true;
        ticks.cancel(false);
        LockSupport.unpark(thread);
        Connection waiting = hearing;
        if (waiting != null) {
            try {
                // Nothing else wakes a thread that reads. The end of the hub has a connection of its own.
                waiting.abort(Runnable::run);
            } catch (SQLException failure) {
                LOG.log(Level.DEBUG, "a connection could not be ended", failure);
            }
        }
    }

    /** Ends the hub, unless it has been ended. */
    @Override
    public void close() throws InterruptedException {
        abandon();
        var unused = thread.join(LONGEST_END);
    }
}
