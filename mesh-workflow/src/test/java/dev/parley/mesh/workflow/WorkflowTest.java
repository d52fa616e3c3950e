package dev.parley.mesh.workflow;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.parley.mesh.workflow.Workflow.Step;
import dev.parley.mesh.workflow.WorkflowOperation.StepState;
import dev.parley.mesh.workflow.WorkflowRun.Happening;
import dev.parley.protocol.InvalidField;
import dev.parley.protocol.TaskState;
import dev.parley.protocol.json.JsonText;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class WorkflowTest {
    private static Workflow workflow(String steps) {
        String document = "{\"coordinator\":\"boss\",\"participants\":[\"a\",\"b\",\"c\"],\"workflow\":{\"steps\":["
                + steps.replace('\'', '"') + "]}}";
        return JsonText.request(document.getBytes(UTF_8), WorkflowDocument.CODEC)
                .checked();
    }

    private static List<String> ids(List<Step> steps) {
        return steps.stream().map(Step::id).toList();
    }

    private static Happening ended(String step, StepState state, int attempt) {
        return new Happening(step, state, attempt, "t-" + step, "result of " + step, null);
    }

    private static final String DIAMOND = "{'id':'top','agent':'a','task':'x'},"
            + "{'id':'left','agent':'b','task':'x','depends':['top']},"
            + "{'id':'right','agent':'c','task':'x','depends':['a']},"
            + "{'id':'end','agent':'b','task':'x','depends':['left','right'],'parameters':{'n':1}}";

    @Test
    @DisplayName("ONE16 steps run after those on which they depend, those without in parallel")
    void diamond() {
        Workflow workflow = workflow(DIAMOND);
        var run = new WorkflowRun(workflow);

        assertThat(ids(run.ready())).containsExactly("top");
        run.apply(Happening.begun("top", 1, "t-top"));
        assertThat(run.ready()).isEmpty();
        assertThat(ids(run.apply(ended("top", StepState.COMPLETED, 1)))).containsExactly("left", "right");
        assertThat(run.apply(ended("left", StepState.COMPLETED, 1))).isEmpty();
        List<Step> last = run.apply(ended("right", StepState.COMPLETED, 1));
        assertThat(ids(last)).containsExactly("end");
        assertThat(ids(last)).containsExactly("end");
        assertThat(run.completed(last.getFirst())).containsExactly("left", "right");
        run.apply(ended("end", StepState.COMPLETED, 1));
        assertThat(run.state()).isEqualTo(TaskState.COMPLETED);
    }

    @Test
    void stepsBehindAFailedOneAreSkippedAndTheOthersGoOn() {
        var run = new WorkflowRun(workflow(DIAMOND));

        run.apply(ended("top", StepState.COMPLETED, 1));
        run.apply(ended("left", StepState.FAILED, 1));

        assertThat(run.state("end")).isEqualTo(StepState.SKIPPED);
        assertThat(run.state()).isEqualTo(TaskState.WORKING);
        run.apply(ended("right", StepState.COMPLETED, 1));
        assertThat(run.state()).isEqualTo(TaskState.FAILED);
    }

    @Test
    void aStepIsRepeatedAsItsPolicySays() {
        var run = new WorkflowRun(workflow("{'agent':'a','task':'x','onError':'retry','retryPolicy':{'maxRetries':2}},"
                + "{'agent':'b','task':'x','onError':'continue','depends':['a']}"));

        for (int attempt = 1; attempt <= 2; attempt++) {
            run.apply(Happening.begun("a", attempt, "t"));
            run.apply(ended("a", StepState.FAILED, attempt));
            assertThat(ids(run.ready())).containsExactly("a");
        }
        run.apply(ended("a", StepState.FAILED, 3));
        assertThat(run.ready()).isEmpty();
        assertThat(run.state("b")).isEqualTo(StepState.SKIPPED);
        assertThat(run.state()).isEqualTo(TaskState.FAILED);
    }

    @Test
    void aStepMayFailWithoutTheWorkflow() {
        var run = new WorkflowRun(
                workflow("{'agent':'a','task':'x','onError':'continue'},{'agent':'b','task':'x','depends':['a']}"));

        assertThat(ids(run.apply(ended("a", StepState.FAILED, 1)))).containsExactly("b");
        run.apply(ended("b", StepState.COMPLETED, 1));
        assertThat(run.state()).isEqualTo(TaskState.COMPLETED);
    }

    @Test
    void aQuestionOfAStepIsOneOfTheRunAndACancelEndsAll() {
        var run = new WorkflowRun(workflow(DIAMOND));
        run.apply(ended("top", StepState.COMPLETED, 1));
        run.apply(ended("left", StepState.INPUT_REQUIRED, 1));
        assertThat(run.state()).isEqualTo(TaskState.WORKING);
        run.apply(ended("right", StepState.COMPLETED, 1));
        assertThat(run.state()).isEqualTo(TaskState.INPUT_REQUIRED);

        run.cancel();

        assertThat(run.state()).isEqualTo(TaskState.CANCELED);
        assertThat(run.state("top")).isEqualTo(StepState.COMPLETED);
    }

    @Test
    @DisplayName("a run that is folded again from its happenings is in the same state, whatever is told twice")
    void foldedAgain() {
        Workflow workflow = workflow(DIAMOND);
        var happenings = new ArrayList<Happening>();
        happenings.add(Happening.begun("top", 1, "t-top"));
        happenings.add(ended("top", StepState.COMPLETED, 1));
        happenings.add(ended("top", StepState.FAILED, 1)); // too late
        happenings.add(ended("top", StepState.COMPLETED, 1)); // again
        happenings.add(Happening.begun("left", 1, "t-left"));

        WorkflowRun run = WorkflowRun.of(workflow, happenings);

        assertThat(run.state("top")).isEqualTo(StepState.COMPLETED);
        assertThat(ids(run.ready())).containsExactly("right");
        assertThat(run.taskId("left")).isEqualTo("t-left");
    }

    @ParameterizedTest
    @DisplayName("a document that is cyclic, ambiguous, or names strangers is refused with the place")
    @CsvSource(
            delimiter = ';',
            value = {
                "{'agent':'z','task':'x'}; workflow.steps[0].agent; participants",
                "{'agent':'a','task':'x'},{'agent':'a','task':'y'}; workflow.steps[0].id; 2 steps",
                "{'id':'s','agent':'a','task':'x'},{'id':'s','agent':'b','task':'y'}; workflow.steps[1].id; steps[0]",
                "{'agent':'a','task':'x','depends':['q']}; workflow.steps[0].depends[0]; the id of a step",
                "{'id':'s','agent':'a','task':'x'},{'id':'t','agent':'a','task':'y'},{'agent':'b','task':'x','depends':['a']};"
                        + " workflow.steps[2].depends[0]; one of the 2 steps",
                "{'agent':'a','task':'x','depends':['b']},{'agent':'b','task':'x','depends':['a']};"
                        + " workflow.steps[0].depends; a → b → a",
                "{'agent':'a','task':'x','depends':['a']}; workflow.steps[0].depends; a → a"
            })
    void refused(String steps, String place, String expected) {
        assertThatThrownBy(() -> workflow(steps)).isInstanceOfSatisfying(InvalidField.class, refused -> {
            assertThat(refused.field()).isEqualTo(place);
            assertThat(refused.problem()).contains(expected);
        });
    }

    @Test
    void drawingsHoldAllStepsAndNothingThatTheTextOfAStepAdds() {
        Workflow workflow = workflow("{'id':'a\\u0022]; x','agent':'a','task':'x'},"
                + "{'id':'end','agent':'b','task':'y','depends':['a']}");

        assertThat(WorkflowGraph.mermaid(nodes(workflow, "waiting"))).isEqualTo("""
                flowchart TD
                  s0["a#34;#93;#59; x<br/>a: x<br/>waiting"]
                  s1["end<br/>b: y<br/>waiting"]
                  s0 --> s1
                """);
        assertThat(WorkflowGraph.dot(nodes(workflow, null))).isEqualTo("""
                digraph workflow {
                  node [shape=box];
                  s0 [label="a\\"]; x\\na: x"];
                  s1 [label="end\\nb: y"];
                  s0 -> s1;
                }
                """);
    }

    private static List<WorkflowGraph.Node> nodes(Workflow workflow, @Nullable String state) {
        return workflow.steps().values().stream()
                .map(step ->
                        new WorkflowGraph.Node(step.id(), step.agent() + ": " + step.task(), step.depends(), state))
                .toList();
    }
}
