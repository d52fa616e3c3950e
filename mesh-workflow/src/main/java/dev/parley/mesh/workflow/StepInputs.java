package dev.parley.mesh.workflow;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.parley.dialect.Json;
import dev.parley.mesh.workflow.References.Target;
import dev.parley.mesh.workflow.Workflow.Step;
import dev.parley.protocol.InvalidField;
import dev.parley.protocol.Part;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Inputs of the steps of a run: parameters with the results to which they refer, or the results of the steps before. Results that are
 * handed on have limits in bytes, for a step and for all steps of a run: else a short document could make steps whose inputs double
 * from one to the next. For one thread.
 */
final class StepInputs {
    /** Most bytes of results that a step gets. */
    static final int MOST_OF_STEP = 1 << 20;

    /** Most bytes of results that all attempts of all steps of a run get; runs that are steps of it share as many again. */
    static final long MOST_OF_RUN = 16L << 20;

    /**
     * Inputs of a step.
     *
     * @param parameters without references
     * @param results by steps, of a step without parameters
     * @param files of these steps
     */
    record Inputs(Map<String, @Nullable Object> parameters, Map<String, @Nullable Object> results, List<Part> files) {}

    private final Workflow workflow;
    private final WorkflowRun run;
    private final Function<String, List<Part>> results;
    private final long most;
    private long used;
    private long ofStep;

    /**
     * @param results result of a step that completed
     * @param most bytes that the steps of the run may get
     * @param used bytes that steps of the run got before
     */
    StepInputs(Workflow workflow, WorkflowRun run, Function<String, List<Part>> results, long most, long used) {
        this.workflow = workflow;
        this.run = run;
        this.results = results;
        this.most = Math.min(most, MOST_OF_RUN);
        this.used = used;
    }

    /** Bytes that the steps of a run may get that is a step of this one. */
    long ofInnerRun() {
        long runs = workflow.steps().values().stream()
                .filter(step -> step.agent().equals(WorkflowProtocol.AGENT) && step.vote() == null)
                .count();
        return most / Math.max(1, runs);
    }

    /** Bytes of results that steps have got. */
    long used() {
        return used;
    }

    /** @throws InvalidField if a value is missing, or a limit exceeded; with the place in the document */
    Inputs of(Step step) {
        ofStep = 0;
        Map<String, @Nullable Object> parameters = step.parameters();
        if (parameters == null) {
            return ofDependencies(step);
        }
        var resolved = new LinkedHashMap<String, @Nullable Object>();
        parameters.forEach((name, value) -> {
            String place = step.place() + ".parameters." + name;
            resolved.put(name, References.resolved(value, place, (reference, at) -> value(step, reference, at)));
        });
        return new Inputs(resolved, Map.of(), List.of());
    }

    private Inputs ofDependencies(Step step) {
        var values = new LinkedHashMap<String, @Nullable Object>();
        var files = new ArrayList<Part>();
        for (String before : run.completed(step)) {
            List<Part> parts = results.apply(before);
            Object value = StepMessage.value(parts);
            values.put(before, value);
            List<Part> some = StepMessage.files(parts);
            files.addAll(some);
            take(step, bytes(value) + bytes(some));
        }
        return new Inputs(Map.of(), values, files);
    }

    private @Nullable Object value(Step step, String reference, String place) {
        Target target = References.target(reference, place, workflow.steps().keySet());
        if (target.step().equals(References.INPUT)) {
            Object value = References.at(workflow.inputs(), target.path(), reference, place);
            take(step, bytes(value));
            return value;
        }
        if (run.state(target.step()) != WorkflowOperation.StepState.COMPLETED) {
            throw References.missing(reference, place, "missing, as the step has no result");
        }
        List<Part> parts = results.apply(target.step());
        List<@Nullable Object> values = switch (target.member()) {
            case "text" -> texts(parts);
            case "data" -> data(parts);
            default -> files(parts);
        };
        if (values.isEmpty()) {
            throw References.missing(reference, place, "missing, as the result of the step has no " + target.member());
        }
        boolean isList = target.member().equals("files") || values.size() > 1;
        Object found = References.at(isList ? values : values.getFirst(), target.path(), reference, place);
        take(step, bytes(found));
        return found;
    }

    /** The texts as one. */
    private static List<@Nullable Object> texts(List<Part> parts) {
        List<String> texts = parts.stream()
                .filter(part -> part instanceof Part.Text && part.filename() == null)
                .map(part -> ((Part.Text) part).text())
                .toList();
        return texts.isEmpty() ? List.of() : List.of(String.join("\n", texts));
    }

    private static List<@Nullable Object> data(List<Part> parts) {
        var data = new ArrayList<@Nullable Object>();
        for (Part part : parts) {
            if (part instanceof Part.Data json && json.filename() == null) {
                data.add(json.data());
            }
        }
        return data;
    }

    /** Files as JSON. */
    private static List<@Nullable Object> files(List<Part> parts) {
        var files = new ArrayList<@Nullable Object>();
        StepMessage.files(parts).forEach(file -> files.add(Json.read(Json.write(file), Map.class)));
        return files;
    }

    private static long bytes(@Nullable Object value) {
        return value instanceof String text ? text.getBytes(UTF_8).length : Json.write(value).length;
    }

    private static long bytes(List<Part> files) {
        long bytes = 0;
        for (Part file : files) {
            bytes += file instanceof Part.Raw raw ? raw.raw().length : Json.write(file).length;
        }
        return bytes;
    }

    private void take(Step step, long bytes) {
        ofStep += bytes;
        used += bytes;
        if (ofStep > MOST_OF_STEP) {
            throw InvalidField.of(
                    step.place(),
                    "more than " + MOST_OF_STEP
                            + " bytes of results (expected: fewer; ${STEP.data.MEMBER} is a part of a result, a file"
                            + " may be a link)");
        }
        if (used > most) {
            throw InvalidField.of(
                    step.place(), "steps of the run got " + most + " bytes of results (expected: no more)");
        }
    }
}
