package dev.parley.pipelines.repair;

import dev.langchain4j.model.chat.ChatModel;
import dev.parley.engine.Agent;
import dev.parley.engine.AgentHandler;
import dev.parley.engine.Reply;
import dev.parley.engine.Request;
import dev.parley.engine.spi.Tools;
import dev.parley.engine.spi.Tools.Outcome;
import dev.parley.engine.spi.Tools.Result;
import dev.parley.pipelines.step.StepInput;
import dev.parley.protocol.AgentCard.Skill;
import dev.parley.protocol.Artifact;
import dev.parley.protocol.Message;
import dev.parley.protocol.Part;
import dev.parley.protocol.Role;
import dev.parley.protocol.TaskState;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Reads the error codes of a car, looks up the repair, inspects the car on the lift, and writes a plan.
 *
 * <p>Keeps nothing between its calls: steps that are done are artifacts of the task.
 */
final class Mechanic implements AgentHandler {
    private static final String SCAN = "scan";
    static final String FINDINGS = "findings";
    private static final String PROCEDURE = "procedure";
    private static final String SCAN_TOOL = "scan_vehicle_for_error_codes";
    private static final String LIFT_TOOL = "raise_platform";

    /** Member of the task's metadata: the call of the lift that waits for an answer. */
    private static final String LIFT = "liftCall";

    private static final double HEIGHT_METERS = 2;

    private Mechanic() {}

    /** @param model chooses the calls of the tools; null for a mechanic that follows rules */
    static Agent agent(@Nullable ChatModel model) {
        String how = model == null ? "Follows rules, uses no model." : "Uses a language model.";
        return Agent.named("mechanic", "Inspects cars with a scanner, a manual and a lift. " + how)
                .skill(new Skill(
                        "inspect",
                        "Inspect",
                        "Finds the fault of a car and writes a repair plan",
                        List.of("repair", "diagnosis"),
                        List.of("{\"vehicle_id\":\"XYZ123\",\"make\":\"Toyota\",\"model\":\"Camry\"}"),
                        List.of(),
                        List.of(),
                        List.of()))
                .inputModes("application/json", "text/plain", "video/*")
                .outputModes("application/json", "text/plain")
                .resumable(true)
                .handle(model == null ? new Mechanic() : new ModelMechanic(model));
    }

    @Override
    public void handle(Request request, Reply reply) throws InterruptedException {
        Map<String, @Nullable Object> car = car(request);
        for (String member : List.of("vehicle_id", "make", "model")) {
            if (!(car.get(member) instanceof String)) {
                reply.reject(member + ": missing (expected: a data part with vehicle_id, make and model)");
                return;
            }
        }
        Map<String, @Nullable Object> scan = done(request, SCAN);
        if (scan.isEmpty()) {
            reply.progress(10, "Scanning the vehicle for error codes");
            scan = data(scan(request, reply, Map.of("vehicle_id", car.get("vehicle_id"))));
            reply.artifact(Artifact.named(SCAN, "Error codes", Part.data(scan)));
        }
        List<@Nullable Object> codes = StepInput.array(scan.get("codes"));
        if (codes.isEmpty()) {
            reply.complete("The scanner found no error codes");
            return;
        }
        String code = String.valueOf(StepInput.object(codes.getFirst()).get("code"));
        Map<String, @Nullable Object> procedure = done(request, PROCEDURE);
        if (procedure.isEmpty()) {
            reply.progress(40, "Looking up the procedure for " + code);
            procedure = data(required(request.tools()
                    .call(
                            "manual",
                            "get_repair_procedure",
                            Map.of(
                                    "error_code",
                                    code,
                                    "vehicle_make",
                                    car.get("make"),
                                    "vehicle_model",
                                    car.get("model")))));
            reply.artifact(Artifact.named(PROCEDURE, "Procedure of the manual", Part.data(procedure)));
        }
        Result lift = lift(request, reply);
        if (lift.outcome() == Outcome.QUESTION) {
            reply.move(TaskState.INPUT_REQUIRED, Message.of(Role.AGENT, lift.parts()), Map.of(LIFT, lift.id()));
            return;
        }
        plan(code, procedure, Boolean.TRUE.equals(data(required(lift)).get("raised")), reply);
    }

