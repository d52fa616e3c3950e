package dev.parley.mcp.server;

import dev.parley.dialect.spi.WireRequest;
import dev.parley.mcp.wire.McpMessage;
import dev.parley.protocol.InvalidField;
import dev.parley.protocol.Operation;
import dev.parley.protocol.extension.ExtensionMethod;
import dev.parley.protocol.extension.ExtensionProtocol;
import dev.parley.protocol.extension.JsonForm;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * A request of MCP over HTTP as an operation of a hub, so that policies, limits, metrics, traces and the audit apply to it under its name.
 *
 * @param name {@code mcp/} and the method, or {@value #OTHER}
 * @param message the body; malformed for a request without
 */
public record McpExchange(String name, WireRequest request, McpMessage message)
        implements Operation.ExtensionWatch<HttpReply> {
    /** Name of a request that is not a call of a feature: sessions, notifications, answers, and unknown methods. */
    public static final String OTHER = "mcp/session";

    private static final Map<String, String> NAMES = Stream.of(("server/discover tools/list tools/call resources/list"
                            + " resources/templates/list resources/read prompts/list prompts/get completion/complete"
                            + " subscriptions/listen tasks/get tasks/update tasks/cancel")
                    .split(" "))
            .collect(Collectors.toUnmodifiableMap(method -> method, method -> "mcp/" + method));

    /** Makes the operation of a request. */
    public static McpExchange of(WireRequest request) {
        McpMessage message = McpMessage.read(request.body());
        return new McpExchange(
                message instanceof McpMessage.Request call ? NAMES.getOrDefault(call.method(), OTHER) : OTHER,
                request,
                message);
    }

    /** Rows of all operations. They have no other binding than MCP. */
    public static ExtensionProtocol protocol(String uri) {
        return ExtensionProtocol.of(
                uri,
                Stream.concat(NAMES.values().stream().sorted(), Stream.of(OTHER))
                        .map(name -> ExtensionMethod.stream(name, McpExchange.class, REQUEST, REPLY))
                        .toArray(ExtensionMethod<?, ?>[]::new));
    }

    private static final JsonForm<McpExchange> REQUEST = JsonForm.object(
            json -> {
                throw InvalidField.of("", "an operation of MCP (expected: a request to the MCP address)");
            },
            exchange -> Map.of());
    private static final JsonForm<HttpReply> REPLY = JsonForm.object(
            json -> {
                throw InvalidField.of("", "an answer of MCP");
            },
            reply -> Map.of());

    /** Whether the client reads server-sent events. */
    boolean takesEvents() {
        String accepted = request.header("Accept");
        return request.method().equals("GET")
                || accepted != null && accepted.toLowerCase(Locale.ROOT).contains("text/event-stream");
    }

    /** A tool may be an agent, which may call others: the number of agents that a call goes through is bounded. */
    @Override
    public boolean runsAgent() {
        return name.equals("mcp/tools/call") || name.equals("mcp/tasks/update");
    }
}
