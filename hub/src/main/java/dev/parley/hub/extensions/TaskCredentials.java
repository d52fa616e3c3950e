package dev.parley.hub.extensions;

import dev.parley.engine.Engine;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.Task;
import dev.parley.protocol.extension.OwnMethod;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Takes credentials for tasks in state auth-required, beside the messages, so that they are neither kept nor shown.
 *
 * <p>Source: A2A 1.0, section 7.6, which leaves the way to the agent.
 */
public record TaskCredentials(Engine engine, String agent) implements OwnMethod {
    public static final String METHOD = "parley/authorizeTask";

    private static final int LONGEST = 16 << 10;

    @Override
    public Object call(Map<String, @Nullable Object> params, CallContext caller) {
        String credential = text(params, "credential");
        if (credential.length() > LONGEST) {
            throw A2AException.invalidParams("credential", "too long (expected: at most " + LONGEST + " characters)");
        }
        Task task = engine.authorize(agent, text(params, "taskId"), credential, caller);
        return Map.of("taskId", task.id(), "state", task.state().name());
    }

    private static String text(Map<String, @Nullable Object> params, String name) {
        if (params.get(name) instanceof String text && !text.isEmpty()) {
            return text;
        }
        throw A2AException.invalidParams(name, "missing (expected: a text)");
    }
}
