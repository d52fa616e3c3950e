package dev.parley.store.database;

import dev.parley.store.shared.DatabaseClock;
import dev.parley.store.shared.Epoch;
import dev.parley.store.shared.Epochs;
import dev.parley.store.shared.Epochs.Numbers;
import dev.parley.store.shared.Feeds;
import dev.parley.store.shared.Poll;
import dev.parley.store.shared.Release;
import dev.parley.store.spi.ClosedException;
import dev.parley.store.spi.Ending;
import dev.parley.store.spi.OutageException;
import java.sql.SQLException;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Whether a program may use a database that it has open. It may not any more when another hub has taken the database over, or the
 * database went back in time. Safe for any thread.
 */
public final class DatabaseAccess implements Readers.Guard {
    private static final Duration SEARCH = Duration.ofSeconds(2);

    private final BooleanSupplier open;
    private final CompletableFuture<Ending> ending = new CompletableFuture<>();
    private final Poll poll = new Poll();
    private volatile @Nullable HubLease lease;

    private volatile Consumer<Duration> serverSearch = patience -> {};

    /** The level of the forms that hubs write; 0 for the newest one. */
    private volatile int level;

    /** @param open false once the database is closed */
    DatabaseAccess(BooleanSupplier open) {
        this.open = open;
    }

    /** Why this program may not use the database any more; empty as long as it may. */
    public Optional<Ending> ending() {
        return Optional.ofNullable(ending.getNow(null));
    }

    /**
     * Tells when this program may not use the database any more. Neither reads nor writes of the database are answered from then on.
     *
     * @param ended is called once, at once if that has come to pass already, on a thread that it must not block
     */
    public void onEnding(Consumer<Ending> ended) {
        var unused = ending.thenAccept(ended);
    }

    /**
     * Why nothing may be answered at present, not even from memory, for operators: another hub has taken the database over, or may have,
     * since this program did not run or did not see the database for some time. Costs nothing; for each call.
     */
    public Optional<String> obstacle() {
        Optional<String> absence = absence();
        HubLease renewed = lease;
        return absence.isPresent() || renewed == null || renewed.isCurrent()
                ? absence
                : Optional.of("changes by another hub could not be read from the database for some seconds");
    }

    /** Why the database may not be used at present; it may if only a copy in memory is out of date, which is then read again. */
    private Optional<String> absence() {
        Ending end = ending.getNow(null);
        if (end != null) {
            return Optional.of(end.words());
        }
        HubLease renewed = lease;
        return renewed == null || renewed.isCertain()
                ? Optional.empty()
                : Optional.of("the lease of the hub in the database is over, and has not been renewed yet");
    }

    /** Numbers of the changes of which hubs that share the database have copies in memory. */
    public Epochs epochs() {
        HubLease renewed = lease;
        return renewed == null ? Epochs.NONE : renewed.epochs();
    }

    /** Rows that all hubs which share the database add, and of which each passes on those of the others. */
    public Feeds feeds() {
        HubLease renewed = lease;
        return renewed == null ? Feeds.NONE : renewed.feeds();
    }

    /**
     * The clock that all hubs agree on which have the database: that of the database if this hub shares it.
     *
     * @param own the clock of this hub
     */
    public InstantSource clock(InstantSource own) {
        HubLease renewed = lease;
        return renewed != null && renewed.epochs().isShared() ? renewed.clock() : own;
    }

    /** Questions that a hub which shares its database asks each second. Their answers are read again after a hint of another hub. */
    public Poll poll() {
        return poll;
    }

    /**
     * The level of the forms that this program may write: no hub that has the database open, or may come back, knows less. A new form of
     * rows or events is written from its level on, and read by all that know it. Costs nothing.
     */
    public int level() {
        return level == 0 ? Release.newest() : level;
    }

    /** The number of this hub in its database of PostgreSQL; 0 for SQLite. */
    public long hub() {
        HubLease renewed = lease;
        return renewed == null ? 0 : renewed.hub();
    }

    @Override
    public void requireUsable() {
        if (!open.getAsBoolean()) {
            throw new ClosedException();
        }
        absence().ifPresent(reason -> {
            throw new OutageException(reason);
        });
    }

    @Override
    public void findServer(Duration patience) {
        serverSearch.accept(patience);
    }

    /**
     * Has a hub work with the database.
     *
     * @param end has nothing written any more
     * @param search see {@link #findServer}
     */
    void hold(HubLease held, Consumer<Ending> end, Consumer<Duration> search, Readers readers) {
        serverSearch = search;
        Numbers reader = (sql, values) -> readers.read(session -> session.number(sql, values));
        held.epochs().open(reader);
        if (held.epochs().isShared()) {
            long askedAt = System.nanoTime();
            held.clock().read(readers.read(session -> session.number(DatabaseClock.MILLIS)), askedAt);
        }
        poll.open(sql -> readers.read(session -> row(session, sql)));
        held.feeds().open(reader, poll::renew);
        held.epochs().keep(Epoch.LEVEL, () -> level = readers.read(Migrations::level));
        level = readers.read(Migrations::level);
        lease = held;
        held.work(end, () -> search.accept(SEARCH));
    }

    /** Returns the columns of the first row. */
    private static List<@Nullable String> row(DatabaseSession session, String sql) throws SQLException {
        return session.first(
                        row -> {
                            var columns = new ArrayList<@Nullable String>();
                            for (int i = 1; i <= row.getMetaData().getColumnCount(); i++) {
                                columns.add(DatabaseSession.text(row, i));
                            }
                            return columns;
                        },
                        sql)
                .orElseThrow();
    }

    void end(Ending end) {
        ending.complete(end);
    }

    void close() throws InterruptedException {
        HubLease renewed = lease;
        if (renewed != null) {
            renewed.close();
        }
    }
}
