package dev.parley.registry.store;

import dev.parley.protocol.Feed;
import dev.parley.protocol.support.ChangeCount;
import dev.parley.registry.EntryChange;
import java.time.Duration;
import java.util.List;
import java.util.function.LongFunction;
import org.jspecify.annotations.Nullable;

/** Wakes the readers of the log of changes. Safe for any thread. */
final class ChangeFeed {
    private final ChangeCount commits = new ChangeCount();
    private volatile boolean closed;

    /** Changes after a position, and the position after all that were looked at. */
    record Batch(List<EntryChange> changes, long last) {}

    void wake() {
        commits.add();
    }

    boolean isClosed() {
        return closed;
    }

    void close() {
        closed = true;
        commits.add();
    }

    /** @param reader reads the changes after a number */
    Feed<EntryChange> open(long after, LongFunction<Batch> reader) {
        return new Reader(after, reader);
    }

    private final class Reader implements Feed<EntryChange> {
        private final LongFunction<Batch> reader;
        private long last;
        private volatile boolean left;

        Reader(long after, LongFunction<Batch> reader) {
            this.last = after;
            this.reader = reader;
        }

        @Override
        public @Nullable List<EntryChange> next(Duration patience) throws InterruptedException {
            long end = System.nanoTime() + patience.toNanos();
            while (true) {
                long before = commits.count();
                if (isOver()) {
                    return null;
                }
                long from = last;
                Batch batch;
                try {
                    batch = reader.apply(from);
                } catch (RuntimeException failure) {
                    if (isOver()) {
                        return null; // interrupted at its end
                    }
                    throw failure;
                }
                last = batch.last();
                long rest = end - System.nanoTime();
                if (!batch.changes().isEmpty() || rest <= 0) {
                    return batch.changes();
                }
                if (last == from) { // else it was a full page of changes that the reader may not see
                    commits.await(before, rest);
                }
            }
        }

        private boolean isOver() {
            return left || closed;
        }

        @Override
        public String position() {
            return Long.toString(last);
        }

        @Override
        public void close() {
            left = true;
            commits.add();
        }
    }
}
