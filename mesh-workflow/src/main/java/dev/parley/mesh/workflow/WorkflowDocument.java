package dev.parley.mesh.workflow;

import static dev.parley.dialect.json.Codecs.STRUCT;
import static dev.parley.dialect.json.Codecs.TEXT;
import static dev.parley.dialect.json.Codecs.TEXTS;
import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.Objects.requireNonNull;

import dev.parley.dialect.Json;
import dev.parley.dialect.json.Codec;
import dev.parley.dialect.json.Codecs;
import dev.parley.dialect.json.Shape;
import dev.parley.mesh.RetryPolicy;
import dev.parley.mesh.Wire;
import dev.parley.mesh.workflow.Workflow.Draft;
import dev.parley.mesh.workflow.Workflow.OnError;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.InvalidField;
import dev.parley.protocol.Message;
import dev.parley.protocol.Part;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A coordination document as it is written.
 *
 * @param coordinator null if none is named
 * @param inputs values to which parameters of steps refer; null if there are none
 */
public record WorkflowDocument(
        @Nullable String coordinator,
        List<String> participants,
        @Nullable Map<String, @Nullable Object> inputs,
        Steps workflow) {
    /** The steps as the document has them. */
    public record Steps(List<Draft> steps) {
        public Steps {
            steps = List.copyOf(steps);
        }
    }

    private static final Codec<Draft> STEP = Shape.<Draft>of()
            .optional("id", TEXT, Draft::id)
            .optional("agent", TEXT, Draft::agent)
            .optional("task", TEXT, Draft::task)
            .optional("parameters", STRUCT, Draft::parameters)
            .optional("depends", TEXTS, List.of(), Draft::depends)
            .optional(
                    "onError",
                    Codecs.words(
                            Map.of(OnError.FAIL, "fail", OnError.CONTINUE, "continue", OnError.RETRY, "retry"),
                            Map.of()),
                    OnError.FAIL,
                    Draft::onError)
            .optional("timeout", Wire.DURATION, Draft::timeout)
            .optional("retryPolicy", Wire.RETRY_POLICY, RetryPolicy.DEFAULT, Draft::retryPolicy)
            .optional("vote", Vote.CODEC, Draft::vote)
            .as(v -> new Draft(
                    v.next(), v.next(), v.next(), v.next(), v.next(), v.next(), v.next(), v.next(), v.next()));

    /** JSON of documents. */
    public static final Codec<WorkflowDocument> CODEC = Shape.<WorkflowDocument>of()
            .optional("coordinator", TEXT, WorkflowDocument::coordinator)
            .optional("participants", TEXTS, List.of(), WorkflowDocument::participants)
            .optional("inputs", STRUCT, WorkflowDocument::inputs)
            .required(
                    "workflow",
                    Shape.<Steps>of()
                            .required("steps", Codecs.list(STEP), Steps::steps)
                            .as(v -> new Steps(v.next())),
                    WorkflowDocument::workflow)
            .as(v -> new WorkflowDocument(v.next(), v.next(), v.next(), v.next()));

    /**
     * Reads a document: as it is, in its short form with a {@code type}, or in an envelope.
     *
     * @throws InvalidField or {@link A2AException} if it is none
     */
    public static WorkflowDocument of(Map<String, @Nullable Object> written) {
        return CODEC.fromJson(content(written));
    }

    /** A document without what may stand around it. */
    static Map<String, @Nullable Object> content(Map<String, @Nullable Object> written) {
        if (written.get("message") instanceof Map<?, ?> message
                && message.get("content") instanceof Map<?, ?> content) {
            requireCoordination("message.type", message.get("type"));
            var members = new LinkedHashMap<String, @Nullable Object>();
            content.forEach((name, value) -> members.put(String.valueOf(name), value));
            return members;
        }
        if (written.containsKey("type")) {
            requireCoordination("type", written.get("type"));
        }
        return written;
    }

    private static void requireCoordination(String field, @Nullable Object type) {
        if (!"coordination".equals(type)) {
            throw InvalidField.of(field, type + " (expected: coordination)");
        }
    }

    /**
     * Checks this document for a run.
     *
     * @throws InvalidField if it is ambiguous, cyclic, or names strangers or inputs that it does not have; with the place in the document
     */
    public Workflow checked() {
        return Workflow.of(coordinator, participants, inputs == null ? Map.of() : inputs, workflow.steps());
    }

    /**
     * Checks this document, except for its inputs, which come later.
     *
     * @throws InvalidField as from {@link #checked}
     */
    public Workflow checkedWithoutInputs() {
        return Workflow.of(coordinator, participants, null, workflow.steps());
    }

    /** The document of a run. */
    static WorkflowDocument of(Message message) {
        return of(members(message));
    }

    /** The document of a run or a vote, as it is written. */
    static Map<String, @Nullable Object> members(Message message) {
        for (Part part : message.parts()) {
            if (part instanceof Part.Data data && data.data() instanceof Map<?, ?> members) {
                return members(members);
            }
        }
        try {
            return members(Json.read(message.text().getBytes(UTF_8), Map.class));
        } catch (A2AException noJson) {
            throw InvalidField.of("message.parts", "no document (expected: data or JSON text of a workflow)");
        }
    }

    private static Map<String, @Nullable Object> members(Map<?, ?> json) {
        var members = new LinkedHashMap<String, @Nullable Object>();
        json.forEach((name, value) -> members.put(String.valueOf(requireNonNull(name)), value));
        return members;
    }
}
