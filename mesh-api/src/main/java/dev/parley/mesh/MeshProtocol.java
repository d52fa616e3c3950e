package dev.parley.mesh;

import static java.util.Objects.requireNonNull;

import dev.parley.protocol.A2AException;
import dev.parley.protocol.InvalidField;
import dev.parley.protocol.Operation;
import dev.parley.protocol.extension.ExtensionMethod;
import dev.parley.protocol.extension.ExtensionProtocol;
import dev.parley.protocol.extension.ExtensionUri;
import dev.parley.protocol.extension.JsonForm;
import dev.parley.protocol.json.Codecs;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Operations of the mesh that each agent has, as an extension of A2A. */
public final class MeshProtocol implements ExtensionProtocol.Provider {
    /** Name of the dialect in settings and metrics. */
    public static final String DIALECT = "one";

    /** Suffix of an agent's address that takes envelopes. */
    public static final String SUFFIX = "/one";

    /** Name of the agent that answers views of the mesh and runs workflows. */
    public static final String VIEWS_AGENT = "one";

    /** Scope that a caller needs for messages of critical priority. */
    public static final String CRITICAL_SCOPE = "priority:critical";

    /**
     * Delivers a message to an agent. Delivering it again has no further effect and the same answer.
     *
     * @param patience longest wait for the result of a delegation; zero for its acceptance only
     * @param problem why the message cannot be read: the envelope has the members that could be, and the receiver refuses it; else null
     */
    public record SendEnvelope(
            Envelope envelope, Duration patience, @Nullable A2AException problem)
            implements Operation.ExtensionCall<Envelope> {
        public SendEnvelope(Envelope envelope, Duration patience) {
            this(envelope, patience, null);
        }

        public SendEnvelope {
            requireNonNull(envelope, "envelope");
            requireNonNull(patience, "patience");
        }

        /** A message whose sender does not wait for a result. */
        public static SendEnvelope of(Envelope envelope) {
            return new SendEnvelope(envelope, Duration.ZERO);
        }

        @Override
        public String name() {
            return "one/send";
        }

        @Override
        public boolean runsAgent() {
            return true;
        }
    }

    /**
     * Reads a task as the message about its state.
     *
     * @param patience longest wait until the task ends or needs its sender; zero for its state now
     */
    public record ReadTask(String taskId, Duration patience) implements Operation.ExtensionCall<Envelope> {
        public ReadTask {
            requireNonNull(taskId, "taskId");
            requireNonNull(patience, "patience");
        }

        @Override
        public String name() {
            return "one/task";
        }

        @Override
        public @Nullable String relatedTask() {
            return taskId;
        }
    }

    /**
     * Registers an address that receives messages about a task, which may have been begun in any dialect.
     *
     * @param agentId receiver of the messages
     */
    public record RegisterCallback(String taskId, String agentId, String callback)
            implements Operation.ExtensionCall<Map<String, Object>> {
        @Override
        public String name() {
            return "one/callback";
        }

        @Override
        public @Nullable String relatedTask() {
            return taskId;
        }
    }

    private static final String TASK_ID = "taskId";

    /** The rows of the operations. */
    public static final ExtensionProtocol PROTOCOL = ExtensionProtocol.of(
                    ExtensionUri.permanent("/extensions/one-envelope/v1"),
                    ExtensionMethod.call(
                            "one/send",
                            SendEnvelope.class,
                            Codecs.via(EnvelopeModel.ENVELOPE, SendEnvelope::of, SendEnvelope::envelope),
                            EnvelopeModel.ENVELOPE),
                    ExtensionMethod.call(
                            "one/task",
                            ReadTask.class,
                            JsonForm.object(
                                    json -> new ReadTask(text(json, TASK_ID), Duration.ZERO),
                                    read -> Map.of(TASK_ID, read.taskId())),
                            EnvelopeModel.ENVELOPE),
                    ExtensionMethod.call(
                            "one/callback",
                            RegisterCallback.class,
                            JsonForm.object(
                                    json -> new RegisterCallback(
                                            text(json, TASK_ID), text(json, "agentId"), text(json, "callback")),
                                    register -> Map.of(
                                            TASK_ID,
                                            register.taskId(),
                                            "agentId",
                                            register.agentId(),
                                            "callback",
                                            register.callback())),
                            JsonForm.object(MeshProtocol::members, MeshProtocol::nullable)))
            .with(MeshError.values());

    private static String text(Map<String, @Nullable Object> json, String name) {
        if (json.get(name) instanceof String text && !text.isBlank()) {
            return text;
        }
        throw InvalidField.of(name, "missing (expected: a text)");
    }

    @SuppressWarnings({"unchecked", "NullAway"}) // the answers of these operations have no null
    private static Map<String, Object> members(Map<String, @Nullable Object> json) {
        return (Map<String, Object>) (Map<String, ?>) json;
    }

    @SuppressWarnings("unchecked") // read only
    private static Map<String, @Nullable Object> nullable(Map<String, Object> members) {
        return (Map<String, @Nullable Object>) (Map<String, ?>) members;
    }

    @Override
    public Collection<ExtensionProtocol> protocols() {
        return List.of(PROTOCOL);
    }
}
