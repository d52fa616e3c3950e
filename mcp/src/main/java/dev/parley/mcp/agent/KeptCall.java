package dev.parley.mcp.agent;

import static dev.parley.protocol.json.Codecs.BOOLEAN;
import static dev.parley.protocol.json.Codecs.COUNT;
import static dev.parley.protocol.json.Codecs.STRUCT;
import static dev.parley.protocol.json.Codecs.TEXT;

import dev.parley.mcp.InputRequest;
import dev.parley.mcp.InputResponse;
import dev.parley.mcp.wire.ResultModel;
import dev.parley.protocol.json.Codec;
import dev.parley.protocol.json.Codecs;
import dev.parley.protocol.json.ObjectCodec;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A call that waits for its caller, or for a task of the server.
 *
 * @param questions of the server to the caller
 * @param state of the call, for the server; null for none
 * @param task of the server; null for none
 * @param answers of the caller to some of the questions
 * @param hub number of the hub that has the call open at its connection, among those that share a database; 0 for a hub alone
 */
record KeptCall(
        ToolCall call,
        Map<String, InputRequest> questions,
        @Nullable String state,
        @Nullable String task,
        Map<String, InputResponse> answers,
        long hub) {
    static final Codec<KeptCall> CODEC = ObjectCodec.<KeptCall>of()
            .required("tool", TEXT, kept -> kept.call.tool())
            .required("arguments", STRUCT, kept -> kept.call.arguments())
            .required("proxied", BOOLEAN, kept -> kept.call.isProxied())
            .required("meta", STRUCT, kept -> kept.call.meta())
            .optional("questions", Codecs.map(ResultModel.INPUT_REQUEST), Map.of(), KeptCall::questions)
            .optional("state", TEXT, KeptCall::state)
            .optional("task", TEXT, KeptCall::task)
            .optional("answers", Codecs.map(ResultModel.INPUT_RESPONSE), Map.of(), KeptCall::answers)
            .optional("hub", COUNT, 0L, KeptCall::hub)
            .as(v -> new KeptCall(
                    new ToolCall(v.next(), v.next(), v.next(), v.next()),
                    v.next(),
                    v.next(),
                    v.next(),
                    v.next(),
                    v.next()));

    /** This call with more answers. */
    KeptCall answered(Map<String, InputResponse> all) {
        return new KeptCall(call, questions, state, task, all, hub);
    }
}
