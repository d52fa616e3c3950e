package dev.parley.registry.search;

import dev.parley.store.database.DatabaseSession;
import java.sql.SQLException;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Numbers of rows and factors of all entries, and the entries whose texts changed last, as of a version of the index. Each query first
 * reads newer changes, in its own snapshot, so writes of other hubs count as well. Safe for any thread.
 */
final class IndexState {
    /** Changes of texts that are remembered; lists of words from before are read again. */
    private static final int MAX_CHANGES = 4_096;

    /** Factors of entries by their numbers. They are read while others write them: a query sees the old or the new one. */
    static final class Factors {
        private final float[] byNumber;

        private Factors(float[] byNumber) {
            this.byNumber = byNumber;
        }

        float of(int number) {
            return number < byNumber.length && byNumber[number] > 0 ? byNumber[number] : 1;
        }
    }

    private record Changed(int number, int parts, float factor, long version, long textVersion) {}

    private Factors factors = new Factors(new float[0]);
    private byte[] parts = new byte[0];
    private long rows;
    private long version = -1;
    private long complete;
    private final ArrayDeque<Changed> texts = new ArrayDeque<>();

    /** Reads changes of the index, and returns its version. */
    long follow(DatabaseSession session) throws SQLException {
        long now = session.number("SELECT version FROM registry_search_version");
        long before = version();
        if (now > before) {
            List<Changed> changes = session.list(
                    row -> new Changed(
                            Math.toIntExact(row.getLong(1)),
                            row.getInt(2),
                            row.getFloat(3),
                            row.getLong(4),
                            row.getLong(5)),
                    "SELECT number, parts, factor, changed, texts FROM registry_search_entry WHERE changed > ? ORDER BY changed",
                    before);
            apply(changes, before, now);
        }
        return now;
    }

    private synchronized long version() {
        return version;
    }

    private synchronized void apply(List<Changed> changes, long before, long now) {
        if (now <= version) {
            return; // another thread saw more
        }
        for (Changed change : changes) {
            int number = change.number;
            if (number >= parts.length) {
                int length = Math.max(1_024, number + number / 2 + 1);
                parts = Arrays.copyOf(parts, length);
                factors = new Factors(Arrays.copyOf(factors.byNumber, length));
            }
            rows += change.parts - parts[number];
            parts[number] = (byte) change.parts;
            factors.byNumber[number] = change.factor;
            if (before >= 0 && change.textVersion > before) {
                texts.add(change);
            }
        }
        if (before < 0) {
            complete = now;
        }
        while (texts.size() > MAX_CHANGES) {
            complete = texts.remove().version;
        }
        version = now;
    }

    /** Number of the rows of the index. */
    synchronized long rows() {
        return rows + SearchIndex.FILLERS;
    }

    synchronized Factors factors() {
        return factors;
    }

    /** Numbers of the entries whose texts are newer than a version, in their order; null if that is not remembered. */
    synchronized int @Nullable [] changedSince(long old) {
        return old < complete
                ? null
                : texts.stream()
                        .filter(change -> change.version > old)
                        .mapToInt(Changed::number)
                        .sorted()
                        .distinct()
                        .toArray();
    }
}
