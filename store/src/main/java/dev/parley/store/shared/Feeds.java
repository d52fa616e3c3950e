package dev.parley.store.shared;

import dev.parley.store.shared.Epochs.Numbers;
import dev.parley.store.spi.ClosedException;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;

/**
 * Rows that all hubs of a database add, and of which each hub passes on those of the others: changes of a registry, events of a mesh. A
 * hub looks for rows of others once a second, with the renewal of its lease, and earlier after a hint, a {@code NOTIFY} outside of the
 * transaction. A lost hint costs the rest of the second. A hub sends a hint that failed again with the next renewal, and looks at all
 * feeds after each {@code LISTEN}, because the server does not keep the hints of before.
 *
 * <p>A hub that has its database alone never looks and sends no hint. Safe for any thread.
 */
public final class Feeds {
    private static final Logger LOG = System.getLogger("dev.parley.store");

    /** Feeds of a database that one hub uses. */
    public static final Feeds NONE = new Feeds(false, 0);

    /** Feed of the ends of hubs, whose tasks others take over. */
    public static final String ENDED_HUBS = "ended hubs";

    private static final String HINT = "SELECT length(CAST(pg_notify(" + Epochs.CHANNEL + ", ?) AS TEXT))";
    private static final String WORD = "feed ";

    /** Hints of so long are sent together. */
    private static final Duration GATHERING = Duration.ofMillis(5);

    private final boolean isShared;
    private final long hub;
    private volatile Numbers database = (sql, values) -> 0;
    private volatile Runnable news = () -> {};
    private final List<Follower> followers = new CopyOnWriteArrayList<>();
    private final Set<String> told = ConcurrentHashMap.newKeySet();
    private final AtomicBoolean sends = new AtomicBoolean();

    /** @param hub number of the hub that shares its database */
    public Feeds(long hub) {
        this(true, hub);
    }

    private Feeds(boolean isShared, long hub) {
        this.isShared = isShared;
        this.hub = hub;
    }

    /** Whether other hubs may add rows. */
    public boolean isShared() {
        return isShared;
    }

    /**
     * Has a feed followed until the hub ends.
     *
     * @param look reads the rows that other hubs have added since its last call, and passes them on; called on a thread of its own, never
     *     twice at once; may block, and is called again a second after a failure
     */
    public void follow(String feed, Runnable look) {
        add(feed, look, true);
    }

    /** {@link #follow} without the look of each second: the hub looks after a hint, and after each {@code LISTEN}. */
    public void hear(String feed, Runnable look) {
        add(feed, look, false);
    }

    private void add(String feed, Runnable look, boolean isFollowed) {
        if (isShared) {
            followers.add(new Follower(feed, look, isFollowed));
        }
    }

    /** Tells other hubs soon that this one has committed rows of a feed. Does not block. */
    public void tell(String feed) {
        if (isShared) {
            told.add(feed);
            sendSoon();
        }
    }

    private void sendSoon() {
        if (sends.compareAndSet(false, true)) {
            Thread.ofVirtual().name("store-feeds").start(this::send);
        }
    }

    /** {@link #tell}, and a look by this hub, too. */
    public void tellAll(String feed) {
        tell(feed);
        look(feed);
    }

    private void look(String feed) {
        news.run();
        followers.stream().filter(follower -> follower.feed.equals(feed)).forEach(Follower::look);
    }

    private void send() {
        LockSupport.parkNanos(GATHERING.toNanos());
        sends.set(false); // what is told from here on is sent by the next one
        for (String feed : List.copyOf(told)) {
            told.remove(feed);
            try {
                database.number(HINT, WORD + hub + " " + feed);
            } catch (SQLException | RuntimeException failure) {
                told.add(feed);
                LOG.log(Level.DEBUG, "other hubs learn of new rows by the renewals of leases", failure);
            }
        }
    }

    // ---- Of the lease

    /**
     * Begins.
     *
     * @param reader reads from the database
     * @param hinted called before looks that a hint leads to; does not block
     */
    public void open(Numbers reader, Runnable hinted) {
        database = reader;
        news = hinted;
    }

    /** Whether a hint is one of a feed. If it is one of another hub that this one follows, its rows are looked for. */
    public boolean takes(String hint) {
        if (!hint.startsWith(WORD)) {
            return false;
        }
        String source = hint.substring(WORD.length());
        int space = source.indexOf(' ');
        if (space > 0 && !source.substring(0, space).equals(Long.toString(hub))) {
            look(source.substring(space + 1));
        }
        return true;
    }

    /** To be called after each {@code LISTEN}: looks at all feeds, since hints of before are lost. Does not block. */
    public void listens() {
        news.run();
        followers.forEach(Follower::look);
    }

    /** To be called after each renewal of the lease: looks at the followed feeds, and sends hints that failed. Does not block. */
    public void renewed() {
        if (!told.isEmpty()) {
            sendSoon();
        }
        followers.stream().filter(follower -> follower.isFollowed).forEach(Follower::look);
    }

    /** Looks one at a time; what comes meanwhile leads to one further look. */
    private static final class Follower {
        private final String feed;
        private final Runnable look;
        private final boolean isFollowed;
        private final AtomicInteger wanted = new AtomicInteger();
        private boolean hasFailed; // of the thread that looks

        Follower(String feed, Runnable look, boolean isFollowed) {
            this.feed = feed;
            this.look = look;
            this.isFollowed = isFollowed;
        }

        void look() {
            if (wanted.getAndIncrement() == 0) {
                Thread.ofVirtual().name("store-feed").start(this::lookAll);
            }
        }

        private void lookAll() {
            int done;
            do {
                done = wanted.get();
                try {
                    look.run();
                    hasFailed = false;
                } catch (RuntimeException | Error failure) { // a follower that ends would never look again
                    LOG.log(
                            hasFailed ? Level.DEBUG : ClosedException.level(failure),
                            "rows of other hubs could not be read: " + feed,
                            failure);
                    hasFailed = true;
                }
            } while (!wanted.compareAndSet(done, 0));
        }
    }
}
