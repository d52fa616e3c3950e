package dev.parley.extension;

import dev.parley.store.database.DatabaseSession;
import java.sql.SQLException;
import java.time.Instant;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Timers that outlast a restart of the hub, if it keeps its data. Safe for any thread. */
public interface HubTimers {
    /**
     * The timers of one purpose.
     *
     * @param name such as {@code notes/reminder}; its timers of earlier starts become due, too
     */
    Timers named(String name, Handler handler);

    /** Handles a timer. */
    @FunctionalInterface
    interface Handler {
        /**
         * Called on a virtual thread, at the due time or soon after it; for a timer that was due while the hub was down, after its
         * start. A call that fails, or has not ended within five minutes, is repeated, as is one that a crash cut off: so it should be
         * idempotent.
         *
         * @throws Exception to be called again, after a pause that doubles from a second to ten minutes
         */
        void due(String id, String content) throws Exception;
    }

    /** Timers of one purpose, by ids that the extension chooses. */
    interface Timers {
        /** Sets a timer, in place of the one of the same id. It is on disk when this returns. */
        void set(String id, Instant due, String content);

        /** Sets a timer in a transaction of the extension, in the database of the hub. On its writer thread. */
        void set(DatabaseSession session, String id, Instant due, String content) throws SQLException;

        /** Removes a timer. One whose handler runs is not stopped. */
        void cancel(String id);

        /**
         * Erases personal data in the contents of timers.
         *
         * @param change returns what stays of a content; null removes the timer
         * @return how many timers have changed
         */
        int erase(Function<String, @Nullable String> change);
    }
}
