package dev.parley.extension;

import dev.parley.protocol.Operation;
import dev.parley.protocol.TaskState;
import dev.parley.protocol.extension.ExtensionMethod;
import dev.parley.protocol.json.Codec;
import dev.parley.protocol.json.Codecs;
import dev.parley.protocol.json.ObjectCodec;

/**
 * Hands a credential to a task in state auth-required, beside the messages, so that it is neither kept nor shown.
 *
 * <p>Source: A2A 1.0, section 7.6, which leaves the way to the agent.
 *
 * @param taskId empty for none, which is refused after the authorization of the caller
 * @param credential 1 to 16,384 characters; others are refused like a missing task
 */
public record AuthorizeTask(String taskId, String credential)
        implements Operation.ExtensionCall<AuthorizeTask.Authorized> {
    /** Name of the method. */
    public static final String NAME = "parley/authorizeTask";

    /** The task with the state in which it goes on. */
    public record Authorized(String taskId, TaskState state) {}

    /** A text; other values are as good as absent. */
    public static final Codec<String> GIVEN =
            Codecs.via(Codecs.FREE, value -> value instanceof String text ? text : null, text -> text);

    /** JSON of the answer. */
    public static final Codec<Authorized> AUTHORIZED = ObjectCodec.<Authorized>of()
            .required("taskId", Codecs.TEXT, Authorized::taskId)
            .required("state", Codecs.enumeration("", TaskState.class), Authorized::state)
            .as(v -> new Authorized(v.next(), v.next()));

    /** The row, which all agents of a hub have. */
    public static final ExtensionMethod<AuthorizeTask, Authorized> ROW = ExtensionMethod.call(
            NAME,
            AuthorizeTask.class,
            ObjectCodec.<AuthorizeTask>of()
                    .optional("taskId", GIVEN, "", AuthorizeTask::taskId)
                    .optional("credential", GIVEN, "", AuthorizeTask::credential)
                    .as(v -> new AuthorizeTask(v.next(), v.next())),
            AUTHORIZED);

    @Override
    public String name() {
        return NAME;
    }

    /** The agent is called again. */
    @Override
    public boolean runsAgent() {
        return true;
    }

    /** Without the credential. */
    @Override
    public String toString() {
        return "AuthorizeTask[taskId=" + taskId + "]";
    }
}
