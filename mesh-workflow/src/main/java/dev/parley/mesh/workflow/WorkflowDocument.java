package dev.parley.mesh.workflow;

import static dev.parley.protocol.json.Codecs.INT;
import static dev.parley.protocol.json.Codecs.STRUCT;
import static dev.parley.protocol.json.Codecs.TEXT;
import static dev.parley.protocol.json.Codecs.TEXTS;
import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.Objects.requireNonNull;

import dev.parley.dialect.Json;
import dev.parley.mesh.RetryPolicy;
import dev.parley.mesh.Wire;
import dev.parley.mesh.workflow.Workflow.Draft;
import dev.parley.mesh.workflow.Workflow.Need;
import dev.parley.mesh.workflow.Workflow.OnError;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.InvalidField;
import dev.parley.protocol.Message;
import dev.parley.protocol.Part;
import dev.parley.protocol.json.Codec;
import dev.parley.protocol.json.Codecs;
import dev.parley.protocol.json.FieldPath;
import dev.parley.protocol.json.ObjectCodec;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JsonGenerator;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;

/**
 * A coordination document as it is written.
 *
 * @param coordinator null if none is named
 * @param inputs values to which parameters of steps refer; null if there are none
 * @param definition name of the stored definition that is run; null for none
 * @param version of the definition
 */
public record WorkflowDocument(
        @Nullable String coordinator,
        List<String> participants,
        @Nullable Map<String, @Nullable Object> inputs,
        @Nullable String definition,
        @Nullable Integer version,
        Steps workflow) {
    /** The steps as the document has them. */
    public record Steps(List<Draft> steps) {
        public Steps {
            steps = List.copyOf(steps);
        }
    }

    /** Agent of a step: a name, or a need. */
    private record Performer(
            @Nullable String agent, @Nullable Need need) {}

    private static final Codec<Performer> PERFORMER = new Codec<>() {
        @Override
        public String expected() {
            return "a name, a URL, or an object with capability or words";
        }

        @Override
        public Performer read(JsonParser in) {
            if (in.currentToken() == JsonToken.START_OBJECT) {
                return new Performer(null, Need.CODEC.read(in));
            }
            FieldPath.require(in, JsonToken.VALUE_STRING, expected());
            return new Performer(in.getString(), null);
        }

        @Override
        public void write(JsonGenerator out, Performer performer) {
            if (performer.need() == null) {
                out.writeString(requireNonNull(performer.agent()));
            } else {
                Need.CODEC.write(out, performer.need());
            }
        }
    };

    private static @Nullable Performer performer(Draft draft) {
        return draft.agent() == null && draft.need() == null ? null : new Performer(draft.agent(), draft.need());
    }

    private static ObjectCodec<Draft> step(Codec<RetryPolicy> retryPolicy, Codec<Vote> vote) {
        return ObjectCodec.<Draft>of()
                .optional("id", TEXT, Draft::id)
                .optional("agent", PERFORMER, WorkflowDocument::performer)
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
                .optional("retryPolicy", retryPolicy, RetryPolicy.DEFAULT, Draft::retryPolicy)
                .optional("vote", vote, Draft::vote)
                .as(v -> {
                    String id = v.next();
                    Performer performer = v.next();
                    return new Draft(
                            id,
                            performer == null ? null : performer.agent(),
                            performer == null ? null : performer.need(),
                            v.next(),
                            v.next(),
                            v.next(),
                            v.next(),
                            v.next(),
                            v.next(),
                            v.next());
                });
    }

    private static ObjectCodec<Steps> steps(Codec<Draft> step) {
        return ObjectCodec.<Steps>of()
                .required("steps", Codecs.list(step), Steps::steps)
                .as(v -> new Steps(v.next()));
    }

    private static ObjectCodec<WorkflowDocument> document(Codec<Steps> steps) {
        return ObjectCodec.<WorkflowDocument>of()
                .optional("coordinator", TEXT, WorkflowDocument::coordinator)
                .optional("participants", TEXTS, List.of(), WorkflowDocument::participants)
                .optional("inputs", STRUCT, WorkflowDocument::inputs)
                .optional("definition", TEXT, WorkflowDocument::definition)
                .optional("version", INT, WorkflowDocument::version)
                .required("workflow", steps, WorkflowDocument::workflow)
                .as(v -> new WorkflowDocument(v.next(), v.next(), v.next(), v.next(), v.next(), v.next()));
    }

    /** JSON of documents, of which unknown members are ignored: of runs that were begun before. */
    public static final Codec<WorkflowDocument> CODEC = document(steps(step(Wire.RETRY_POLICY, Vote.CODEC)));

    private static final Codec<WorkflowDocument> CLOSED = document(
                    steps(step(Wire.RETRY_POLICY.closed(), Vote.CODEC.closed()).closed())
                            .closed())
            .closed();

    /**
     * Reads a new document: as it is, or in its short form with a {@code type}.
     *
     * @throws InvalidField or {@link A2AException} if it is not one, or has unknown members
     */
    public static WorkflowDocument strict(Map<String, @Nullable Object> written) {
        return CLOSED.fromJson(content(written));
    }

    /** The number of steps of a document. */
    static int steps(Map<String, @Nullable Object> document) {
        return document.get("workflow") instanceof Map<?, ?> workflow && workflow.get("steps") instanceof List<?> steps
                ? steps.size()
                : 0;
    }

    /**
     * Requires that parameters refer to inputs of these names only.
     *
     * @throws InvalidField with the place of another
     */
    void requireInputs(Set<String> names) {
        for (int i = 0; i < workflow.steps().size(); i++) {
            References.each(
                    workflow.steps().get(i).parameters(), Workflow.place(i, "parameters"), (reference, place) -> {
                        String written = reference.strip();
                        if (written.startsWith(References.INPUT + ".")) {
                            String name = written.substring(References.INPUT.length() + 1)
                                    .split("[.\\[]", 2)[0];
                            if (!names.contains(name)) {
                                throw References.missing(
                                        reference,
                                        place,
                                        "unknown input (expected: one of " + String.join(", ", names) + ")");
                            }
                        }
                    });
        }
    }

    /**
     * Reads a document: as it is, in its short form with a {@code type}, or in an envelope.
     *
     * @throws InvalidField or {@link A2AException} if it is not one
     */
    public static WorkflowDocument of(Map<String, @Nullable Object> written) {
        return CODEC.fromJson(content(written));
    }

    /** A document without its {@code type}, or what stands in an envelope. */
    static Map<String, @Nullable Object> content(Map<String, @Nullable Object> written) {
        if (isEnvelope(written) && written.get("message") instanceof Map<?, ?> message) {
            requireCoordination("message.type", message.get("type"));
            if (message.get("content") instanceof Map<?, ?> content) {
                return members(content);
            }
        }
        if (!written.containsKey("type")) {
            return written;
        }
        requireCoordination("type", written.get("type"));
        var members = new LinkedHashMap<>(written);
        members.remove("type");
        return members;
    }

    /** Whether this is a message of the mesh with a document, instead of a document. */
    static boolean isEnvelope(Map<String, @Nullable Object> written) {
        return written.containsKey("message") && !written.containsKey("workflow");
    }

    private static void requireCoordination(String field, @Nullable Object type) {
        if (!"coordination".equals(type)) {
            throw InvalidField.of(field, Wire.shown(type) + " (expected: coordination)");
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

    /** Runs an action on the parameters of an operation. */
    static <T> T valid(Supplier<T> action) {
        try {
            return action.get();
        } catch (InvalidField invalid) {
            throw A2AException.invalidParams(invalid.field(), invalid.problem());
        }
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
