package dev.parley.bench;

import dev.parley.protocol.support.Ids;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.Semaphore;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ObjectNode;

/**
 * The upper bound of the durable path: {@link BareServer}, which keeps each request as a task before it answers. A task is
 * one row of its events, one of its head and one of its message id, in SQLite with full sync and group commit; no protocol,
 * no agent, no audit, no index.
 *
 * <p>Arguments: the port and the data directory.
 */
public final class BareDurable {
    private static final JsonMapper JSON = new JsonMapper();
    private static final int GROUP = 1_024;
    private static final int CHECKPOINT_AFTER = 4_096;

    private record Kept(
            String id, String contextId, String messageId, long time, byte[] task, CompletableFuture<byte[]> done) {}

    private final BlockingQueue<Kept> queue = new LinkedBlockingQueue<>();
    private final Semaphore checkpointDue = new Semaphore(0);
    private final String url;

    private BareDurable(String url) {
        this.url = url;
    }

    public static void main(String[] arguments) throws IOException, SQLException {
        Path directory = Files.createDirectories(Path.of(arguments[1]));
        var bare = new BareDurable("jdbc:sqlite:" + directory.resolve("bare.db"));
        Connection writing = bare.connect();
        try (Statement statement = writing.createStatement()) {
            statement.execute("CREATE TABLE task (task_id TEXT PRIMARY KEY, lane_no INTEGER, context_id TEXT,"
                    + " state INTEGER, status_ms INTEGER, last_seq INTEGER, caller TEXT) WITHOUT ROWID");
            statement.execute("CREATE TABLE segment (task_id TEXT, first_seq INTEGER, events BLOB,"
                    + " PRIMARY KEY (task_id, first_seq)) WITHOUT ROWID");
            statement.execute("CREATE TABLE message (day INTEGER, lane_no INTEGER, message_id TEXT, task_id TEXT,"
                    + " PRIMARY KEY (day, lane_no, message_id)) WITHOUT ROWID");
        }
        writing.setAutoCommit(false);
        Connection checkpointing = bare.connect();
        Thread.ofPlatform().daemon().start(() -> bare.write(writing));
        Thread.ofPlatform().daemon().start(() -> bare.checkpoint(checkpointing));
        BareServer.serve(Integer.parseInt(arguments[0]), bare::answer);
        System.out.println("ready on port " + arguments[0]);
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

    private byte[] answer(byte[] request) {
        JsonNode read = JSON.readTree(request);
        JsonNode message = read.at("/params/message");
        long now = System.currentTimeMillis();
        String id = Ids.next(Instant.ofEpochMilli(now));
        String contextId = Ids.next(Instant.ofEpochMilli(now));
        ObjectNode task = JSON.createObjectNode();
        task.put("id", id);
        task.put("contextId", contextId);
        task.putObject("status")
                .put("state", "TASK_STATE_COMPLETED")
                .put("timestamp", Instant.ofEpochMilli(now).toString());
        ObjectNode artifact = task.putArray("artifacts").addObject().put("artifactId", "1");
        artifact.set("parts", message.path("parts"));
        task.putArray("history").add(message);
        byte[] events = JSON.writeValueAsString(task).getBytes(StandardCharsets.UTF_8);
        var done = new CompletableFuture<byte[]>();
        queue.add(new Kept(id, contextId, message.path("messageId").asString(), now, events, done));
        ObjectNode answer = JSON.createObjectNode();
        answer.put("jsonrpc", "2.0");
        answer.set("id", read.path("id"));
        answer.putObject("result").set("task", task);
        byte[] bytes = JSON.writeValueAsString(answer).getBytes(StandardCharsets.UTF_8);
        done.join();
        return bytes;
    }

    private void write(Connection connection) {
        int sinceCheckpoint = 0;
        try (PreparedStatement task =
                        connection.prepareStatement("INSERT INTO task VALUES (?, 1, ?, 3, ?, 1, 'anonymous')");
                PreparedStatement segment = connection.prepareStatement("INSERT INTO segment VALUES (?, 1, ?)");
                PreparedStatement message = connection.prepareStatement("INSERT INTO message VALUES (?, 1, ?, ?)")) {
            while (true) {
                List<Kept> group = new ArrayList<>(GROUP);
                group.add(queue.take());
                queue.drainTo(group, GROUP - 1);
                for (Kept kept : group) {
                    task.setString(1, kept.id());
                    task.setString(2, kept.contextId());
                    task.setLong(3, kept.time());
                    task.executeUpdate();
                    segment.setString(1, kept.id());
                    segment.setBytes(2, kept.task());
                    segment.executeUpdate();
                    message.setLong(1, kept.time() / 86_400_000);
                    message.setString(2, kept.messageId());
                    message.setString(3, kept.id());
                    message.executeUpdate();
                }
                connection.commit();
                group.forEach(kept -> kept.done().complete(kept.task()));
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
