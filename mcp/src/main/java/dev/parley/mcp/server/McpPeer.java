package dev.parley.mcp.server;

import dev.parley.mcp.InputRequest;
import dev.parley.mcp.McpException;
import dev.parley.mcp.wire.Meta;
import dev.parley.mcp.wire.Revision;
import dev.parley.mcp.wire.Trees;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The client of a request.
 *
 * @param capabilities that it has declared
 * @param logLevel least level of the log messages that it wants; null for none
 */
record McpPeer(
        Revision revision,
        Map<String, @Nullable Object> capabilities,
        @Nullable String logLevel) {
    static final List<String> LEVELS =
            List.of("debug", "info", "notice", "warning", "error", "critical", "alert", "emergency");

    boolean isStateless() {
        return revision.isStateless();
    }

    boolean wants(String level) {
        return logLevel != null && LEVELS.indexOf(level) >= LEVELS.indexOf(logLevel);
    }

    boolean hasTasks() {
        return isStateless() && Trees.map(capabilities.get("extensions")).containsKey(Meta.TASKS);
    }

    /**
     * Checks that the client can answer questions.
     *
     * @throws McpException if it has not declared that
     */
    void requireAnswersTo(Map<String, InputRequest> questions) {
        var missing = new LinkedHashMap<String, @Nullable Object>();
        questions.values().forEach(question -> {
            boolean isUrl = "url".equals(question.params().get("mode"));
            switch (question.method()) {
                case "elicitation/create" -> {
                    Map<String, @Nullable Object> declared = Trees.map(capabilities.get("elicitation"));
                    boolean isDeclared = isUrl
                            ? declared.containsKey("url")
                            : capabilities.get("elicitation") != null
                                    && (declared.isEmpty() || declared.containsKey("form"));
                    if (!isDeclared) {
                        missing.put("elicitation", isUrl ? Map.of("url", Map.of()) : Map.of("form", Map.of()));
                    }
                }
                case "sampling/createMessage" -> require("sampling", missing);
                case "roots/list" -> require("roots", missing);
                default ->
                    throw new IllegalArgumentException("question \"" + question.method()
                            + "\": unknown method (expected: elicitation/create or another of MCP)");
            }
        });
        if (!missing.isEmpty()) {
            throw missing(missing);
        }
    }

    void requireTasks() {
        if (!hasTasks()) {
            throw missing(Map.of("extensions", Map.of(Meta.TASKS, Map.of())));
        }
    }

    private void require(String capability, Map<String, @Nullable Object> missing) {
        if (capabilities.get(capability) == null) {
            missing.put(capability, Map.of());
        }
    }

    private McpException missing(Map<String, @Nullable Object> missing) {
        return new McpException(
                isStateless() ? McpException.MISSING_CLIENT_CAPABILITY : McpException.INVALID_REQUEST,
                "The client has not declared a capability that the request needs: " + missing.keySet(),
                Map.of("requiredCapabilities", missing));
    }
}
