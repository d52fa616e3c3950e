package dev.parley.mesh.workflow;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.code_intelligence.jazzer.junit.FuzzTest;
import dev.parley.mesh.workflow.WorkflowOperation.StepState;
import dev.parley.mesh.workflow.WorkflowRun.Happening;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.InvalidField;
import dev.parley.protocol.json.Codecs;
import dev.parley.protocol.json.JsonText;
import java.util.stream.Stream;
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
            workflow =
                    WorkflowDocument.of(JsonText.request(bytes, Codecs.STRUCT)).checked();
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
