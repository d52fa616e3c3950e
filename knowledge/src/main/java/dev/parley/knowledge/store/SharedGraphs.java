package dev.parley.knowledge.store;

import dev.parley.store.database.Database;
import dev.parley.store.database.DatabaseSession;
import dev.parley.store.shared.Epoch;
import dev.parley.store.shared.Epochs;
import dev.parley.store.shared.Feeds;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.sql.SQLException;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

/**
 * Agreement of hubs that share a database about what each of them has of the graphs in memory. Rules, shapes, certainties and erasures
 * change seldom: after such a change all hubs drop what they have, and read the rows again when they need them. New changes of
 * statements are looked for by hubs that have subscribers.
 *
 * <p>A hub that has its database alone does nothing of this. Safe for any thread.
 */
public final class SharedGraphs {
    private static final Logger LOG = System.getLogger("dev.parley.knowledge");
    private static final String FEED = "knowledge";

    private final Epochs epochs;
    private final Feeds feeds;
    private final List<Copy> copies = new CopyOnWriteArrayList<>();
    private volatile Runnable look = () -> {};

    SharedGraphs(Database database) {
        this.epochs = database.access().epochs();
        this.feeds = database.access().feeds();
        epochs.keep(Epoch.KNOWLEDGE, () -> {
            lookFirst();
            // By the writer, so that what it has read before is committed when this hub says that it has seen the
            // change.
            database.write(session -> {
                for (Copy copy : copies) {
                    copy.drop(session);
                }
                return copies;
            });
        });
    }

    /** Subscribers see what an erasure removes before its changes are forgotten. */
    private void lookFirst() {
        try {
            look.run();
        } catch (RuntimeException later) {
            LOG.log(Level.DEBUG, "subscribers read the changes of another hub later", later);
        }
    }

    /** Whether other hubs may write to the graphs. */
    public boolean isShared() {
        return epochs.isShared();
    }

    /** Something in memory that other hubs may change. */
    @FunctionalInterface
    public interface Copy {
        /** Drops it, since another hub has changed something. On the writer thread; must not block. */
        void drop(DatabaseSession session) throws SQLException;
    }

    /** Has a copy dropped when another hub has changed something. */
    public void onChange(Copy copy) {
        copies.add(copy);
    }

    /**
     * Counts a change that other hubs may have in memory, in its transaction.
     *
     * @return its number, for {@link #await}
     */
    public long changed(DatabaseSession session) throws SQLException {
        return epochs.bump(session, Epoch.KNOWLEDGE);
    }

    /** Waits until all hubs have dropped what they had before a committed change, or answer nothing until they have. */
    public void await(long number) {
        var unused = epochs.barrier(Epoch.KNOWLEDGE, number);
    }

    /** @param look reads what other hubs have added to the graphs; see {@link Feeds#follow} */
    public void follow(Runnable look) {
        this.look = look;
        feeds.follow(FEED, look);
    }

    /** Tells other hubs soon that changes of a graph are on disk. Does not block. */
    public void tell() {
        feeds.tell(FEED);
    }
}
