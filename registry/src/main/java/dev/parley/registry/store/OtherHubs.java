package dev.parley.registry.store;

import dev.parley.store.database.Database;
import dev.parley.store.shared.Feeds;
import dev.parley.store.shared.Poll;
import dev.parley.store.spi.StoreException;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Objects;
import java.util.concurrent.TimeUnit;

/**
 * Changes of entries that other hubs commit to a shared database, and the clock that these hubs have in common: that of the database, which
 * is read with the changes, once a second. A hub that has its database alone follows nothing, and has its own clock. Safe for any thread.
 */
final class OtherHubs implements InstantSource {
    private static final String FEED = "registry";

    /** The newest change, and the clock of the database in milliseconds. */
    private static final String NEWEST =
            "SELECT change, CAST(extract(epoch FROM clock_timestamp()) * 1000 AS BIGINT) FROM registry_newest";

    private static final String NEWEST_AS_TEXT = NEWEST.replace("change, ", "change || ' ' || ");

    /**
     * A look at the database.
     *
     * @param nanos of {@link System#nanoTime} after it
     */
    private record Look(long change, long millis, long nanos) {}

    private final Database database;
    private final Feeds feeds;
    private final InstantSource own;
    private final EntryCache cache;
    private final Disclosure disclosure;
    private final Poll.Question newest;
    private volatile Look latest = new Look(0, 0, 0);

    /** @param own clock of a hub that has its database alone */
    OtherHubs(Database database, InstantSource own, EntryCache cache, Disclosure disclosure) {
        this.database = database;
        this.feeds = database.access().feeds();
        this.own = own;
        this.cache = cache;
        this.disclosure = disclosure;
        this.newest = database.access().poll().add(NEWEST_AS_TEXT);
        if (feeds.isShared()) {
            latest = look(0);
        }
    }

    /**
     * Has the readers of a log see the changes of other hubs from now on.
     *
     * @param derive brings tables of extensions up to date, which a hub without the extension does not write
     */
    void follow(EntryLog log, Runnable derive) {
        feeds.follow(FEED, () -> {
            try {
                if (follow(latest.change(), log)) {
                    derive.run();
                }
            } catch (StoreException outage) {
                if (!log.isClosed()) {
                    throw outage;
                }
            }
        });
    }

    private boolean follow(long before, EntryLog log) {
        Poll.Answer polled = newest.answer();
        String[] numbers =
                Objects.requireNonNull(polled.text(), "the newest change").split(" ", 2);
        if (Long.parseLong(numbers[0]) == before) {
            latest = new Look(before, Long.parseLong(numbers[1]), polled.ended());
            return false;
        }
        Look now = look(before);
        latest = now;
        boolean isNews = now.change() != before;
        if (isNews) {
            log.wakeReaders();
        }
        return isNews;
    }

    /** Tells other hubs of a change that is on disk. */
    void tell() {
        feeds.tell(FEED);
    }

    private Look look(long before) {
        return database.read(session -> {
            Look now = session.first(row -> new Look(row.getLong(1), row.getLong(2), System.nanoTime()), NEWEST)
                    .orElseThrow();
            if (now.change() != before) {
                disclosure.follow(session, before);
                if (EntryRows.isAnyErased(session, before)) {
                    cache.clear();
                    disclosure.forget();
                }
            }
            return now;
        });
    }

    @Override
    public Instant instant() {
        Look look = latest;
        return feeds.isShared()
                ? Instant.ofEpochMilli(look.millis() + TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - look.nanos()))
                : own.instant();
    }
}
