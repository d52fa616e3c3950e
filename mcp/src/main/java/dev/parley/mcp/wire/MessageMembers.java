package dev.parley.mcp.wire;

import dev.parley.mcp.McpException;
import dev.parley.protocol.json.Codec;
import dev.parley.protocol.json.Codecs;
import dev.parley.protocol.json.ObjectCodec;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The members of a message, of which each kind has some. */
record MessageMembers(
        @Nullable Object id,
        @Nullable String method,
        @Nullable Map<String, @Nullable Object> params,
        @Nullable Map<String, @Nullable Object> result,
        @Nullable McpException error) {
    static final Codec<McpException> ERROR = ObjectCodec.<McpException>of()
            .always("code", Lenient.NUMBER, (long) McpException.INTERNAL_ERROR, error -> (long) error.code())
            .always("message", Lenient.TEXT, "", error -> String.valueOf(error.getMessage()))
            .optional("data", Lenient.OBJECT, Map.of(), McpException::data)
            .as(v -> new McpException(v.<Long>next().intValue(), v.next(), v.next()));

    static final Codec<MessageMembers> CODEC = ObjectCodec.<MessageMembers>of()
            .always("jsonrpc", Codecs.TEXT, "2.0", message -> "2.0")
            .optional("id", Codecs.FREE, MessageMembers::id)
            .optional("method", Codecs.TEXT, MessageMembers::method)
            .optional("params", Codecs.STRUCT, MessageMembers::params)
            .optional("result", Codecs.STRUCT, MessageMembers::result)
            .optional("error", ERROR, MessageMembers::error)
            .as(v -> new MessageMembers(v.skip().next(), v.next(), v.next(), v.next(), v.next()));

    static MessageMembers of(McpMessage message) {
        return switch (message) {
            case McpMessage.Request(var id, var method, var params) ->
                new MessageMembers(id, method, params, null, null);
            case McpMessage.Notification(var method, var params) ->
                new MessageMembers(null, method, params.isEmpty() ? null : params, null, null);
            case McpMessage.Result(var id, var result) -> new MessageMembers(id, null, null, result, null);
            case McpMessage.Failure(@Nullable Object id, var error) -> new MessageMembers(id, null, null, null, error);
            case McpMessage.Malformed(@Nullable Object id, var problem) ->
                new MessageMembers(id, null, null, null, problem);
        };
    }
}
