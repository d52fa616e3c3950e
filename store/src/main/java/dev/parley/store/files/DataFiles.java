package dev.parley.store.files;

import static java.util.Objects.requireNonNull;

import dev.parley.protocol.support.OwnersOnly;
import dev.parley.store.spi.NotOpenedException;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * Watch over the files of a data directory: whether they are those that this process has opened or read. The writer looks before and after
 * each transaction, so that nothing is acknowledged that is not in the file at its path; nothing looks while nothing is written or asked.
 * Safe for any thread.
 */
public final class DataFiles implements AutoCloseable {
    /** Name of the database of SQLite in a data directory. */
    public static final String DATABASE = "parley.db";

    private static final Logger LOG = System.getLogger("dev.parley.store");

    /** Longest time without a look at what concerns the next start, and no transaction. */
    private static final long PAUSE_NANOS = Duration.ofSeconds(1).toNanos();

    /** Longest time without a look before a transaction. */
    private static final long SHORT_PAUSE_NANOS = Duration.ofMillis(10).toNanos();

    private final @Nullable DirectoryLock lock;
    private final Map<Path, byte[]> kept = new ConcurrentHashMap<>();
    private volatile @Nullable OpenFiles open;
    /** The database file until {@link #open} has it. */
    private @Nullable RandomAccessFile content;

    private volatile long lookedAt = System.nanoTime() - SHORT_PAUSE_NANOS;
    private volatile long lookedAtOthers = System.nanoTime() - PAUSE_NANOS;

    private DataFiles(@Nullable DirectoryLock lock) {
        this.lock = lock;
    }

    /** No files. */
    public static DataFiles none() {
        return new DataFiles(null);
    }

    /**
     * Takes the lock of {@code directory}, which is made if it is missing.
     *
     * @throws dev.parley.store.spi.InUseException if another hub has it
     */
    public static DataFiles lock(Path directory) throws IOException {
        OwnersOnly.directory(directory);
        return new DataFiles(DirectoryLock.take(directory));
    }

    /** Whether a hub has the lock of {@code directory}. Takes a shared lock for the moment if none has it. */
    public static boolean isLocked(Path directory) throws IOException {
        return DirectoryLock.isTaken(directory);
    }

    /** Returns how the files of {@code directory} differ from those that its hub has open; empty if they do not, or none runs. */
    public static List<String> problems(Path directory) throws IOException {
        var problems = new ArrayList<String>();
        if (isLocked(directory)) {
            for (String line : DirectoryLock.text(directory).lines().toList()) {
                String problem = Identity.problem(directory, line);
                if (problem != null) {
                    problems.add(problem);
                }
            }
        }
        return problems;
    }

    /**
     * Makes the file of a database, unless it exists. To be called before SQLite opens it.
     *
     * @throws NotOpenedException if it is missing although its write-ahead log exists, which SQLite would remove
     */
    public void make(Path database) throws IOException {
        Path log = database.resolveSibling(database.getFileName() + "-wal");
        if (size(database) == 0 && size(log) > 0) {
            throw new NotOpenedException(
                    NotOpenedException.Reason.DIRECTORY,
                    "data directory \"" + database.getParent() + "\": " + database.getFileName()
                            + " is missing or empty, but " + log.getFileName()
                            + " has data of it (expected: both files; or neither, to begin anew)");
        }
        OwnersOnly.file(database); // SQLite gives the files beside it the same permissions
        content = new RandomAccessFile(database.toFile(), "r");
    }

    private static long size(Path file) throws IOException {
        return Files.exists(file) ? Files.size(file) : 0;
    }

    /**
     * Watches a database of SQLite from now on.
     *
     * @param anchor a connection to it that nothing else uses
     */
    public void watch(Path database, Connection anchor) throws IOException, SQLException {
        try (Statement statement = anchor.createStatement();
                var row = statement.executeQuery("SELECT count(*) FROM sqlite_schema")) {
            row.next(); // which has opened the write-ahead log
        }
        var files = new OpenFiles(database, requireNonNull(content, "made before"), anchor);
        open = files;
        content = null;
        if (lock != null) {
            lock.write(files.lines());
        }
    }

    /** Watches a file that was read at the start and that the next start needs: its removal or another content stops writing. */
    public void keep(Path file) throws IOException {
        kept.put(file, Files.readAllBytes(file));
    }