    /** Calls the scanner, a second time if it fails: its process may have ended, and is started again. */
    private static Result scan(Request request, Reply reply, Map<String, ? extends @Nullable Object> arguments)
            throws InterruptedException {
        Result first = request.tools().call("scanner", SCAN_TOOL, arguments);
        if (first.outcome() == Outcome.COMPLETED) {
            return first;
        }
        reply.working("The scanner failed: " + first.text() + ". Trying again");
        return required(request.tools().call("scanner", SCAN_TOOL, arguments));
    }

    /** Begins to raise the lift, or goes on with the answer to its question. */
    private static Result lift(Request request, Reply reply) throws InterruptedException {
        Object question = request.task().map(task -> task.metadata().get(LIFT)).orElse(null);
        if (question instanceof String id && request.isFollowUp()) {
            Tools.Description tool = request.tools()
                    .find(LIFT_TOOL)
                    .orElseThrow(() -> new IllegalStateException("the lift has no tool " + LIFT_TOOL));
            return answered(request, tool, id);
        }
        reply.progress(60, "Raising the platform");
        return request.tools().call("lift", LIFT_TOOL, Map.of("height_meters", HEIGHT_METERS));
    }

    /** Passes the consent of the customer to a tool, or its refusal. */
    static Result answered(Request request, Tools.Description tool, String call) throws InterruptedException {
        var question = new Result(Outcome.QUESTION, List.of(), call);
        return agrees(request)
                ? request.tools().answer(tool, question, Map.of("agree", true))
                : request.tools().decline(tool, question);
    }

    private static boolean agrees(Request request) {
        return Boolean.TRUE.equals(StepInput.of(request).parameters().get("agree"))
                || request.text().strip().toLowerCase(Locale.ROOT).matches("y|yes|agree|agreed|ok");
    }

    private static void plan(String code, Map<String, @Nullable Object> procedure, boolean isRaised, Reply reply) {
        var text = new StringBuilder("Code " + code + ": " + procedure.get("title") + "\n");
        if (!isRaised) {
            text.append("The platform was not raised, so the engine mount was not seen from below.\n");
        }
        int number = 0;
        for (Object step : StepInput.array(procedure.get("steps"))) {
            text.append(++number).append(". ").append(step).append('\n');
        }
        reply.artifact(Artifact.named("plan", "Repair plan", Part.text(text.toString())));
        if (!isRaised) {
            reply.working("The platform was not raised");
        }
        List<@Nullable Object> parts = StepInput.array(procedure.get("parts"));
        var findings = new LinkedHashMap<String, @Nullable Object>();
        findings.put("code", code);
        findings.put("raised", isRaised);
        if (!parts.isEmpty()) {
            findings.put("part", parts.getFirst());
        }
        reply.artifact(Artifact.named(FINDINGS, "Findings", Part.data(findings)));
        reply.complete();
    }

    /** Data of the car: the first data part of the task's first message. */
    static Map<String, @Nullable Object> car(Request request) {
        var messages = new ArrayList<>(request.history());
        messages.add(request.message());
        return messages.getFirst().parts().stream()
                .filter(Part.Data.class::isInstance)
                .map(part -> StepInput.object(((Part.Data) part).data()))
                .findFirst()
                .orElse(Map.of());
    }

    /** Data of an artifact that an earlier call has made; empty if there is none. */
    static Map<String, @Nullable Object> done(Request request, String artifact) {
        return request.task().stream()
                .flatMap(task -> task.artifacts().stream())
                .filter(each -> each.artifactId().equals(artifact))
                .map(each ->
                        each.parts().getFirst() instanceof Part.Data data ? StepInput.object(data.data()) : Map.of())
                .<Map<String, @Nullable Object>>map(each -> StepInput.object(each))
                .findFirst()
                .orElse(Map.of());
    }

    private static Map<String, @Nullable Object> data(Result result) {
        return StepInput.object(result.data().orElse(null));
    }

    /** @throws IllegalStateException if the tool failed; the task fails with it */
    private static Result required(Result result) {
        if (result.outcome() != Outcome.COMPLETED) {
            throw new IllegalStateException(result.text());
        }
        return result;
    }
}
