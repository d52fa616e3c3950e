package dev.parley.mesh.workflow;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.code_intelligence.jazzer.junit.FuzzTest;
import dev.parley.dialect.Json;
import dev.parley.mesh.workflow.WorkflowRun.Happening;
import dev.parley.mesh.workflow.WorkflowRun.StepState;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.InvalidField;
import java.util.HashMap;
import java.util.Map;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.params.provider.MethodSource;

/** Any document is refused with an error of the protocol, or is a workflow whose steps all end once those that are ready do. */
final class WorkflowFuzzTest {
    static Stream<byte[]> examples() {
        return Stream.of(
                        "{\"workflow\":{\"steps\":[{\"agent\":\"a\",\"task\":\"x\"},{\"agent\":\"b\",\"task\":\"y\",\"depends\":[\"a\"]}]}}",
                        "{\"type\":\"coordination\",\"participants\":[\"a\"],\"workflow\":{\"steps\":[{\"id\":\"1\",\"agent\":\"a\",\"task\":\"x\",\"timeout\":1,\"onError\":\"retry\",\"retryPolicy\":{\"maxRetries\":1}}]}}",
                        "{\"message\":{\"type\":\"coordination\",\"content\":{\"workflow\":{\"steps\":[]}}}}")
                .map(text -> text.getBytes(UTF_8));
    }

    @MethodSource("examples")
    @FuzzTest(maxDuration = "2m")
    void documents(byte[] bytes) {
        Workflow workflow;
        try {
            Map<String, @Nullable Object> members = new HashMap<>();
            Json.read(bytes, Map.class).forEach((name, value) -> members.put(String.valueOf(name), value));
            workflow = WorkflowDocument.of(members).checked();
        } catch (InvalidField | A2AException refused) {
            return;
        }
        var run = new WorkflowRun(workflow);
        for (var ready = run.ready(); !ready.isEmpty(); ready = run.ready()) {
            ready.forEach(step -> run.apply(new Happening(step.id(), StepState.COMPLETED, 1, "t", "result", null)));
        }
        if (run.percent() != 100) {
            throw new AssertionError("steps that never begin");
        }
    }
}
