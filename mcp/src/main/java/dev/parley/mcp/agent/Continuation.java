package dev.parley.mcp.agent;

import static dev.parley.protocol.json.Codecs.TEXT;
import static java.nio.charset.StandardCharsets.UTF_8;

import dev.parley.mcp.CallResult;
import dev.parley.mcp.InputRequest;
import dev.parley.mcp.McpException;
import dev.parley.mcp.client.ServerFailure;
import dev.parley.mcp.client.ServerFailure.Kind;
import dev.parley.mcp.wire.ResultModel;
import dev.parley.protocol.json.Codec;
import dev.parley.protocol.json.JsonText;
import dev.parley.protocol.json.ObjectCodec;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Outcome of a call that another hub has continued: a result, questions, or a failure.
 *
 * @param result null for another outcome
 * @param questions of the server to the caller; empty for another outcome
 * @param state of the call, for the server; null for none
 * @param task of the server; null for none
 * @param code of an error of the protocol; null for another outcome
 * @param failure kind of the failure of the server; null for another outcome
 * @param problem message of the error or the failure
 */
record Continuation(
        @Nullable CallResult result,
        Map<String, InputRequest> questions,
        @Nullable String state,
        @Nullable String task,
        @Nullable String code,
        @Nullable String failure,
        String problem) {
    private static final Codec<Continuation> CODEC = ObjectCodec.<Continuation>of()
            .optional("result", ResultModel.CALL, Continuation::result)
            .optional("questions", ResultModel.INPUT_REQUESTS, Map.of(), Continuation::questions)
            .optional("state", TEXT, Continuation::state)
            .optional("task", TEXT, Continuation::task)
            .optional("code", TEXT, Continuation::code)
            .optional("failure", TEXT, Continuation::failure)
            .optional("problem", TEXT, "", Continuation::problem)
            .as(v -> new Continuation(v.next(), v.next(), v.next(), v.next(), v.next(), v.next(), v.next()));

    static Continuation of(CallResult result) {
        return new Continuation(result, Map.of(), null, null, null, null, "");
    }

    static Continuation of(Map<String, InputRequest> questions, @Nullable String state, @Nullable String task) {
        return new Continuation(null, questions, state, task, null, null, "");
    }

    static Continuation of(McpException error) {
        String problem = String.valueOf(error.getMessage());
        return new Continuation(null, Map.of(), null, null, String.valueOf(error.code()), null, problem);
    }

    static Continuation of(ServerFailure failure) {
        String problem = String.valueOf(failure.getMessage());
        return new Continuation(null, Map.of(), null, null, null, failure.kind().name(), problem);
    }

    /** The outcome of a call whose hub has ended. */
    static Continuation ended() {
        return of(new ServerFailure(Kind.SESSION_ENDED, "the call does not wait for an answer any more"));
    }

    static Continuation read(String text) {
        return JsonText.read(text.getBytes(UTF_8), CODEC);
    }

    String text() {
        return new String(JsonText.write(CODEC, this), UTF_8);
    }

    /**
     * The result; empty for questions.
     *
     * @throws McpException if it is an error of the protocol
     * @throws ServerFailure if the server has failed
     */
    Optional<CallResult> complete() {
        if (code != null) {
            throw new McpException(Integer.parseInt(code), problem);
        }
        if (failure != null) {
            throw new ServerFailure(Kind.valueOf(failure), problem);
        }
        return Optional.ofNullable(result);
    }
}
