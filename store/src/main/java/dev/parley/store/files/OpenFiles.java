package dev.parley.store.files;

import dev.parley.store.files.Identity.Look;
import dev.parley.store.files.Identity.State;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * The files of a SQLite database that this process has open: the database, its write-ahead log, and the index of that. SQLite goes on
 * in files that were removed or moved away, and does not notice that another program overwrites them. Safe for any thread.
 */
final class OpenFiles implements AutoCloseable {
    private static final Logger LOG = System.getLogger("dev.parley.store");

    /** Bytes at the beginning of a database with the sizes and numbers that another copy does not share. */
    private static final int HEADER = 100;

    /** The first bytes of a write-ahead log, without the last bit, which is the order of bytes in checksums. */
    private static final int LOG_MAGIC = 0x377f0682;

    private final Identity database;
    private final Identity log;
    private final Identity index;

    /** Keeps the log and its index in use while no other connection does, and so the identity of all files. */
    private final Connection anchor;

    // Not channels, which an interrupt closes: closing any descriptor of a database ends the locks that SQLite has on
    // it.
    private final RandomAccessFile content;
    private final RandomAccessFile logContent;

    /** Held while this process writes to the database file, which only checkpoints do. */
    private final ReentrantLock moving = new ReentrantLock();

    /** The beginning of the database file as this process has written it, and its size. */
    private byte[] header;

    private long size;
    private final byte[] magic = new byte[Integer.BYTES];
    private volatile boolean logMoved;
    private final Map<Path, Path> setAside = new LinkedHashMap<>();
    private volatile boolean isSetAside;

    /** Why the files are of no use for the rest of the process; null if they are. */
    private volatile @Nullable String overwritten;

    /** @param anchor a connection that has read the database, so that all files exist */
    OpenFiles(Path database, RandomAccessFile content, Connection anchor) throws IOException {
        this.database = Identity.of(database);
        this.log = Identity.of(database.resolveSibling(database.getFileName() + "-wal"));
        this.index = Identity.of(database.resolveSibling(database.getFileName() + "-shm"));
        this.content = content;
        this.anchor = anchor;
        this.logContent = new RandomAccessFile(log.path().toFile(), "r");
        this.header = header();
        this.size = content.length();
    }

    /** The files and their keys, for {@link Identity#problem}. */
    String lines() {
        return database.line() + log.line() + index.line();
    }

    private byte[] header() throws IOException {
        var bytes = new byte[HEADER];
        content.seek(0);
        content.read(bytes); // fewer of a file that was cut, which is then another header
        return bytes;
    }

    /** Fails if a file is not at its path. */
    void requirePresent() throws IOException, FileFaultException {
        requireDatabase();
        requireLog();
        require(index, index.state());
        logMoved = false;
    }

    /** Fails unless the files at their paths contain the last commit. Adds some microseconds to each commit. */
    void requireWritten() throws IOException, FileFaultException {
        if (moving.tryLock()) { // otherwise a checkpoint writes to the files, and looks at their contents itself
            try {
                requireContent(requireDatabase(), requireLog());
            } finally {
                moving.unlock();
            }
        } else {
            requireDatabase();
            requireLog();
        }
    }

    private long requireLog() throws IOException, FileFaultException {
        Look look = log.look();
        require(log, look.state());
        return look.size();
    }

    /** Returns the size of the database file. */
    private long requireDatabase() throws IOException, FileFaultException {
        requireReadable();
        Look look = database.look();
        switch (look.state()) {
            case SAME -> {}
            case MISSING -> throw new FileFaultException(missing());
            case REPLACED -> {
                setAside();
                throw new FileFaultException(
                        database.name() + " was replaced by another file (expected: the earlier file, moved back; or a"
                                + " restart, to use this one)");
            }
        }
        if (isSetAside) {
            bringBack();
        }
        return look.size();
    }

    /** Fails if the content of the database belongs to another program. Reads of it would, too. */
    void requireReadable() throws FileFaultException {
        String problem = overwritten;
        if (problem != null) {
            throw new FileFaultException(problem);
        }
    }

    /** Fails if a file that was opened could not be opened for writing any more. */
    void requireWritable() throws FileFaultException {
        if (!Files.isWritable(database.path())) {
            throw new FileFaultException(
                    database.name()
                            + " may not be written any more (expected: a volume that is not read-only, and permission to write)");
        }
    }

    private String missing() {
        Path directory = database.path().getParent();
        return directory != null && Files.notExists(directory)
                ? "data directory \"" + directory
                        + "\" is missing (expected: the directory with its files, moved back or mounted again)"
                : database.name() + " is missing (expected: the same file, moved back; or a restart with a backup)";
    }

