package dev.parley.interop.console;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpServer;
import dev.parley.engine.Agent;
import dev.parley.hub.Hub;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.Timeout;
import org.openqa.selenium.By;
import org.openqa.selenium.Keys;
import org.openqa.selenium.WebElement;

/** What each screen of the console promises, as a reader sees it. */
@Timeout(90)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class ConsoleTest {
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

    // ---- S1 Agents

    @Test
    @DisplayName("S1: an address pasted anywhere is read, checked, shown, and registered on a click")
    void aPastedAddressIsReadCheckedShownAndRegistered() {
        try (Hub other = otherHub("porter")) {
            browser.go("agents");
            browser.see(".tr .agent a", "scribe");
            browser.paste(other.agentUrl("porter"));
            browser.see("dialog .preview h3", "porter");
            browser.see("dialog .preview .skills", "Carries parcels");
            browser.see("dialog .preview .skills code", other.agentUrl("porter"));
            assertThat(browser.texts(".tr .agent a")).doesNotContain("porter");

            assertThat(hub.call("GET", "/registry/agents", null).toString())
                    .as("entries before the click")
                    .doesNotContain("name=porter");
            browser.click("dialog footer button", "Register");
            browser.see("dialog .check.ok", "porter is registered");
            browser.click("dialog footer button", "Close");
            browser.see(".tr .agent a", "porter");
        }
    }

    @Test
    @DisplayName("S1: a pasted card is checked with severity and pointer")
    void aPastedCardIsCheckedWithPointers() {
        browser.go("agents");
        browser.paste(
                "{\"name\":\"Draft\",\"description\":\"\",\"supportedInterfaces\":[{\"url\":\"ftp://a\"}],\"skills\":[]}");

        browser.see("dialog .findings .state.bad", "error");
        assertThat(browser.texts("dialog .findings code"))
                .contains("/description", "/version", "/skills", "/supportedInterfaces/0/url");
        browser.press(Keys.ESCAPE);
        browser.gone("dialog", "");
    }

    @Test
    @DisplayName(
            "S1: search as one types shows the skill that matched, and facets with counts; all of it is in the address")
    void searchShowsTheMatchingSkillAndFacets() {
        browser.go("agents");
        browser.see(".facets button", "office");
        browser.type("input[type=search]", "minutes");
        browser.see(".tr .skill mark", "minutes");

        assertThat(browser.texts(".body .tr .agent a")).containsExactly("scribe");
        assertThat(browser.address()).contains("q=minutes");
        browser.type("input[type=search]", "seats");
        browser.see(".body .tr .agent a", "booking");
        browser.gone(".body .tr .agent a", "scribe");

        browser.go("agents");
        WebElement facet = browser.see(".facets button", "office");
        int count = Integer.parseInt(facet.findElement(By.cssSelector(".num")).getText());
        browser.click(".facets button", "office");
        browser.gone(".body .tr .agent a", "scribe");
        assertThat(browser.address()).contains("tag=office");
        assertThat(browser.texts(".body .tr")).hasSize(count);

        browser.reload();
        browser.see(".filters .chip.on", "Tag: office");
        browser.gone(".body .tr .agent a", "scribe");
        browser.back();
        browser.see(".body .tr .agent a", "scribe");
    }

    @Test
    @DisplayName("S1: health tells why and since when, and can be checked at once")
    void healthTellsWhyAndWhen() {
        Hub other = otherHub("courier");
        hub.post("/registry/agents", Map.of("url", other.agentUrl("courier"), "visibility", "public"));
        other.close();

        browser.go("agents?q=courier");
        browser.click(".tr .health button", "Check now");

        browser.see(".tr .health .state.bad", "down");
        browser.see(".tr .health", "no connection");
        browser.see(".tr .health", "checked");
        browser.forget("status of 400 (Bad Request)"); // the check, which found no agent
    }

    private static Hub otherHub(String agent) {
        return Hub.builder()
                .inMemory()
                .port(0)
                .agents(Agent.named(agent, "Carries parcels")
                        .skill("carry", "Carries parcels", "parcels")
                        .handle((request, reply) -> reply.complete("carried")))
                .start();
    }

    // ---- S3 Chat

    @Test
    @DisplayName("S3: text and artifacts stream live")
    void textAndArtifactsStreamLive() {
        browser.go("agents/scribe/try");
        browser.type("parley-compose textarea", "Please wait");
        browser.press(Keys.ENTER);
        browser.see(".artifact", "First piece.");
        assertThat(browser.texts(".artifact").toString()).doesNotContain("Second piece.");

        hub.step("Please wait");
        browser.see(".artifact", "First piece. Second piece.");
        browser.see("parley-conversation", "The summary of 1 parts is ready.");
        browser.see(".of-task .state", "completed");
    }

    @Test
    @DisplayName("S3: each message has raw, curl, CLI and Java, in the binding and dialect that was chosen")
    void eachMessageHasItsExchange() {
        browser.go("agents/scribe/try");
        for (var choice : List.of(
                List.of("JSONRPC 1.0", "\"method\": \"SendStreamingMessage\""),
                List.of("HTTP+JSON 1.0", "/agents/scribe/message:stream"),
                List.of("JSONRPC 0.3", "\"method\": \"message/stream\""))) {
            browser.click("a.btn", "New conversation");
            browser.choose(".head select", choice.getFirst());
            browser.type("parley-compose textarea", "In " + choice.getFirst());
            browser.click("parley-compose button", "Send");
            browser.see(".of-task .state", "completed");

            browser.click(".say.me .tools button", "raw");
            browser.see("dialog pre", choice.getLast());
            browser.see("dialog h3", "200");
            browser.see("dialog pre", "content-type: text/event-stream");
            browser.click("dialog [role=tab]", "curl");
            browser.see("dialog pre", "curl -sN -X POST '" + hub.url() + "/agents/scribe");
            browser.click("dialog [role=tab]", "CLI");
            browser.see("dialog pre", "parley send -a '" + hub.url() + "/agents/scribe'");
            browser.click("dialog [role=tab]", "Java");
            browser.see("dialog pre", "AgentClient.connect(\"" + hub.url() + "/agents/scribe\")");
            browser.press(Keys.ESCAPE);
            browser.gone("dialog", "");
        }
        assertThat(browser.address()).contains("via=JSONRPC+0.3");
    }

    @Test
    @DisplayName("S3: a form from the skill's examples and modes, kept in sync with its JSON")
    void theFormAndItsJsonAreInSync() {
        browser.go("agents/scribe/try");
        browser.click("[role=tab]", "Skill");
        browser.see(".skill .chip", "text/csv");
        browser.click(".skill button.chip", "Sum up the budget");
        assertThat(browser.value("textarea[aria-label=Message]")).isEqualTo("Sum up the budget");
        browser.click("[role=tab]", "JSON");
        assertThat(browser.value(".compose textarea")).contains("\"text\": \"Sum up the budget\"");

        browser.type(".compose textarea", "{\"parts\":[{\"text\":\"From JSON\"},{\"data\":{\"month\":5}}]}");
        browser.click("[role=tab]", "Message");
        assertThat(browser.value("textarea[aria-label=Message]")).isEqualTo("From JSON");
        browser.click("[role=tab]", "JSON");
        browser.type(".compose textarea", "{\"parts\":");
        browser.see(".compose [role=alert]", "JSON:");
        assertThat(browser.see(".compose button", "Send").isEnabled()).isFalse();
    }

    @Test
    @DisplayName("S3: dropped files are sent")
    void droppedFilesAreSent() {
        browser.go("agents/scribe/try");
        browser.see("parley-compose textarea", "");
        browser.drop(".talk-card", "minutes.txt", "text/plain", "Minutes of Monday");
        browser.see(".compose .chip", "minutes.txt");
        browser.type("parley-compose textarea", "Sum it up");
        browser.press(Keys.ENTER);

        browser.see("parley-conversation", "The summary of 2 parts is ready.");
        browser.see(".say.me", "Minutes of Monday");
    }

    @Test
    @DisplayName("S3: questions and credentials are answered where they are asked")
    void questionsAndCredentialsAreAnsweredInPlace() {
        browser.go("agents/booking/try");
        browser.type("parley-compose textarea", "A seat, please");
        browser.press(Keys.ENTER);
        browser.see(".ask", "Window or aisle?");
        browser.click(".ask button", "aisle");
        browser.see("parley-conversation", "Booked: aisle");
        browser.gone(".ask", "");

        browser.go("agents/archive/try");
        browser.type("parley-compose textarea", "Open");
        browser.press(Keys.ENTER);
        browser.see(".ask", "The archive needs its password");
        assertThat(browser.see(".ask input", "").getDomAttribute("type")).isEqualTo("password");
        browser.type(".ask input", "sesame");
        browser.press(Keys.ENTER);
        browser.see("parley-conversation", "The archive is open");
    }

    @Test
    @DisplayName("S3: the history is on the hub: a conversation goes on after the browser was closed")
    void aConversationGoesOnAfterTheBrowserWasClosed() {
        browser.go("agents/worker/try");
        browser.type("parley-compose textarea", "Count the rows of May");
        browser.press(Keys.ENTER);
        browser.see(".steps", "40 rows counted");
        browser.leave();
        hub.step("Count the rows of May");

        browser.go("agents/worker/try");
        browser.click(".history a", "Count the rows of May");
        browser.see(".steps", "80 rows counted");
        hub.step("Count the rows of May");
        browser.see("parley-conversation", "The rows are counted");
        browser.see(".say.me", "Count the rows of May");
    }

    @Test
    @DisplayName("S3: a message is replayed, and two runs are compared side by side")
    void aReplayIsComparedSideBySide() {
        hub.send("booking", "First run");
        browser.go("agents/booking/try");
        browser.click(".history a", "First run");
        browser.click(".say.me .tools button", "replay");
        browser.see("[aria-label='Compared conversation']", "First run");
        browser.see("[aria-label='Conversation']", "Window or aisle?");

        int left = browser.see("[aria-label='Conversation']", "").getRect().getX();
        int right = browser.see("[aria-label='Compared conversation']", "")
                .getRect()
                .getX();
        assertThat(right).isGreaterThan(left + 200);
        assertThat(browser.address()).contains("compare=");
        browser.reload();
        browser.see("[aria-label='Compared conversation']", "First run");
    }

    // ---- S4 Tasks

    @Test
    @DisplayName("S4, ONE40: progress, last status and age of tasks in their rows, live")
    void rowsAreLive() {
        browser.go("tasks");
        browser.see("h1", "Tasks");
        browser.holds("document.querySelector('.live.ok')");
        String task = hub.begin("worker", "Count live");

        browser.see(".body .tr", "Count live");
        browser.see(row(task) + " .status", "40 rows counted");
        browser.holds("document.querySelector('%s [role=progressbar]')?.ariaValueNow === '40'".formatted(row(task)));
        browser.see(row(task) + " .age", "");
        assertThat(browser.texts(row(task) + " .age").getFirst()).matches("now|\\d+ (s|min)");
        hub.step("Count live");
        browser.see(row(task) + " .status", "80 rows counted");
        hub.step("Count live");
        browser.see(row(task) + " .st", "completed");
        browser.see(row(task) + " .status", "100 rows counted");
    }

    /** Row of a task in a list. */
    private static String row(String task) {
        return ".tr:has(a[href*=\"" + task + "\"])";
    }

    @Test
    @DisplayName("S4: filters by state, agent, context, caller, time and text are in the address")
    void filtersAreInTheAddress() {
        String failed = hub.send("importer", "Import the rows of June");
        hub.send("scribe", "Sum up June");

        browser.go("tasks");
        browser.choose("select[aria-label=State]", "failed");
        browser.see(row(failed), "Import the rows of June");
        browser.gone(".body .tr", "Sum up June");
        browser.choose("select[aria-label=Agent]", "importer");
        browser.choose("select[aria-label=Time]", "last hour");
        browser.holds("location.search.includes('since=1h')");
        browser.type("input[aria-label='Search tasks']", "rows");
        browser.press(Keys.ENTER);
        browser.holds("location.search.includes('q=rows')");
        assertThat(browser.address()).contains("state=TASK_STATE_FAILED", "agent=importer");
        browser.reload();
        browser.see(row(failed), "Import the rows of June");

        browser.type("input[aria-label=Context]", "no-such-context");
        browser.press(Keys.ENTER);
        browser.see(".empty", "No task matches");
        browser.click(".empty button", "Show all tasks");
        browser.see(".body .tr", "Sum up June");
        browser.type("input[aria-label=Caller]", "no-such-caller");
        browser.press(Keys.ENTER);
        browser.see(".empty", "No task matches");
        assertThat(browser.address()).contains("caller=no-such-caller");
    }

    @Test
    @DisplayName("S4: views are saved by name, and removed")
    void viewsAreSaved() {
        hub.send("importer", "Import the rows of July");

        browser.go("tasks?agent=importer");
        browser.click(".views button", "Save view");
        browser.type("dialog input", "Imports");
        browser.click("dialog footer button", "Save");
        browser.see(".views .on a", "Imports");
        browser.go("tasks");
        browser.click(".views a", "Imports");
        browser.see(".body .tr", "Import the rows of July");
        assertThat(browser.address()).contains("agent=importer");

        browser.click(".views button[aria-label='Remove the view Imports']", "");
        browser.gone(".views a", "Imports");
    }

    @Test
    @DisplayName("S4: tasks are found and opened by j, k and Enter")
    void tasksAreOpenedByTheKeyboard() {
        String first = hub.send("importer", "Older of two");
        String second = hub.send("importer", "Newer of two");

        browser.go("tasks?agent=importer&q=of+two");
        browser.see(row(first), "");
        browser.press("j");
        browser.see(row(second) + ".row-at", "");
        browser.press("j");
        browser.see(row(first) + ".row-at", "");
        browser.press("k");
        browser.see(row(second) + ".row-at", "");
        browser.press(Keys.ENTER);
        browser.see("h1", "Newer of two");
        assertThat(browser.address()).endsWith("/ui/tasks/" + second);
    }

    @Test
    @DisplayName("S4: many tasks are canceled, or sent again, after a preview")
    void manyAreCanceledOrSentAgainAfterAPreview() {
        String ended = hub.send("importer", "Import for the preview");
        List<String> running = List.of(hub.begin("worker", "Count one"), hub.begin("worker", "Count two"));

        browser.go("tasks");
        for (String task : running) {
            browser.click(row(task) + " input", "");
        }
        browser.click(row(ended) + " input", "");
        browser.see(".bulk", "3 tasks chosen");
        browser.click(".bulk button", "Cancel");
        browser.see("dialog", "2 tasks of 3 will be canceled");
        browser.see("dialog .plans li", "has ended and stays as it is");
        browser.see(row(running.getFirst()) + " .st", "working");
        browser.click("dialog footer button", "Cancel 2 tasks");
        browser.see("dialog .plans .state", "canceled");
        browser.click("dialog footer button", "Close");
        for (String task : running) {
            browser.see(row(task) + " .st", "canceled");
        }

        browser.click(row(ended) + " input", "");
        browser.click(".bulk button", "Send again");
        browser.see("dialog .plans li", "sends “Import for the preview” to importer as a new task");
        browser.click("dialog footer button", "Send again 1 task");
        browser.see("dialog .plans a", "new task");
        browser.click("dialog footer button", "Close");
    }

    // ---- S5 Task

    @Test
    @DisplayName("S5: a bar for each step, its summary on it, and the reason on the one that failed")
    void theTimelineTellsWhatFailed() {
        browser.go("tasks/" + hub.send("importer", "Import the timeline"));

        browser.see(".time .step", "3 of 9 rows are written");
        browser.see(".time .step.bad", "Disk full: 3 of 9 rows written");
        assertThat(browser.texts(".time .step")).hasSizeGreaterThanOrEqualTo(3);
        browser.see("h2", "1 failed");
        browser.see("h1 .state.bad", "failed");
    }

    @Test
    @DisplayName("S5: events with their numbers, a check for gaps, and the time since the one before")
    void eventsHaveNumbersAndTimes() {
        browser.go("tasks/" + hub.send("scribe", "Sum up the events"));
        browser.click("[role=tab]", "Events");
        browser.see(".events .line", "completed");

        browser.see(".check.ok", "no gap");
        List<String> lines = browser.texts(".events button.line");
        assertThat(lines).hasSizeGreaterThan(5);
        for (int i = 1; i < lines.size(); i++) {
            assertThat(lines.get(i)).containsPattern("\\+\\d");
        }
        assertThat(browser.address()).contains("tab=events");
        browser.click(".events button.line", "completed");
        browser.see(".events .detail", "TASK_STATE_COMPLETED");
    }

    @Test
    @DisplayName("S5: artifacts by media type, with a safe download")
    void artifactsAreShownByMediaType() {
        browser.go("tasks/" + hub.send("scribe", "Sum up the artifacts") + "?tab=artifacts");

        browser.see(".artifact .md .md-h2", "Decisions");
        browser.see(".artifact .md strong", "Budget");
        browser.see(".artifact .md td", "1,200");
        assertThat(browser.see(".artifact .md a", "the minutes").getDomAttribute("rel"))
                .isEqualTo("noopener noreferrer");
        browser.see(".artifact th", "cost");
        browser.see(".artifact td", "June, late");
        browser.see(".artifact parley-json .leaf", "yes");
        browser.holds("document.querySelector('.artifact img')?.naturalWidth === 2");

        browser.run("""
            window.saved = [];
            const types = new Map(), make = URL.createObjectURL;
            URL.createObjectURL = blob => {
              const url = make.call(URL, blob);
              types.set(url, blob.type);
              return url;
            };
            HTMLAnchorElement.prototype.click = function () {
              saved.push(`${this.download} ${types.get(this.href)}`);
            };
            """);
        browser.click(".artifact:has(img) header button", "Save");
        browser.holds("window.saved.length === 1");
        assertThat(browser.strings("return saved")).containsExactly("chart.png application/octet-stream");
    }

    @Test
    @DisplayName("S5: a stream is resumed after an event")
    void aStreamIsResumedBehindAnEvent() {
        String task = hub.begin("worker", "Count after an event");
        browser.go("tasks/" + task + "?tab=events");
        browser.click(".events > li:first-child button.quiet", "resume");
        browser.see(".resumed", "received, open");
        browser.see(".resumed .events li", "40 rows counted");

        hub.step("Count after an event");
        browser.see(".resumed .events li", "80 rows counted");
        hub.step("Count after an event");
        browser.see(".resumed .events li", "100 rows counted");
        browser.see(".resumed", "ended");
        assertThat(browser.address()).contains("resume=");
    }

    @Test
    @DisplayName("S5: webhooks of the task with attempts, the last error, and redelivery")
    void webhooksAreShownAndDeliveredAgain() throws Exception {
        var isBroken = new AtomicBoolean(true);
        var received = new CountDownLatch(1);
        HttpServer pager = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        pager.createContext("/", exchange -> {
            exchange.sendResponseHeaders(isBroken.get() ? 410 : 200, -1);
            exchange.close();
            if (!isBroken.get()) {
                received.countDown();
            }
        });
        pager.start();
        try {
            String url = "http://127.0.0.1:" + pager.getAddress().getPort() + "/hook";
            String task = hub.begin("worker", "Count with a webhook");
            hub.post(
                    "/agents/worker/tasks/" + task + "/pushNotificationConfigs",
                    Map.of("id", "pager", "taskId", task, "url", url));
            browser.go("tasks/" + task + "?tab=webhooks");
            browser.see(".hooks", url);
            browser.see(".hooks .state", "active");
            hub.step("Count with a webhook");
            hub.step("Count with a webhook");
            browser.see("h1 .state", "completed");

            browser.reload();
            browser.see(".hooks .state.bad", "given up");
            browser.see(".hooks", "1 attempt");
            browser.see(".hooks .reason", "410");
            isBroken.set(false);
            browser.click(".hooks button", "Redeliver");
            browser.see(".hooks .state", "delivers again");
            assertThat(received.await(10, TimeUnit.SECONDS)).isTrue();
        } finally {
            pager.stop(0);
        }
    }

    // ---- All screens

    @Test
    @DisplayName("Ctrl-K finds agents, tasks and pages, by the keyboard, and what has a pasted id")
    void thePaletteFindsAgentsTasksAndPages() {
        String task = hub.send("importer", "Import for the palette");
        browser.go("tasks");
        browser.hold(Keys.CONTROL, "k");
        browser.see("dialog.palette input", "");
        browser.type("dialog.palette input", task);
        browser.see("dialog.palette [role=option]", "Import for the palette");
        browser.see("dialog.palette [role=option]", "Trace");
        browser.press(Keys.ENTER);
        browser.see("h1", "Import for the palette");
        browser.go("tasks");
        browser.hold(Keys.CONTROL, "k");
        browser.see("dialog.palette [role=option]", "Agents");
        browser.press("palette");
        browser.see("dialog.palette [role=option]", "Import for the palette");
        browser.press(Keys.ENTER);
        browser.see("h1", "Import for the palette");

        browser.hold(Keys.CONTROL, "k");
        browser.see("dialog.palette input", "");
        browser.press("scribe");
        browser.see("dialog.palette [role=option][aria-selected=true]", "scribe");
        browser.press(Keys.ENTER);
        browser.see("h1", "scribe");
        assertThat(browser.address()).endsWith("/ui/agents/scribe/try");
    }

    @Test
    @DisplayName("an address that no screen has says so")
    void anUnknownAddressSaysSo() {
        browser.go("nothing/here");

        browser.see(".empty h2", "No page at this address");
        browser.see(".empty code", "nothing/here");
    }

    @Test
    @DisplayName("an error names the id of its request")
    void anErrorNamesItsRequest() {
        browser.go("tasks/no-such-task");
        browser.see(".failure code", "");

        assertThat(browser.texts(".failure code").getFirst()).matches("[0-9a-f]{32}");
        browser.forget(); // Chromium reports the status 404 on its console
    }
}
