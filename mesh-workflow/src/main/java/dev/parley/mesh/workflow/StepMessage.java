package dev.parley.mesh.workflow;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.parley.dialect.Json;
import dev.parley.mesh.Delegations;
import dev.parley.mesh.Reports;
import dev.parley.mesh.workflow.Workflow.Step;
import dev.parley.protocol.AgentCard;
import dev.parley.protocol.Message;
import dev.parley.protocol.Operation;
import dev.parley.protocol.Part;
import dev.parley.protocol.Role;
import dev.parley.protocol.support.Sha256;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Messages to the agents of steps, and their results. */
final class StepMessage {
    private static final String INPUTS = "inputs";

    private StepMessage() {}

    /**
     * Message that begins an attempt of a step. Its id is the same after a restart, so that the agent takes it for a repetition.
     *
     * @param parameters with the results of other steps as {@code inputs}
     * @param files of other steps
     */
    static Message of(
            String run,
            Step step,
            int attempt,
            Map<String, @Nullable Object> parameters,
            List<Part> files,
            AgentCard card) {
        var parts = new ArrayList<Part>();
        if (step.agent().equals(WorkflowAgent.NAME) || runsWorkflows(card)) {
            parts.add(Part.data(parameters));
        } else {
            AgentCard.Skill skill = Delegations.skill(card, step.task()).orElse(null);
            if (!Delegations.takesOnlyText(card, skill)) {
                parts.add(Part.data(Map.of("task", step.task(), "parameters", parameters)));
            }
            boolean takesText = Delegations.takesText(card, skill);
            texts(step.task(), parameters).stream()
                    .filter(part -> takesText || !(part instanceof Part.Text))
                    .forEach(parts::add);
        }
        parts.addAll(files);
        return message(id(run, step.id(), String.valueOf(attempt)), parts, null, run, step);
    }

    /** True for the agent {@code one} of any hub. */
    private static boolean runsWorkflows(AgentCard card) {
        return WorkflowProtocol.PROTOCOL.in(card.capabilities().extensions()).isPresent();
    }

    /** Message that answers the question of a step. */
    static Message answer(String run, Step step, String taskId, Message answer) {
        return message(id(run, step.id(), answer.messageId()), answer.parts(), taskId, run, step);
    }

    private static Message message(String id, List<Part> parts, @Nullable String taskId, String run, Step step) {
        return new Message(
                id,
                Role.USER,
                parts,
                null,
                taskId,
                Map.of("one/run", run, "one/step", step.id()),
                List.of(),
                List.of(run));
    }

    /** Id of the message of an attempt, or of an answer. */
    static String id(String run, String step, String message) {
        String id = run + "/" + step + "/" + message;
        boolean fits = id.length() <= Operation.LONGEST_ID && id.indexOf('\0') < 0;
        return fits ? id : Sha256.hex(id);
    }

    /** The text of the parameters, and a text for each result of another step. */
    private static List<Part> texts(String task, Map<String, @Nullable Object> parameters) {
        var own = new LinkedHashMap<>(parameters);
        Object inputs = own.remove(INPUTS);
        var parts = new ArrayList<Part>();
        if (!own.isEmpty() || !(inputs instanceof Map<?, ?> map) || map.isEmpty()) {
            parts.addAll(Delegations.parts(task, own, true));
        }
        if (inputs instanceof Map<?, ?> results) {
            results.values()
                    .forEach(result -> parts.add(
                            Part.text(result instanceof String text ? text : new String(Json.write(result), UTF_8))));
        }
        return parts;
    }

    /** Parts as the value that other steps get: texts and data; of files the names, since they are parts of messages. */
    static @Nullable Object value(List<Part> parts) {
        return Reports.value(parts.stream()
                .map(part -> isFile(part) ? Part.data(description(part)) : part)
                .toList());
    }

    /** The files among parts. */
    static List<Part> files(List<Part> parts) {
        return parts.stream().filter(StepMessage::isFile).toList();
    }

    private static boolean isFile(Part part) {
        return part instanceof Part.Raw || part instanceof Part.Url || part.filename() != null;
    }

    private static Map<String, @Nullable Object> description(Part part) {
        var members = new LinkedHashMap<String, @Nullable Object>();
        if (part.filename() != null) {
            members.put("filename", part.filename());
        }
        if (part.mediaType() != null) {
            members.put("mediaType", part.mediaType());
        }
        if (part instanceof Part.Url link) {
            members.put("url", link.url());
        }
        return members;
    }
}
