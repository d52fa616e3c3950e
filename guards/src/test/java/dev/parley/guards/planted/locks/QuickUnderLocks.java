package dev.parley.guards.planted.locks;

import dev.parley.engine.scheduling.Guarded;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Executor;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/** Locks that are free whenever a call waits for something else. */
public final class QuickUnderLocks {
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition isChanged = lock.newCondition();
    private final List<String> lines = new ArrayList<>();
    private final Map<Path, String> texts = new HashMap<>();
    private final Path file;

    public QuickUnderLocks(Path file) {
        this.file = file;
    }

    /** Copies under the lock, and writes without it. */
    public void write() throws IOException {
        List<String> copy;
        synchronized (lines) {
            copy = List.copyOf(lines);
        }
        Files.write(file, copy);
    }

    /** Reads the file without the lock, and stores the bytes under it. */
    public void read() throws IOException {
        List<String> read = Files.readAllLines(file);
        Guarded.change(lock, () -> {
            lines.addAll(read);
            isChanged.signalAll();
        });
    }

    public void readUnlessLocked() throws IOException {
        if (lock.tryLock()) {
            try {
                lines.clear();
            } finally {
                lock.unlock();
            }
        } else {
            Files.readAllLines(file);
        }
    }

    public void awaitChange() throws InterruptedException {
        lock.lockInterruptibly();
        try {
            while (lines.isEmpty()) {
                isChanged.await();
            }
        } finally {
            lock.unlock();
        }
    }

    public synchronized void readLater(Executor executor) {
        executor.execute(() -> texts.computeIfAbsent(file, QuickUnderLocks::text));
    }

    private static String text(Path path) {
        return String.valueOf(path.toFile().length());
    }
}