    private void require(Identity file, State state) throws FileFaultException {
        if (state != State.SAME) {
            boolean isMoved = moveLog();
            throw new FileFaultException(file.name()
                    + (state == State.MISSING ? " is missing" : " was replaced")
                    + (isMoved
                            ? " (expected: the same file, moved back; or a restart, which loses nothing: its content is in "
                                    + database.path().getFileName() + ")"
                            : " (expected: the same file, moved back)"));
        }
    }

    private void requireContent(long databaseSize, long logSize) throws IOException, FileFaultException {
        boolean isLog = logSize == 0 || isLog();
        if (!isLog || databaseSize != size || !Arrays.equals(header(), header)) {
            String problem = (isLog ? database : log).name()
                    + " was overwritten by another program (expected: a stop of the hub, then a restore from a backup)";
            overwritten = problem;
            setAside();
            throw new FileFaultException(problem);
        }
    }

    private boolean isLog() throws IOException {
        logContent.seek(0);
        return logContent.read(magic) == magic.length && (ByteBuffer.wrap(magic).getInt() & ~1) == LOG_MAGIC;
    }

    /** Moves the pages of a log without a name to the database, where the next start finds them. */
    private boolean moveLog() {
        if (!logMoved && moving.tryLock()) {
            try (Statement statement = anchor.createStatement();
                    var row = statement.executeQuery("PRAGMA wal_checkpoint(PASSIVE)")) {
                logMoved = row.next() && row.getInt(1) == 0 && row.getInt(2) == row.getInt(3);
                header = header();
                size = content.length();
            } catch (SQLException | IOException failure) {
                LOG.log(Level.WARNING, "the write-ahead log could not be moved to the database", failure);
            } finally {
                moving.unlock();
            }
        }
        return logMoved;
    }

    /** Makes a checkpoint, unless the database file is not the one that was opened. */
    <T> T move(DataFiles.Move<T> move) throws SQLException {
        moving.lock();
        try {
            requireContent(requireDatabase(), log.look().size());
            try {
                return move.make();
            } finally {
                header = header();
                size = content.length();
            }
        } catch (IOException failure) {
            throw DataFiles.unreachable(failure);
        } finally {
            moving.unlock();
        }
    }

    /** {@link #move} unless another checkpoint is running, for which it does not wait. */
    void moveNow(DataFiles.Move<?> move) throws SQLException {
        if (moving.tryLock()) {
            try {
                move(move);
            } finally {
                moving.unlock();
            }
        }
    }

    /** Renames the log and its index: another database would be mixed with their pages at its next start. */
    private synchronized void setAside() {
        if (isSetAside) {
            return;
        }
        isSetAside = true;
        for (Identity file : new Identity[] {log, index}) {
            try {
                if (file.state() == State.SAME) {
                    Path free = file.path();
                    for (int i = 1; Files.exists(free); i++) {
                        free = file.path().resolveSibling(file.path().getFileName() + "." + i);
                    }
                    setAside.put(file.path(), Files.move(file.path(), free));
                    LOG.log(Level.WARNING, "{0} belongs to the earlier database, and is now {1}", file.path(), free);
                }
            } catch (IOException failure) {
                LOG.log(
                        Level.ERROR,
                        file.path() + " belongs to the earlier database: remove it before a start",
                        failure);
            }
        }
    }

    /** The earlier database is back, and gets its log back; what has been made in its place meanwhile holds nothing. */
    private synchronized void bringBack() throws IOException, FileFaultException {
        for (var moved : new ArrayList<>(setAside.entrySet())) {
            Path path = moved.getKey();
            if (path.equals(log.path()) && Files.exists(path) && Files.size(path) > 0) {
                throw new FileFaultException(log.name() + " was written by another program, and the hub's is now "
                        + moved.getValue().getFileName() + " (expected: a stop of the other program)");
            }
            Files.deleteIfExists(path);
            Files.move(moved.getValue(), path);
            setAside.remove(path);
        }
        isSetAside = false;
    }

    /** Whether connections may be closed: the last one moves the log into the database file, whatever that holds now. */
    boolean mayClose() {
        return overwritten == null;
    }

    /** Closes the files. To be called when all other connections are closed. */
    @Override
    public void close() throws IOException, SQLException {
        try {
            requireWritten();
        } catch (IOException | FileFaultException fault) {
            LOG.log(Level.WARNING, "a file of the data directory was lost: {0}", fault.getMessage());
        }
        if (!mayClose()) {
            return; // their descriptors end with the process, without a last checkpoint
        }
        try {
            anchor.close();
        } finally {
            content.close();
            logContent.close();
        }
    }
}
