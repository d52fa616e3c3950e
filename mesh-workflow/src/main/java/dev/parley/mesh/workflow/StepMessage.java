package dev.parley.mesh.workflow;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.parley.dialect.Json;
import dev.parley.mesh.Delegations;
import dev.parley.mesh.Reports;
import dev.parley.mesh.workflow.StepInputs.Inputs;
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

    /** Member of the metadata with the bytes of results that the steps of a run may get. */
    static final String ALLOWANCE = "one/allowance";

    /** Member of a skill that declares the arguments of a tool. */
    private static final String TOOL = "urn:parley:mcp:tool:v1";

    private StepMessage() {}

    /**
     * Message that begins an attempt of a step: the call of the skill that its task names. Its id is the same after a restart, so that the
     * agent takes it for a repetition.
     *
     * @param ofInnerRun bytes of results that the steps of a run may get, if the step is one
     */
    static Message of(String run, Step step, int attempt, Inputs inputs, long ofInnerRun, AgentCard card) {
        var own = new LinkedHashMap<>(inputs.parameters());
        Vote vote = step.vote();
        if (vote != null) {
            own.put("text", vote.text());
            own.put("question", vote.question());
            own.put("options", vote.options());
        }
        AgentCard.Skill skill = skill(step, card);
        List<Part> parts = parts(step, own, inputs.results(), card, skill);
        parts.addAll(inputs.files());
        Map<String, Object> more = runsWorkflows(card) ? Map.of(ALLOWANCE, ofInnerRun) : Map.of();
        return message(id(run, step.id(), String.valueOf(attempt)), parts, null, run, step, skill, more);
    }

    private static AgentCard.@Nullable Skill skill(Step step, AgentCard card) {
        boolean isAny = step.isBallot() && card.skills().size() == 1;
        return Delegations.skill(card, step.task()).orElse(isAny ? card.skills().getFirst() : null);
    }

    private static List<Part> parts(
            Step step,
            Map<String, @Nullable Object> own,
            Map<String, @Nullable Object> results,
            AgentCard card,
            AgentCard.@Nullable Skill skill) {
        if (step.agent().equals(WorkflowProtocol.AGENT) || runsWorkflows(card)) {
            return new ArrayList<>(List.of(Part.data(own)));
        }
        if (results.isEmpty()) {
            return new ArrayList<>(Delegations.parts(step.task(), own, card, skill));
        }
        var parts = new ArrayList<Part>();
        Object data = data(own, results, skill);
        boolean takesText = Delegations.takesText(card, skill);
        if (data != null && !Delegations.takesOnlyText(card, skill)) {
            parts.add(Part.data(data));
        }
        if (takesText) {
            if (!own.isEmpty()) {
                parts.add(Part.text(Delegations.text(step.task(), own)));
            }
            results.values()
                    .forEach(result -> parts.add(
                            Part.text(result instanceof String text ? text : new String(Json.write(result), UTF_8))));
        }
        return parts;
    }

    /**
     * Results of other steps as data. A tool, whose data are its arguments, gets the only result if that is an object, and none for texts;
     * null for none.
     */
    private static @Nullable Object data(
            Map<String, @Nullable Object> own, Map<String, @Nullable Object> results, AgentCard.@Nullable Skill skill) {
        if (skill != null && skill.others().containsKey(TOOL)) {
            Object first = results.values().iterator().next();
            if (results.size() == 1 && first instanceof Map<?, ?>) {
                return first;
            }
            if (results.values().stream().allMatch(String.class::isInstance)) {
                return null;
            }
        }
        var data = new LinkedHashMap<>(own);
        data.put(INPUTS, results);
        return data;
    }

    /** True for the agent {@code one} of any hub. */
    private static boolean runsWorkflows(AgentCard card) {
        return WorkflowProtocol.PROTOCOL.in(card.capabilities().extensions()).isPresent();
    }

    /** Message that answers the question of a step. */
    static Message answer(String run, Step step, String taskId, Message answer, AgentCard card) {
        String id = id(run, step.id(), answer.messageId());
        return message(id, answer.parts(), taskId, run, step, skill(step, card), Map.of());
    }

    private static Message message(
            String id,
            List<Part> parts,
            @Nullable String taskId,
            String run,
            Step step,
            AgentCard.@Nullable Skill skill,
            Map<String, Object> more) {
        var metadata = new LinkedHashMap<String, @Nullable Object>(more);
        if (skill != null) {
            metadata.put(Delegations.SKILL, skill.id());
        }
        metadata.put("one/run", run);
        metadata.put("one/step", step.id());
        metadata.put("one/task", step.task());
        return new Message(id, Role.USER, parts, null, taskId, metadata, List.of(), List.of(run));
    }

    /** Id of the message of an attempt, or of an answer. */
    static String id(String run, String step, String message) {
        String id = run + "/" + step + "/" + message;
        boolean fits = id.length() <= Operation.LONGEST_ID && id.indexOf('\0') < 0;
        return fits ? id : Sha256.hex(id);
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
