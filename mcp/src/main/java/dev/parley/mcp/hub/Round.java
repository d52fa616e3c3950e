package dev.parley.mcp.hub;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.parley.dialect.Json;
import dev.parley.mcp.McpException;
import dev.parley.mcp.wire.Trees;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.json.Codecs;
import dev.parley.protocol.json.JsonText;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** A question as the state of a call keeps it between its rounds. The server seals the text. */
record Round(String agent, String taskId, String key) {
    String text() {
        return new String(Json.write(Trees.members("agent", agent, "taskId", taskId, "key", key)), UTF_8);
    }

    static Round of(String text) {
        try {
            Map<String, @Nullable Object> state = JsonText.request(text.getBytes(UTF_8), Codecs.STRUCT);
            String agent = Trees.filled(state, "agent");
            String taskId = Trees.filled(state, "taskId");
            String key = Trees.filled(state, "key");
            if (agent != null && taskId != null && key != null) {
                return new Round(agent, taskId, key);
            }
        } catch (A2AException malformed) {
            // the same as another state
        }
        throw new McpException(McpException.INVALID_PARAMS, "requestState: not one of this tool");
    }
}
