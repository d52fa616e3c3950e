package dev.parley.agenttools;

import dev.parley.client.spi.ClientException;
import java.util.Map;
import java.util.concurrent.CancellationException;
import org.jspecify.annotations.Nullable;

/**
 * Tool of a model: a remote agent, or a tool of an MCP server of the hub. Names, descriptions and results are texts of these agents and
 * servers: a model should trust them no more than it trusts them. Safe for any thread.
 */
public sealed interface ModelTool permits AgentTool, ServerTool {
    /** Name in the characters that all models accept, at most 64; no other tool of the same list has it. */
    String name();

    /** Text for the model, at most 1,024 characters. */
    String description();

    /** JSON Schema of the arguments, which are an object. */
    Map<String, @Nullable Object> inputSchema();

    /**
     * Calls the tool and waits for its end. Failures, refusals and timeouts are results.
     *
     * @param arguments object in JSON, as the model wrote it; blank if there are none
     * @param conversation id of the conversation with the model, whose tasks only the model may continue; null for that of the request
     *     for which the tool was listed, without such a request for that of the request that this thread handles, and otherwise for the
     *     one of all calls without an id
     * @throws CancellationException if the task has ended on whose behalf the model works
     * @throws ClientException INTERRUPTED if the thread was interrupted
     */
    ToolResult call(String arguments, @Nullable Object conversation);
}
