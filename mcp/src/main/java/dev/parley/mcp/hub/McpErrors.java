package dev.parley.mcp.hub;

import dev.parley.mcp.CallResult;
import dev.parley.mcp.McpException;
import dev.parley.mcp.McpProvider.Outcome;
import dev.parley.protocol.A2AError;
import dev.parley.protocol.A2AException;

/** Errors of agents in terms of MCP. */
final class McpErrors {
    private McpErrors() {}

    /**
     * The outcome of a tool whose agent refused the message, such as for its content.
     *
     * @throws McpException for unknown names, and failures of the agent
     * @throws A2AException for callers without permission, limits, and agents that are not available
     */
    static Outcome<CallResult> outcome(A2AException problem) {
        requireAnswer(problem);
        return new Outcome.Complete<>(CallResult.error(String.valueOf(problem.getMessage())));
    }

    /** The error of an operation without a tool. */
    static RuntimeException error(A2AException problem) {
        requireAnswer(problem);
        return new McpException(McpException.INVALID_PARAMS, String.valueOf(problem.getMessage()));
    }

    private static void requireAnswer(A2AException problem) {
        if (problem.error() instanceof A2AError error) {
            switch (error) {
                case UNAUTHENTICATED, PERMISSION_DENIED, RATE_LIMITED, QUOTA_EXCEEDED, UNAVAILABLE -> throw problem;
                case TASK_NOT_FOUND, METHOD_NOT_FOUND ->
                    throw new McpException(McpException.INVALID_PARAMS, String.valueOf(problem.getMessage()));
                case INTERNAL ->
                    throw new McpException(McpException.INTERNAL_ERROR, String.valueOf(problem.getMessage()));
                default -> {}
            }
        }
    }
}
