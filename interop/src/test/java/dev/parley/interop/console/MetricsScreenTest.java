package dev.parley.interop.console;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.hub.Hub;
import java.nio.file.Path;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.openqa.selenium.Keys;

/** Measures of agents in the console: charts, tasks of a moment, the report of use. */
@Timeout(90)
class MetricsScreenTest {
    private static final String ROW = ".measures .body .tr";

    @TempDir
    private Path directory;

    private ConsoleHub hub() {
        return new ConsoleHub(Hub.builder().data(directory).port(0));
    }

    @Test
    @DisplayName(
            "S10, ONE33: each agent and operation has its rate, errors and durations, and all charts share a cursor")
    void agentsHaveMeasures() {
        try (var hub = hub();
                Browser browser = Browser.at(hub.url())) {
            browser.go("metrics");
            browser.see("h1", "Metrics");
            for (int i = 0; i < 10; i++) {
                hub.send("scribe", "Sum up");
            }
            hub.send("importer", "Import");
            browser.see(ROW, "scribe");
            browser.see(ROW, "importer");
            assertThat(browser.texts(ROW))
                    .anyMatch(row -> row.startsWith("scribe\nSendMessage") && row.contains("\n10\n0 %"));
            assertThat(browser.texts(".chart svg")).hasSize(3);
            browser.see(".chip", "open stream");

            browser.run("document.querySelector('.chart svg').focus()");
            browser.press(Keys.ARROW_LEFT);
            browser.holds("document.querySelectorAll('.chart .cursor').length === 3");
            browser.holds("document.querySelector('.chart svg').getAttribute('aria-valuetext').includes('calls ')");
            browser.picture("metrics");

            browser.click(ROW + " a", "importer");
            browser.see(".chip.on", "importer");
            assertThat(browser.address()).contains("agent=importer");
            browser.assertQuiet("the metrics");
        }
    }

    @Test
    @DisplayName("S10: a step of a chart leads to the tasks of that time")
    void aStepLeadsToItsTasks() {
        try (var hub = hub();
                Browser browser = Browser.at(hub.url())) {
            hub.send("scribe", "Sum up the minutes of Monday");
            browser.go("metrics?agent=scribe");
            browser.see(ROW, "scribe");
            browser.run("document.querySelector('.chart svg').focus()");
            browser.press(Keys.ARROW_LEFT);
            browser.holds("document.querySelectorAll('.chart .cursor').length === 3");
            for (int i = 0; i < 8 && !isAtCalls(browser); i++) { // the call may be some steps ago by now
                browser.press(Keys.ARROW_LEFT);
            }
            browser.press(Keys.ENTER);
            browser.see(".body .tr .title", "Sum up the minutes of Monday");
            assertThat(browser.address()).contains("agent=scribe", "since=", "until=");
            browser.assertQuiet("the tasks of a step");
        }
    }

    @Test
    @DisplayName("S10: the page is read when it is opened by a click, also while nothing changes")
    void thePageIsReadOnAnIdleHub() {
        try (var hub = hub();
                Browser browser = Browser.at(hub.url())) {
            hub.send("scribe", "Sum up");
            browser.go("tasks");
            browser.see(".body .tr .title", "Sum up");
            browser.click(".side a", "Metrics");
            browser.see(ROW, "scribe");
            browser.choose("select[aria-label=Time]", "last 15 minutes");
            browser.see(ROW, "scribe");
            browser.assertQuiet("the metrics of an idle hub");
        }
    }

    @Test
    @DisplayName("S10: a call that changes no task is shown without a click")
    void callsAreFollowed() {
        try (var hub = hub();
                Browser browser = Browser.at(hub.url())) {
            browser.go("metrics");
            browser.see("h1", "Metrics");
            hub.call("GET", "/agents/scribe/tasks", null);
            browser.see(ROW, "ListTasks");
            browser.assertQuiet("the metrics");
        }
    }

    private static boolean isAtCalls(Browser browser) {
        return Boolean.TRUE.equals(browser.run(
                "return !/calls 0\\/s/.test(document.querySelector('.chart svg').getAttribute('aria-valuetext'))"));
    }

    @Test
    @DisplayName("S10: the query for Prometheus is copied; the use by agent and caller is a table, and CSV")
    void useIsReported() {
        try (var hub = hub();
                Browser browser = Browser.at(hub.url())) {
            hub.send("scribe", "Sum up");
            browser.go("metrics?agent=scribe");
            browser.see(".chart", "Calls");
            browser.run("navigator.clipboard.writeText = text => (window.copied = text, Promise.resolve())");
            browser.click(".chart[aria-label=Durations] button", "PromQL");
            browser.holds(
                    "copied === 'histogram_quantile(0.95, sum by (le) (rate(parley_request_duration_seconds_bucket{agent=\"scribe\"}[5m])))'");
            browser.click("#metrics-usage", "");
            browser.see(ROW, "scribe");
            browser.see(ROW, "anonymous");
            browser.recordFiles();
            browser.click(".head button", "CSV");
            browser.holds("saved.length === 1");
            assertThat(browser.strings("return saved[0].split('\\r\\n')"))
                    .anyMatch(row -> row.startsWith("agent,caller,calls,errors"))
                    .anyMatch(row -> row.startsWith("scribe,anonymous,"));
            browser.assertQuiet("the report of use");
        }
    }
}