    /** Before a transaction. After a commit of some milliseconds ago nothing is looked at: {@link #afterCommit} will. */
    public void beforeWriting() throws FileFaultException {
        long now = System.nanoTime();
        if (now - lookedAt < SHORT_PAUSE_NANOS) {
            return;
        }
        try {
            OpenFiles files = open;
            if (files != null) {
                files.requirePresent();
            }
            requireLock();
            if (now - lookedAtOthers > PAUSE_NANOS) {
                requireOthers();
            }
            lookedAt = now;
        } catch (IOException failure) {
            throw unreachable(failure);
        }
    }

    /** After a commit: the files at their paths have the transaction, unless this fails. */
    public void afterCommit() throws FileFaultException {
        OpenFiles files = open;
        if (files != null) {
            try {
                files.requireWritten();
            } catch (IOException failure) {
                throw unreachable(failure);
            }
        }
    }

    /** Before a connection is opened. */
    public void requireOpen() throws FileFaultException {
        OpenFiles files = open;
        if (files != null) {
            try {
                files.requirePresent();
                files.requireWritten();
            } catch (IOException failure) {
                throw unreachable(failure);
            }
        }
    }

    /** Whether a transaction committed just now would be in the file at its path. */
    public boolean areOpen() {
        try {
            requireOpen();
            return true;
        } catch (FileFaultException fault) {
            return false;
        }
    }

    /** Before an attempt to write after a failure. */
    public void require() throws FileFaultException {
        requireOpen();
        try {
            requireLock();
            requireOthers();
        } catch (IOException failure) {
            throw unreachable(failure);
        }
    }

    /** Before a read. */
    public void requireReadable() throws FileFaultException {
        OpenFiles files = open;
        if (files != null) {
            files.requireReadable();
        }
    }

    private void requireLock() throws IOException, FileFaultException {
        if (lock != null && open != null) {
            synchronized (lock) {
                lock.keep();
            }
        }
    }

    private void requireOthers() throws IOException, FileFaultException {
        OpenFiles files = open;
        if (files != null) {
            files.requireWritable();
        }
        for (Map.Entry<Path, byte[]> file : kept.entrySet()) {
            require(file.getKey(), file.getValue());
        }
        lookedAtOthers = System.nanoTime();
    }

    private static void require(Path file, byte[] content) throws IOException, FileFaultException {
        String problem;
        try {
            if (Arrays.equals(Files.readAllBytes(file), content)) {
                return;
            }
            problem = " was replaced by another one";
        } catch (NoSuchFileException missing) {
            problem = " is missing";
        }
        throw new FileFaultException(file.getFileName() + " in data directory \"" + file.getParent() + "\"" + problem
                + " (expected: the file that this hub was started with, which the next start needs)");
    }

    /** A write to the database file, which only checkpoints make. */
    @FunctionalInterface
    public interface Move<T> {
        T make() throws SQLException;
    }

    /**
     * Makes a checkpoint.
     *
     * @throws FileFaultException if the database file is not the one that was opened
     */
    public <T> T move(Move<T> checkpoint) throws SQLException {
        OpenFiles files = open;
        return files == null ? checkpoint.make() : files.move(checkpoint);
    }

    /** {@link #move} unless another checkpoint is running, for which it does not wait. */
    public void moveNow(Move<?> checkpoint) throws SQLException {
        OpenFiles files = open;
        if (files == null) {
            checkpoint.make();
        } else {
            files.moveNow(checkpoint);
        }
    }

    /** Whether connections may be closed: the last one would move the log into a file that holds another content now. */
    public boolean mayClose() {
        OpenFiles files = open;
        return files == null || files.mayClose();
    }

    static FileFaultException unreachable(IOException failure) {
        return new FileFaultException("the data directory cannot be read: " + failure
                + " (expected: a directory that this user may read and write)");
    }

    /** Closes the files and frees the lock. To be called when all connections are closed. Idempotent. */
    @Override
    public void close() {
        for (AutoCloseable part : new @Nullable AutoCloseable[] {open, content, lock}) {
            try {
                if (part != null) {
                    part.close();
                }
            } catch (Exception failure) { // AutoCloseable says no more of it
                LOG.log(Level.WARNING, "the files of the data directory could not be closed", failure);
            }
        }
    }
}
