package dev.parley.bench;

import dev.parley.protocol.support.Ids;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.sql.SQLException;
import java.time.Instant;
import java.util.concurrent.TimeUnit;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ObjectNode;

/**
 * The upper bound of the durable path: {@link BareServer}, which keeps each request as a task before it answers. A task is
 * one row of its events, one of its head and one of its message id in a {@link BareStore}; no protocol, no agent, no audit, no
 * index.
 *
 * <p>Arguments: the port and the data directory.
 */
public final class BareDurable {
    private static final JsonMapper JSON = new JsonMapper();

    private final BareStore store;

    private BareDurable(BareStore store) {
        this.store = store;
    }

    public static void main(String[] arguments) throws IOException, SQLException {
        var bare = new BareDurable(new BareStore(Path.of(arguments[1])));
        BareServer.serve(Integer.parseInt(arguments[0]), bare::answer);
        System.out.println("ready on port " + arguments[0]);
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
        ObjectNode answer = JSON.createObjectNode();
        answer.put("jsonrpc", "2.0");
        answer.set("id", read.path("id"));
        answer.putObject("result").set("task", task);
        byte[] bytes = JSON.writeValueAsString(answer).getBytes(StandardCharsets.UTF_8);
        String messageId = message.path("messageId").asString();
        store.keep((head, segment, sent) -> {
            head.setString(1, id);
            head.setString(2, contextId);
            head.setLong(3, now);
            head.executeUpdate();
            segment.setString(1, id);
            segment.setLong(2, 1);
            segment.setBytes(3, events);
            segment.executeUpdate();
            sent.setLong(1, TimeUnit.MILLISECONDS.toDays(now));
            sent.setString(2, messageId);
            sent.setString(3, id);
            sent.executeUpdate();
        });
        return bytes;
    }
}
