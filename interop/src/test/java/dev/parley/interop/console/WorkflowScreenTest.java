package dev.parley.interop.console;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.dialect.Json;
import dev.parley.hub.Hub;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.Timeout;
import org.openqa.selenium.Keys;

/** Workflows in the console: runs with their graphs, steps, replay, and the editor. */
@Timeout(90)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class WorkflowScreenTest {
    private ConsoleHub hub;
    private Browser browser;

    @BeforeAll
    void start() {
        hub = new ConsoleHub();
        browser = Browser.at(hub.url());
    }

    @AfterAll
    void stop() {
        if (browser != null) {
            browser.close();
        }
        hub.close();
    }

    @BeforeEach
    void begin() {
        browser.leave();
        browser.forget();
    }

    @AfterEach
    void assertQuiet() {
        browser.assertQuiet("complaints of the browser");
    }

    static Map<String, Object> step(
            String id, String agent, String task, Map<String, ?> parameters, String... depends) {
        return Map.of(
                "id",
                id,
                "agent",
                agent,
                "task",
                task,
                "parameters",
                parameters,
                "depends",
                List.of(depends),
                "onError",
                "continue");
    }

    static Map<String, Object> workflow(Object... steps) {
        return Map.of("workflow", Map.of("steps", List.of(steps)));
    }

    private String run(Object... steps) {
        return String.valueOf(hub.post("/one/workflows", workflow(steps)).get("workflowId"));
    }

    private Map<?, ?> read(String run) {
        return hub.call("GET", "/one/workflows/" + run, null);
    }

    @Test
    @DisplayName(
            "S6, ONE16, ONE36: the graph of a run goes from left to right, with states by colour and word, and the critical path")
    void aRunIsAGraph() {
        String run = run(
                step("slow", "worker", "worker-skill", Map.of("text", "graph")),
                step("quick", "importer", "importer-skill", Map.of("text", "x")),
                step("end", "scribe", "summary", Map.of("text", "sum"), "slow", "quick"));
        browser.go("workflows");
        browser.see(".body .tr .title", "slow, quick, end");
        browser.see(".body .tr .state.run", "working");
        browser.click(".body .tr .title a", "slow, quick, end");
        browser.see(".node.run .name", "slow");
        browser.see(".node.bad .name", "quick");
        browser.see(".node.off .name", "end");
        assertThat(left("slow")).isEqualTo(left("quick")).isLessThan(left("end"));

        hub.step("graph");
        hub.step("graph");
        browser.see(".node.ok.critical .name", "slow");
        browser.see(".node.ok.critical .name", "end");
        assertThat(browser.texts(".node.critical .name")).doesNotContain("quick");
        browser.see("h1 .state.ok", "completed");
        browser.see("section[aria-label=Result]", "end");
        assertThat(browser.address()).contains(run);
    }

    @Test
    @DisplayName("S6, S7: a step that takes no millisecond is on the critical path, whatever the order of the document")
    void aStepWithoutDurationIsOnTheCriticalPath() {
        browser.go("workflows");
        Object paths = browser.runAsync("""
                const done = arguments[arguments.length - 1];
                const app = document.querySelector('script[type=module]').src;
                Promise.all([import(new URL('flow.js', app)), import(new URL('trace.js', app))]).then(([flow, trace]) => {
                  const step = (id, ...depends) => ({id, agent: 'a', task: 't', state: 'completed', depends});
                  const times = new Map([['slow', {begun: 0, ended: 9}], ['quick', {begun: 0, ended: 4}], ['end', {begun: 9, ended: 9}]]);
                  const path = (...steps) => [...flow.criticalPath(steps, times, 20)].join(' ');
                  const at = ms => new Date(ms).toISOString();
                  const span = (id, started, ended) =>
                    ({id, parent: id === 'run' ? '' : 'run', kind: 'task', agent: 'a', name: id, started: at(started), ended: at(ended)});
                  const spans = [span('run', 0, 9), span('slow', 0, 9), span('end', 9, 9)];
                  done([
                    path(step('slow'), step('quick'), step('end', 'slow', 'quick')),
                    path(step('end', 'quick', 'slow'), step('quick'), step('slow')),
                    [...trace.criticalPath(spans, 20)].join(' ')]);
                }, failure => done([String(failure)]));
                """);
        assertThat(paths).isEqualTo(List.of("end slow", "end slow", "run end slow"));
    }

    private double left(String step) {
        return ((Number) requireNonNull(browser.run(
                        "return [...document.querySelectorAll('.node')].find(each => each.querySelector('.name').textContent"
                                + " === arguments[0]).getBoundingClientRect().left",
                        step)))
                .doubleValue();
    }

    @Test
    @DisplayName("S6: a click on a node shows its task beside; a question of a step is answered there")
    void aStepShowsItsTaskAndItsQuestionIsAnswered() {
        String run = run(
                step("seat", "booking", "booking-skill", Map.of("text", "A seat to Paris")),
                step("end", "scribe", "summary", Map.of("text", "sum"), "seat"));
        browser.go("workflows/" + run);
        browser.see(".node.wait .name", "seat");
        browser.click(".node", "seat");
        browser.see("section[aria-label=Step] .state.wait", "input-required");
        browser.see("section[aria-label=Step] .talk", "A seat to Paris");
        assertThat(browser.address()).contains("step=seat");

        browser.see(".ask", "Window or aisle?");
        browser.type(".ask input[name=answer]", "aisle");
        browser.press(Keys.ENTER);
        browser.see(".node.ok .name", "seat");
        browser.see("section[aria-label=Step] .talk", "Booked: aisle");
        browser.see(".node.ok .name", "end");
        assertThat(read(run).get("state")).isEqualTo("completed");
    }

    @Test
    @DisplayName("S6: the run within a step expands in place")
    void aRunWithinAStepExpands() {
        String run = run(step(
                "inner",
                "one",
                "workflow",
                workflow(
                        step("first", "scribe", "summary", Map.of("text", "one")),
                        step("second", "importer", "importer-skill", Map.of("text", "two"), "first"))));
        browser.go("workflows/" + run + "?step=inner");

        browser.see("section[aria-label=Step] summary", "2 steps of the run within");
        browser.see("section[aria-label=Step] .node.ok .name", "first");
        browser.see("section[aria-label=Step] .node.bad .name", "second");
        browser.click("section[aria-label=Step] .node", "second");
        browser.see("section[aria-label=Step] .reason", "Disk full");
        assertThat(browser.address()).doesNotContain(run);
    }

    @Test
    @DisplayName("S6: the scrubber replays how the graph filled in, by event and in the address")
    void theScrubberReplays() {
        String run = run(
                step("first", "scribe", "summary", Map.of("text", "one")),
                step("second", "importer", "importer-skill", Map.of("text", "two"), "first"));
        browser.go("workflows/" + run);
        browser.see("h1 .state", "completed");
        browser.see(".node.bad .name", "second");
        browser.run("const range = document.querySelector('.scrub input'); range.value = 1;"
                + " range.dispatchEvent(new Event('input', {bubbles: true}))");

        browser.see(".scrub", "event 1 of");
        browser.gone(".node.ok", "");
        browser.gone(".node.bad", "");
        assertThat(browser.address()).contains("at=1");
        browser.reload();
        browser.see(".scrub", "event 1 of");
        browser.gone(".node.ok", "");
        browser.run("document.querySelector('.scrub input').focus()");
        browser.press(Keys.END);
        browser.see(".node.bad .name", "second");
        assertThat(browser.address()).doesNotContain("at=");
    }

    @Test
    @DisplayName("S6: the editor checks as one writes, shows the picture, runs the document, and stores a definition")
    void theEditorChecksAndRuns() {
        browser.go("workflows/new");
        browser.see(".check.bad", "workflow.steps[0].agent"); // the example has an agent that this hub has not
        write("{\"workflow\": {\"steps\": [");
        browser.see(".check.bad", "JSON");
        write(workflow(step("only", "scribe", "summary", Map.of("text", "sum"), "missing")));
        browser.see(".check.bad", "workflow.steps[0].depends");

        write(workflow(step("only", "scribe", "summary", Map.of("text", "sum"))));
        browser.see(".check.ok", "1 step, ready to run");
        browser.see("section[aria-label=Picture] .name", "only");
        browser.click(".head button", "Run");
        browser.see("h1 .state.ok", "completed");
        browser.click(".head a", "Edit a copy");
        browser.see("section[aria-label=Picture] .name", "only");
        assertThat(browser.value("textarea")).contains("\"only\"");

        write(Map.of(
                "name", "greeting",
                "inputs",
                        Map.of(
                                "type",
                                "object",
                                "properties",
                                Map.of("topic", Map.of("type", "string")),
                                "required",
                                List.of("topic")),
                "workflow",
                        Map.of(
                                "steps",
                                List.of(step("greet", "scribe", "summary", Map.of("text", "${input.topic}"))))));
        browser.see(".check.ok", "1 step, ready to run");
        browser.click(".head button", "Save");
        browser.see(".check.ok", "Saved as version 1 of greeting");
        browser.type("section[aria-label=Inputs] input", "tides");
        browser.click(".head button", "Save and run");
        browser.see("h1", "greeting 1");
        browser.see("h1 .state.ok", "completed");
        browser.go("workflows?tab=definitions");
        browser.click(".body .tr a", "greeting");
        browser.see(".check.ok", "ready to run");
    }

    private void write(Object document) {
        String text = document instanceof String written ? written : new String(Json.write(document), UTF_8);
        browser.run(
                "const field = document.querySelector('textarea'); field.value = arguments[0];"
                        + " field.dispatchEvent(new Event('input', {bubbles: true}))",
                text);
    }

    @Test
    @DisplayName("S6: a run is canceled after a confirmation, and resumed")
    void aRunIsCanceledAndResumed() {
        String run = run(step("slow", "worker", "worker-skill", Map.of("text", "cancel")));
        browser.go("workflows/" + run);
        browser.see(".node.run .name", "slow");
        browser.click(".head button", "Cancel");
        browser.click("dialog footer button", "Keep it");
        browser.click(".head button", "Cancel");
        browser.click("dialog footer button", "Cancel the run");
        browser.see("h1 .state", "canceled");

        browser.click(".head button", "Resume");
        browser.see(".head .dim", "resumes " + run);
        browser.see(".node.run .name", "slow");
        hub.step("cancel");
        hub.step("cancel");
        browser.see("h1 .state.ok", "completed");
    }

    @Test
    @DisplayName("S6: a member sees its own runs, and a member of another group sees none of them")
    void aMemberOfAnotherGroupSeesNoRun() {
        try (var closed = new ConsoleHub(Hub.builder().inMemory().port(0).set("auth", "required"));
                Browser other = Browser.at(closed.url())) {
            String ann = closed.key("team", "ann");
            var run = new AtomicReference<String>();
            closed.as(
                    ann,
                    () -> run.set(String.valueOf(closed.post(
                                    "/one/workflows",
                                    workflow(step("only", "scribe", "summary", Map.of("text", "sum"))))
                            .get("workflowId"))));

            other.go("workflows/" + run.get());
            other.signIn(closed.key("others", "gus"));
            other.see(".empty h2", "No such run");
            other.forget("status of 404 (Not Found)");
            other.go("workflows");
            other.see(".empty h2", "No run yet");
            other.go("mesh");
            other.see(".empty h2", "No messages yet");
            other.assertQuiet("the pages of gus");
            other.leave();
            other.deleteCookies();
            other.go("workflows/" + run.get());
            other.signIn(ann);
            other.see(".node.ok .name", "only");
            other.assertQuiet("the run of ann");
        }
    }
}
