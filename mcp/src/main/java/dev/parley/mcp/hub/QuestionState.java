package dev.parley.mcp.hub;

import static dev.parley.protocol.json.Codecs.TEXT;
import static java.nio.charset.StandardCharsets.UTF_8;

import dev.parley.mcp.McpException;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.json.Codec;
import dev.parley.protocol.json.JsonText;
import dev.parley.protocol.json.ObjectCodec;

/** A question as the state of a call keeps it between its rounds. The server seals the text. */
record QuestionState(String agent, String taskId, String key) {
    private static final Codec<QuestionState> CODEC = ObjectCodec.<QuestionState>of()
            .required("agent", TEXT, QuestionState::agent)
            .required("taskId", TEXT, QuestionState::taskId)
            .required("key", TEXT, QuestionState::key)
            .as(v -> new QuestionState(v.next(), v.next(), v.next()));

    String text() {
        return new String(JsonText.write(CODEC, this), UTF_8);
    }

    static QuestionState of(String text) {
        try {
            return JsonText.request(text.getBytes(UTF_8), CODEC);
        } catch (A2AException malformed) {
            throw new McpException(McpException.INVALID_PARAMS, "requestState: not one of this tool");
        }
    }
}
