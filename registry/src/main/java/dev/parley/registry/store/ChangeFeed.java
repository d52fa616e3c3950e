package dev.parley.registry.store;

import dev.parley.protocol.Feed;
import dev.parley.registry.EntryChange;
import java.time.Duration;
import java.util.List;
import java.util.function.LongFunction;
import org.jspecify.annotations.Nullable;

/** Wakes the readers of the log of changes. Safe for any thread. */
final class ChangeFeed {
    private long committed;
    private boolean closed;

    /** Changes after a position, and the position after all that were looked at. */
    record Batch(List<EntryChange> changes, long last) {}

    synchronized void wake() {
        committed++;
        notifyAll();
    }

    synchronized void close() {
        closed = true;
        notifyAll();
    }

    /** @param reader reads the changes after a number */
    Feed<EntryChange> open(long after, LongFunction<Batch> reader) {
        return new Reader(after, reader);
    }

    private final class Reader implements Feed<EntryChange> {
        private final LongFunction<Batch> reader;
        private long last;
        private boolean left;

        Reader(long after, LongFunction<Batch> reader) {
            this.last = after;
            this.reader = reader;
        }

        @Override
        public @Nullable List<EntryChange> next(Duration patience) throws InterruptedException {
            long end = System.nanoTime() + patience.toNanos();
            while (true) {
                long before;
                synchronized (ChangeFeed.this) {
                    if (left || closed) {
                        return null;
                    }
                    before = committed;
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
                long rest = (end - System.nanoTime()) / 1_000_000;
                if (!batch.changes().isEmpty() || rest <= 0) {
                    return batch.changes();
                }
                if (last > from) {
                    continue; // a full page of changes that the reader may not see
                }
                synchronized (ChangeFeed.this) {
                    if (!left && !closed && committed == before) {
                        ChangeFeed.this.wait(rest);
                    }
                }
            }
        }

        private boolean isOver() {
            synchronized (ChangeFeed.this) {
                return left || closed;
            }
        }

        @Override
        public String position() {
            return Long.toString(last);
        }

        @Override
        public void close() {
            synchronized (ChangeFeed.this) {
                left = true;
                ChangeFeed.this.notifyAll();
            }
        }
    }
}
