package dev.parley.store.rows;

import dev.parley.protocol.support.LruMap;
import dev.parley.store.database.DatabaseSession;
import dev.parley.store.database.DatabaseSession.RowReader;
import dev.parley.store.spi.StoreException;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Rows of a kind that no Parley has written in this form, such as after a fault of a disk. They are left out, so that they keep neither the
 * hub from starting nor others from being read; the log names each once. Safe for any thread.
 */
public final class DamagedRows {
    private static final Logger LOG = System.getLogger("dev.parley.store");
    private static final int MOST = 1_000;

    private final String kind;
    private final Map<String, String> reasons = Collections.synchronizedMap(new LruMap<>(MOST));

    /** @param kind noun for messages, such as {@code key} */
    public DamagedRows(String kind) {
        this.kind = kind;
    }

    /** Why rows are left out, by their first columns: of those that were found until now, the last 1,000. */
    public Map<String, String> reasons() {
        synchronized (reasons) {
            return Map.copyOf(reasons);
        }
    }

    /**
     * Reads the rows of an answer, without those that the reader refuses by a {@link RuntimeException}. The first column names a row.
     *
     * @throws SQLException if the database cannot be read
     */
    public <T> List<T> list(DatabaseSession session, RowReader<T> reader, String sql, @Nullable Object... values)
            throws SQLException {
        return session.list(row -> read(row, reader), sql, values).stream()
                .flatMap(Optional::stream)
                .toList();
    }

    /**
     * Reads a row; empty if the reader refuses it by a {@link RuntimeException}.
     *
     * @throws SQLException if the database cannot be read
     */
    public <T> Optional<T> read(ResultSet row, RowReader<T> reader) throws SQLException {
        try {
            return Optional.ofNullable(reader.read(row));
        } catch (RuntimeException unreadable) {
            if (StoreException.isTemporary(unreadable)) { // of a read within this one
                throw unreadable;
            }
            String reason = "the row cannot be read: " + unreadable.getMessage();
            String name = String.valueOf(DatabaseSession.text(row, 1));
            if (reasons.put(name, reason) == null) {
                LOG.log(Level.ERROR, kind + " \"" + name + "\": " + reason);
            }
            return Optional.empty();
        }
    }
}
