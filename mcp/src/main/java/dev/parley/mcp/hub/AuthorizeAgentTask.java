package dev.parley.mcp.hub;

import dev.parley.extension.AuthorizeTask;
import dev.parley.extension.AuthorizeTask.Authorized;
import dev.parley.protocol.Operation;
import dev.parley.protocol.extension.ExtensionMethod;
import dev.parley.protocol.json.Codec;
import dev.parley.protocol.json.ObjectCodec;
import org.jspecify.annotations.Nullable;

/**
 * Hands a credential of a user to a task of the same user: {@link AuthorizeTask} at an agent.
 *
 * @param agent null for none, which is refused after the authorization of the caller
 */
record AuthorizeAgentTask(@Nullable String agent, String taskId, String credential)
        implements Operation.ExtensionCall<Authorized> {
    static final Codec<AuthorizeAgentTask> REQUEST = ObjectCodec.<AuthorizeAgentTask>of()
            .optional("agent", AuthorizeTask.GIVEN, AuthorizeAgentTask::agent)
            .optional("taskId", AuthorizeTask.GIVEN, "", AuthorizeAgentTask::taskId)
            .optional("credential", AuthorizeTask.GIVEN, "", AuthorizeAgentTask::credential)
            .as(v -> new AuthorizeAgentTask(v.next(), v.next(), v.next()));

    static final ExtensionMethod<AuthorizeAgentTask, Authorized> ROW =
            ExtensionMethod.call("mcp/authorize", AuthorizeAgentTask.class, REQUEST, AuthorizeTask.AUTHORIZED);

    @Override
    public String name() {
        return ROW.name();
    }

    /** The agent is called again. */
    @Override
    public boolean runsAgent() {
        return true;
    }

    /** Without the credential. */
    @Override
    public String toString() {
        return "AuthorizeAgentTask[agent=" + agent + ", taskId=" + taskId + "]";
    }
}
