package dev.parley.bench;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.Semaphore;

/** The tables of the bare durable servers, in SQLite with full sync and group commit. Safe for any thread. */
final class BareStore {
    private static final int GROUP = 1_024;
    private static final int CHECKPOINT_AFTER = 4_096;

    /** Writes rows of a task, its events and its message. */
    @FunctionalInterface
    interface Rows {
        void write(PreparedStatement task, PreparedStatement segment, PreparedStatement message) throws SQLException;
    }

    private record Kept(Rows rows, CompletableFuture<Void> done) {}

    private final BlockingQueue<Kept> queue = new LinkedBlockingQueue<>();
    private final Semaphore checkpointDue = new Semaphore(0);
    private final String url;

    /** Makes the database in a directory, and begins to write. */
    BareStore(Path directory) throws IOException, SQLException {
        this.url = "jdbc:sqlite:" + Files.createDirectories(directory).resolve("bare.db");
        Connection writing = connect();
        try (Statement statement = writing.createStatement()) {
            statement.execute("CREATE TABLE task (task_id TEXT PRIMARY KEY, lane_no INTEGER, context_id TEXT,"
                    + " state INTEGER, status_ms INTEGER, last_seq INTEGER, caller TEXT) WITHOUT ROWID");
            statement.execute("CREATE TABLE segment (task_id TEXT, first_seq INTEGER, events BLOB,"
                    + " PRIMARY KEY (task_id, first_seq)) WITHOUT ROWID");
            statement.execute("CREATE TABLE message (day INTEGER, lane_no INTEGER, message_id TEXT, task_id TEXT,"
                    + " PRIMARY KEY (day, lane_no, message_id)) WITHOUT ROWID");
        }
        writing.setAutoCommit(false);
        Connection checkpointing = connect();
        Thread.ofPlatform().daemon().start(() -> write(writing));
        Thread.ofPlatform().daemon().start(() -> checkpoint(checkpointing));
    }

    /** Writes rows; returns when they are on disk. */
    void keep(Rows rows) {
        var done = new CompletableFuture<Void>();
        queue.add(new Kept(rows, done));
        done.join();
    }

    private Connection connect() throws SQLException {
        Connection connection = DriverManager.getConnection(url);
        try (Statement statement = connection.createStatement()) {
            statement.execute("PRAGMA journal_mode=WAL");
            statement.execute("PRAGMA synchronous=FULL");
            statement.execute("PRAGMA cache_size=-64000");
            statement.execute("PRAGMA wal_autocheckpoint=65536");
        }
        return connection;
    }

    private void write(Connection connection) {
        int sinceCheckpoint = 0;
        try (PreparedStatement task =
                        connection.prepareStatement("INSERT INTO task VALUES (?, 1, ?, 3, ?, 1, 'anonymous')");
                PreparedStatement segment = connection.prepareStatement("INSERT INTO segment VALUES (?, ?, ?)");
                PreparedStatement message = connection.prepareStatement("INSERT INTO message VALUES (?, 1, ?, ?)")) {
            while (true) {
                List<Kept> group = new ArrayList<>(GROUP);
                group.add(queue.take());
                queue.drainTo(group, GROUP - 1);
                for (Kept kept : group) {
                    kept.rows().write(task, segment, message);
                }
                connection.commit();
                group.forEach(kept -> kept.done().complete(null));
                sinceCheckpoint += group.size();
                if (sinceCheckpoint >= CHECKPOINT_AFTER) {
                    sinceCheckpoint = 0;
                    checkpointDue.release();
                }
            }
        } catch (SQLException | InterruptedException failure) {
            failure.printStackTrace();
            System.exit(1);
        }
    }

    private void checkpoint(Connection connection) {
        try (PreparedStatement checkpoint = connection.prepareStatement("PRAGMA wal_checkpoint(PASSIVE)")) {
            while (true) {
                checkpointDue.acquire();
                checkpointDue.drainPermits();
                checkpoint.execute();
            }
        } catch (SQLException | InterruptedException failure) {
            failure.printStackTrace();
            System.exit(1);
        }
    }
}
