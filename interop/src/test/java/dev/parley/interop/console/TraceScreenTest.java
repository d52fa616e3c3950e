package dev.parley.interop.console;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.engine.Agent;
import java.util.ArrayList;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.openqa.selenium.Keys;

/** Traces in the console: three views with one selection, from the log of tasks. */
@Timeout(90)
class TraceScreenTest {
    private static final String HOSTILE = "<img src=x onerror=alert(1)>\u202e";

    private ConsoleHub hub;
    private Browser browser;

    @BeforeEach
    void start() {
        hub = new ConsoleHub(Agent.named("echo", "Echoes")
                .skill("echo", "Echoes", "text")
                .handle((request, reply) -> reply.complete("Echo")));
        browser = Browser.at(hub.url());
    }

    @AfterEach
    void stop() {
        browser.assertQuiet("the trace");
        browser.close();
        hub.close();
    }

    /** A run whose first step succeeds, whose second one fails, and whose last ones are many of one agent and text. */
    static String run(ConsoleHub hub, int repeats) {
        var steps = new ArrayList<Map<String, Object>>();
        steps.add(WorkflowScreenTest.step("minutes", "scribe", "summary", Map.of("text", "Sum up " + HOSTILE)));
        steps.add(WorkflowScreenTest.step("rows", "importer", "importer-skill", Map.of("text", "Import")));
        for (int i = 1; i <= repeats; i++) {
            steps.add(WorkflowScreenTest.step("e" + i, "echo", "echo", Map.of("text", "Same text")));
        }
        return String.valueOf(hub.post("/one/workflows", WorkflowScreenTest.workflow(steps.toArray()))
                .get("workflowId"));
    }

    private String run(int repeats) {
        String run = run(hub, repeats);
        browser.go("workflows/" + run);
        browser.see(".head .state", "");
        return run;
    }

    @Test
    @DisplayName(
            "S7: waterfall, sequence and tree share one selection, which is in the address and follows the keyboard")
    void threeViewsShareASelection() {
        String run = run(2);
        browser.click(".head a", "Trace");
        browser.see(".waterfall .span[data-span='" + run + "'][aria-selected=true]", "one");
        browser.see(".waterfall .span .who", "scribe");
        browser.press(Keys.TAB);
        // Before the step that runs once: a row of repeats, which the keyboard opens, may be any of the first ones.
        browser.run(
                "[...document.querySelectorAll('.waterfall .span')].find(each => each.textContent.includes('scribe'))"
                        + ".previousElementSibling.focus()");
        browser.press(Keys.ARROW_DOWN);
        browser.holds("location.search.includes('span=')");
        String span = String.valueOf(browser.run("return new URLSearchParams(location.search).get('span')"));
        assertThat(span).isNotEqualTo(run);
        browser.picture("trace-waterfall");

        browser.click("[role=tab]", "Sequence");
        browser.see(".sequence .arrow.message.on[data-span='" + span + "'] text", "");
        assertThat(browser.texts(".lifeline text")).contains("anonymous", "one", "scribe", "importer");
        browser.see(".sequence .arrow.status", "");
        browser.see(".sequence .arrow.artifact", "Summary");
        browser.see(".sequence .arrow.answer.bad", "Disk full");
        browser.picture("trace-sequence");

        browser.click("[role=tab]", "Tree");
        browser.see(".tree-view .span[data-span='" + span + "'][aria-selected=true]", "");
        assertThat(browser.address()).contains("view=tree", "span=" + span);
        browser.picture("trace-tree");
    }

    @Test
    @DisplayName("S7: a trace needs no tracing backend, grows as its tasks work, and shows texts of agents as text")
    void aTraceComesFromTheLogAndGrows() {
        String task = hub.begin("worker", "Count " + HOSTILE);
        browser.go("traces/" + task);
        browser.see("section[aria-label=Span] .state", "working");
        browser.see("h1", "<img src=x onerror=alert(1)>");
        assertThat(browser.run("return document.querySelectorAll('main img').length"))
                .isEqualTo(0L);
        hub.step("Count " + HOSTILE);
        browser.see("section[aria-label=Span] li", "80 rows counted");
        hub.step("Count " + HOSTILE);
        browser.see("section[aria-label=Span] h2 .state", "completed");

        browser.go("traces");
        browser.see("section[aria-label='Newest tasks'] a", "Count");
        browser.type("input[name=trace]", "4bf92f3577b34da6a3ce929d0e0e4736");
        browser.press(Keys.ENTER);
        browser.see(".empty h2", "No such trace");
        browser.forget("status of 404");
    }

    @Test
    @DisplayName("S7: only errors, the critical path, and repeats of one agent as one row")
    void errorsTheCriticalPathAndRepeats() {
        String run = run(48);
        browser.see(".node.ok .name", "e48");
        browser.go("traces/" + run);
        browser.see(".waterfall .span[aria-expanded=false] .who", "× 48");
        int few = browser.texts(".waterfall .span").size();
        browser.click(".waterfall .span[aria-expanded]", "× 48");
        browser.holds("document.querySelectorAll('.waterfall .span').length === " + (few + 48));
        browser.click(".waterfall .span[aria-expanded]", "× 48");

        browser.click("label", "Critical path");
        browser.see(".waterfall .span.critical .who", "one");
        assertThat(browser.address()).contains("path=1");
        browser.picture("trace-path");

        browser.click("label", "Only errors");
        browser.gone(".waterfall .span .who", "scribe");
        browser.see(".waterfall .span.bad .who", "importer");
        assertThat(browser.texts(".waterfall .span .who"))
                .as("the failure and the run above it")
                .hasSize(2);
        browser.click(".waterfall .span", "importer");
        browser.see("section[aria-label=Span] .reason", "Disk full");
    }
}
