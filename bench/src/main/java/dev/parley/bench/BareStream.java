package dev.parley.bench;

import dev.parley.protocol.support.Ids;
import io.helidon.http.HeaderNames;
import io.helidon.webserver.http.ServerRequest;
import io.helidon.webserver.http.ServerResponse;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.sql.SQLException;
import java.time.Instant;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ObjectNode;

/**
 * The upper bound of durable streams: {@link BareServer}, which answers a request with as many status updates as its text says. {@value
 * #TOGETHER} of them at a time are one row of a {@link BareStore}, and one write to the client when that is on disk. No protocol, no
 * agent, no subscriber but the caller.
 *
 * <p>Arguments: the port and the data directory.
 */
public final class BareStream {
    private static final JsonMapper JSON = new JsonMapper();
    private static final int TOGETHER = 64;

    private final BareStore store;

    private BareStream(BareStore store) {
        this.store = store;
    }

    public static void main(String[] arguments) throws IOException, SQLException {
        var bare = new BareStream(new BareStore(Path.of(arguments[1])));
        BareServer.serve(Integer.parseInt(arguments[0]), bare::answer);
        System.out.println("ready on port " + arguments[0]);
    }

    private void answer(ServerRequest request, ServerResponse response) {
        try (InputStream body = request.content().inputStream()) {
            JsonNode read = JSON.readTree(body.readAllBytes());
            response.header(HeaderNames.CONTENT_TYPE, "text/event-stream");
            try (OutputStream out = response.outputStream()) {
                stream(read.path("id"), read.at("/params/message/parts/0/text").asInt(), out);
            }
        } catch (IOException gone) {
            throw new UncheckedIOException(gone);
        }
    }

    private void stream(JsonNode request, int count, OutputStream out) throws IOException {
        String id = Ids.next(Instant.now());
        String contextId = Ids.next(Instant.now());
        for (int first = 1; first <= count; first += TOGETHER) {
            var events = new ByteArrayOutputStream();
            int last = Math.min(count, first + TOGETHER - 1);
            for (int i = first; i <= last; i++) {
                ObjectNode event = JSON.createObjectNode();
                event.put("jsonrpc", "2.0");
                event.set("id", request);
                ObjectNode update = event.putObject("result").putObject("statusUpdate");
                update.put("taskId", id);
                update.put("contextId", contextId);
                ObjectNode status = update.putObject("status");
                status.put("state", i < count ? "TASK_STATE_WORKING" : "TASK_STATE_COMPLETED");
                ObjectNode message = status.putObject("message");
                message.put("messageId", Ids.next(Instant.now()));
                message.put("role", "ROLE_AGENT");
                message.putArray("parts").addObject().put("text", i + " of " + count);
                message.put("contextId", contextId);
                message.put("taskId", id);
                status.put("timestamp", Instant.now().toString());
                events.writeBytes(("id: " + i + "\ndata: " + JSON.writeValueAsString(event) + "\n\n")
                        .getBytes(StandardCharsets.UTF_8));
            }
            byte[] together = events.toByteArray();
            int begins = first;
            store.keep((head, segment, sent) -> {
                segment.setString(1, id);
                segment.setLong(2, begins);
                segment.setBytes(3, together);
                segment.executeUpdate();
            });
            out.write(together);
            out.flush();
        }
    }
}
