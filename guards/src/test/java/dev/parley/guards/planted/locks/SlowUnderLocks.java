package dev.parley.guards.planted.locks;

import dev.parley.engine.scheduling.Guarded;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.locks.ReentrantLock;

/** Calls under locks that wait for a disk, a database, a network and a thread. */
public final class SlowUnderLocks {
    private final ReentrantLock lock = new ReentrantLock();
    private final Map<Path, String> texts = new ConcurrentHashMap<>();
    private final Path file;

    public SlowUnderLocks(Path file) {
        this.file = file;
    }

    public synchronized void writesTwoCallsDeep(String text) {
        first(text);
    }

    private void first(String text) {
        second(text);
    }

    private void second(String text) {
        try {
            Files.writeString(file, text);
        } catch (IOException failure) {
            throw new UncheckedIOException(failure);
        }
    }

    public void asksADatabase(Connection connection) throws SQLException {
        if (!lock.tryLock()) {
            return;
        }
        try {
            connection.commit();
        } finally {
            lock.unlock();
        }
    }

    public void sendsInALambda(HttpClient client, HttpRequest request) {
        Guarded.change(lock, () -> {
            try {
                client.send(request, BodyHandlers.discarding());
            } catch (IOException failure) {
                throw new UncheckedIOException(failure);
            } catch (InterruptedException stopped) {
                Thread.currentThread().interrupt();
            }
        });
    }

    public String readsForAnEntry(Path path) {
        return texts.computeIfAbsent(path, SlowUnderLocks::read);
    }

    private static String read(Path path) {
        try {
            return Files.readString(path);
        } catch (IOException failure) {
            throw new UncheckedIOException(failure);
        }
    }

    public void waitsForAThread(CountDownLatch latch) throws InterruptedException {
        synchronized (texts) {
            latch.await();
        }
    }

    /** Waits on the condition of another lock while it holds its own lock. */
    public synchronized void waitsForAnotherLock(QuickUnderLocks other) throws InterruptedException {
        other.awaitChange();
    }
}
