package dev.parley.store.tasks;

import dev.parley.store.database.DatabaseSession;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.sql.SQLException;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * Partitions of the keys of messages in PostgreSQL: one for each day, made the day before and dropped two days after, so that no key has to be
 * deleted by itself. Without one, as on the day of the first start, keys are in the default partition. For the writer's thread.
 */
final class MessagePartitions {
    private static final Logger LOG = System.getLogger("dev.parley.store");

    /** Making and dropping needs a lock that each reader of the table holds, also a backup, which may read for hours. */
    private static final int LOCK_MS = 20;

    private static final long PAUSE_NANOS = TimeUnit.MINUTES.toNanos(1);

    private static final String PREFIX = "message_";

    private long pausedUntil = System.nanoTime();

    /** Makes those of today and tomorrow, and drops those before yesterday; false if that is to be tried again. */
    boolean update(DatabaseSession session, long today) throws SQLException {
        if (System.nanoTime() - pausedUntil < 0) {
            return false;
        }
        session.once("SAVEPOINT partitions");
        try {
            session.once("SET LOCAL lock_timeout = " + LOCK_MS);
            List<Long> days = days(session);
            for (long day : days) {
                if (day < today - 1) {
                    session.once("DROP TABLE " + PREFIX + day);
                }
            }
            for (long day = today; day <= today + 1; day++) {
                if (!days.contains(day) && isFree(session, day)) {
                    session.once("CREATE TABLE " + PREFIX + day + " PARTITION OF message FOR VALUES FROM (" + day
                            + ") TO (" + (day + 1) + ")");
                }
            }
            session.once("SET LOCAL lock_timeout = DEFAULT");
            return true;
        } catch (SQLException locked) {
            if (!"55P03".equals(locked.getSQLState())) {
                throw locked;
            }
            LOG.log(Level.DEBUG, "partitions of messages are made later", locked);
            session.once("ROLLBACK TO SAVEPOINT partitions");
            pausedUntil = System.nanoTime() + PAUSE_NANOS;
            return false;
        }
    }

    private static List<Long> days(DatabaseSession session) throws SQLException {
        return session.list(
                rows -> rows.getLong(1),
                "SELECT CAST(substr(relname, ?) AS BIGINT) FROM pg_inherits"
                        + " JOIN pg_class ON pg_class.oid = inhrelid WHERE inhparent = CAST('message' AS regclass)"
                        + " AND relname ~ '^message_[0-9]+$'",
                PREFIX.length() + 1);
    }

    /** False if there are keys of a day already, which a new partition would not have. */
    private static boolean isFree(DatabaseSession session, long day) throws SQLException {
        return session.number("SELECT count(*) FROM (SELECT 1 FROM message_rest WHERE day = ? LIMIT 1) AS any_row", day)
                == 0;
    }
}
