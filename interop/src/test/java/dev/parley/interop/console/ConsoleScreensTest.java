package dev.parley.interop.console;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.DynamicTest.dynamicTest;

import dev.parley.hub.Hub;
import dev.parley.interop.ForeignSdk;
import dev.parley.interop.Requirement;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DynamicNode;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Each screen in both themes: without complaints of the browser, without findings of axe, and without a horizontal scroll bar on a
 * narrow window. It keeps a screenshot of each.
 */
@Timeout(120)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class ConsoleScreensTest {
    private static final int WIDE = 1400;
    private static final int NARROW = 360;

    /** Findings of axe that keep people out; those it calls moderate or minor are matters of judgement. */
    private static final String AXE = """
        const done = arguments[arguments.length - 1];
        axe.run(document, {resultTypes: ['violations']}).then(
          result => done(result.violations.filter(each => ['serious', 'critical'].includes(each.impact))
            .map(each => `${each.id}: ${each.nodes.slice(0, 3).map(node => `${node.target} (${node.failureSummary})`).join('; ')}`)),
          failure => done([String(failure)]));
        """;

    /** Address below {@code /ui/}, with a text that is visible when the screen is complete. */
    private record Screen(String path, String selector, String text) {}

    @TempDir
    private static Path directory;

    private final Map<String, Screen> screens = new LinkedHashMap<>();
    /** Screens of a visitor without credentials. */
    private final Map<String, Screen> open = Map.of(
            "visitor-registry", new Screen("registry", ".tr .agent a", "Translator"),
            "visitor-learn", new Screen("learn", ".md-table a", "Getting started"),
            "visitor-api", new Screen("learn/api", ".operation", "message:send"),
            "sign-in", new Screen("tasks", "h1", "Sign in"));

    private ConsoleHub hub;
    private ConsoleHub guarded;
    private Browser browser;
    private Browser visitor;
    private String axe;
    private boolean isDark;

    @BeforeAll
    void start() throws IOException {
        hub = ToolsScreenTest.hub(directory, "Reads a file", InboxScreenTest.librarian());
        browser = Browser.at(hub.url());
        guarded = new ConsoleHub(Hub.builder().inMemory().port(0).set("auth", "required"));
        registered(guarded, "Translator");
        visitor = Browser.at(guarded.url());
        try {
            ForeignSdk.AXE.install();
        } catch (IOException failure) {
            Requirement.missing("axe-core cannot be installed: " + failure.getMessage());
        }
        axe = Files.readString(ForeignSdk.AXE.directory().resolve("node_modules/axe-core/axe.min.js"));
        seed();
    }

    private void seed() {
        Map<?, ?> summary = hub.sent("scribe", List.of(Map.of("text", "Sum up the minutes of Monday, please")), false);
        String task = String.valueOf(summary.get("id"));
        String failed = hub.send("importer", "Import the rows of May");
        String question = hub.send("booking", "A seat to Paris");
        hub.send("archive", "Open the archive of 2024");
        hub.begin(
                "worker",
                "Count the rows of a table whose name is much longer than any column of a list can ever show in one"
                        + " line");
        for (int i = 1; i <= 30; i++) {
            hub.send(i % 3 == 0 ? "importer" : "booking", "Request number " + i);
        }
        screens.put("home", new Screen("", ".connect pre", "message:send"));
        hub.post(
                "/one/votes",
                Map.of(
                        "vote",
                        Map.of(
                                "question",
                                "Shall the draft be published?",
                                "options",
                                List.of("publish", "revise"),
                                "voters",
                                List.of("ann", "bob"))));
        screens.put("agents", new Screen("agents", ".body .tr .agent a", "worker"));
        screens.put("agents-search", new Screen("agents?q=minutes", ".tr .skill mark", "minutes"));
        screens.put("agents-empty", new Screen("agents?q=zzzz", ".empty h2", "No agent matches"));
        screens.put("chat-empty", new Screen("agents/scribe/try", ".empty h2", "Talk to scribe"));
        screens.put(
                "chat",
                new Screen("agents/scribe/try?context=" + summary.get("contextId"), ".artifact .md-h2", "Decisions"));
        screens.put("chat-form", new Screen("agents/scribe/try?mode=form", ".skill button.chip", "budget"));
        screens.put("inbox", new Screen("inbox", ".inbox .ask", "Window or aisle?"));
        screens.put("inbox-empty", new Screen("inbox?age=1d", ".empty h2", "Nothing matches"));
        Map<?, ?> run = hub.post(
                "/one/workflows",
                WorkflowScreenTest.workflow(
                        WorkflowScreenTest.step("minutes", "scribe", "summary", Map.of("text", "Sum up the minutes")),
                        WorkflowScreenTest.step("rows", "importer", "importer-skill", Map.of("text", "Import")),
                        WorkflowScreenTest.step(
                                "seat", "booking", "booking-skill", Map.of("text", "A seat"), "minutes"),
                        WorkflowScreenTest.step(
                                "a step with a name that is longer than its box",
                                "scribe",
                                "summary",
                                Map.of("text", "The end"),
                                "seat",
                                "rows")));
        String trace = "traces/" + run.get("workflowId");
        screens.put("traces", new Screen("traces", "section[aria-label='Newest tasks'] a", "Request number 30"));
        screens.put("trace", new Screen(trace + "?path=1", ".waterfall .span .who", "scribe"));
        screens.put("trace-sequence", new Screen(trace + "?view=sequence", ".lifeline text", "scribe"));
        screens.put("trace-tree", new Screen(trace + "?view=tree", ".tree-view .span .who", "scribe"));
        screens.put("mesh", new Screen("mesh", "#mesh .list li", "scribe"));
        screens.put("tools", new Screen("tools?server=files&tool=read&log=files", "parley-tool-try label", "path"));
        screens.put("metrics", new Screen("metrics", ".chart b", "Durations"));
        screens.put("metrics-use", new Screen("metrics?tab=usage", ".measures .body .tr", "scribe"));
        screens.put("hubs", new Screen("hubs", ".checks li", "disk"));
        screens.put("audit", new Screen("audit", ".audit .body .tr .what", "task.created"));
        screens.put("audit-row", new Screen("audit?row=1", "section[aria-label=Row] dd", "127.0.0.1"));
        screens.put("audit-empty", new Screen("audit?actor=zzzz", ".empty h2", "No row"));
        hub.key("team", "ann", "agent:scribe", "metrics");
        hub.key("team", "a principal whose name is longer than a column".replace(' ', '-'), "admin");
        screens.put("settings", new Screen("settings", ".hub-keys .body .tr .who", "ann"));
        screens.put("settings-users", new Screen("settings?tab=users", "section[aria-label=Users] b", "ann"));
        screens.put("settings-values", new Screen("settings?tab=values&q=webhook", ".values mark", "webhook"));
        screens.put(
                "settings-deliveries",
                new Screen("settings?tab=deliveries", "section[aria-label=Tools] a", "No tool to approve"));
        screens.put("mesh-standings", new Screen("mesh?tab=standings", "#mesh .tr", "scribe"));
        KnowledgeScreenTest.seed(hub);
        screens.put("knowledge", new Screen("kg?entity=ex%3Aplant&select=ex%3Apump-1", ".net .dot text", "+6 more"));
        screens.put("knowledge-search", new Screen("kg?q=pump", ".kg-found a", "ex:pump-2"));
        screens.put("knowledge-empty", new Screen("kg", ".empty h2", "Begin with an entity"));
        screens.put(
                "knowledge-query",
                new Screen(
                        "kg?tab=query&lang=sparql&query=SELECT%20*%20%7B%3Fs%20%3Fp%20%3Fo%7D%20LIMIT%208",
                        "#result td", "North plant"));
        screens.put(
                "knowledge-result",
                new Screen(
                        "kg?tab=query&view=graph&query=%7Bstatements(first%3A8)%7Bnodes%7Bsubject%7Bid%7Dpredicate"
                                + "%20object%7Bid%20value%7Dcertainty%7D%7D%7D",
                        "#result .dot text", "ex:plant"));
        screens.put("workflows", new Screen("workflows", ".body .tr", "minutes"));
        screens.put("workflows-empty", new Screen("workflows?tab=definitions", ".empty h2", "No definition yet"));
        screens.put(
                "workflow",
                new Screen("workflows/" + run.get("workflowId") + "?step=minutes", ".node.wait .name", "seat"));
        screens.put("workflow-new", new Screen("workflows/new", ".check.bad", "workflow.steps"));
        screens.put("tasks", new Screen("tasks", ".body .tr", "Request number 30"));
        screens.put("tasks-empty", new Screen("tasks?q=zzzz", ".empty h2", "No task matches"));
        screens.put("task", new Screen("tasks/" + task, ".artifact .md-h2", "Decisions"));
        screens.put("task-failed", new Screen("tasks/" + failed, ".time .step.bad", "Disk full"));
        screens.put("task-question", new Screen("tasks/" + question, ".ask", "Window or aisle?"));
        screens.put("task-artifacts", new Screen("tasks/" + task + "?tab=artifacts", ".artifact td", "June, late"));
        screens.put("task-events", new Screen("tasks/" + task + "?tab=events", ".events .line", "completed"));
        screens.put("task-webhooks", new Screen("tasks/" + task + "?tab=webhooks", ".empty h2", "No webhook"));
        screens.put("agent", new Screen("agents/scribe", ".skill-list b", "Summary"));
        screens.put("agent-card", new Screen("agents/scribe?tab=card&as=0.3", ".card-lines li", "0.3.0"));
        screens.put(
                "agent-findings",
                new Screen("agents/scribe?tab=findings&at=%2Fsignatures", ".findings button", "/signatures"));
        screens.put("agent-versions", new Screen("agents/scribe?tab=versions", ".versions b", "Version 1"));
        screens.put("agent-inspect", new Screen("agents/inspect", "form button", "Inspect"));
        String entry = registered(hub, "Translator");
        Object own = hub.post("/registry/inspect", Map.of("agent", "scribe")).get("entry");
        screens.put("registry", new Screen("registry", ".tr .agent a", "Translator"));
        screens.put("registry-empty", new Screen("registry?q=zzzz", ".empty h2", "No agent matches"));
        screens.put("registry-entry", new Screen("registry/" + entry, ".kv dd", "published as a document"));
        screens.put("registry-versions", new Screen("registry/" + entry + "?tab=versions", "h2", "Version 1 to 2"));
        screens.put("registry-reviews", new Screen("registry/" + entry + "?tab=reviews", ".reviews", "Precise"));
        screens.put("registry-health", new Screen("registry/" + own + "?tab=health", ".empty h2", "No probe yet"));
        screens.put("registry-account", new Screen("registry/account", "form button", "Log in"));
        screens.put("registry-signup", new Screen("registry/account?tab=signup", "form button", "Sign up"));
        screens.put("registry-recover", new Screen("registry/account?tab=recover", "form button", "Set the password"));
        screens.put("learn", new Screen("learn", ".md-table a", "Getting started"));
        screens.put("learn-search", new Screen("learn?q=webhook", ".learn-found mark", "Webhook"));
        screens.put("learn-empty", new Screen("learn?q=zzzz", ".empty h2", "No section"));
        screens.put("learn-page", new Screen("learn/first-agent", ".code pre", "parley run"));
        screens.put("learn-pictures", new Screen("learn/console", "#screens", "Screens"));
        screens.put("learn-api", new Screen("learn/api", ".operation", "message:send"));
        screens.put("learn-try", new Screen("learn/api?q=send&op=SendMessage", "parley-operation button", "Try it"));
        screens.put("learn-extensions", new Screen("learn/api?tab=extensions", ".list b", "Agents as tools of MCP"));
        screens.put("unknown", new Screen("nothing", ".empty h2", "No page"));
    }

    /** Registers two versions of a public agent with a review, and returns the id of its entry. */
    private static String registered(ConsoleHub hub, String name) {
        Map<String, Object> card = Map.of(
                "name",
                name,
                "description",
                "Translates legal texts",
                "supportedInterfaces",
                List.of(Map.of(
                        "url",
                        "https://translator.example/a2a",
                        "protocolBinding",
                        "JSONRPC",
                        "protocolVersion",
                        "1.0")),
                "capabilities",
                Map.of(),
                "defaultInputModes",
                List.of("text/plain"),
                "defaultOutputModes",
                List.of("text/plain"),
                "skills",
                List.of());
        String id =
                String.valueOf(hub.post("/registry/agents", Map.of("card", with(card, "1.0.0"), "visibility", "public"))
                        .get("id"));
        hub.call("PUT", "/registry/agents/" + id, Map.of("card", with(card, "1.1.0")));
        hub.post("/registry/agents/" + id + ":review", Map.of("stars", 4, "text", "Precise"));
        return id;
    }

    private static Map<String, Object> with(Map<String, Object> card, String version) {
        var copy = new LinkedHashMap<>(card);
        copy.put("version", version);
        return copy;
    }

    @AfterAll
    void stop() throws Exception {
        for (AutoCloseable each : Arrays.asList(visitor, guarded, browser, hub)) {
            if (each != null) {
                each.close();
            }
        }
    }

    @TestFactory
    Stream<DynamicNode> everyScreen() {
        return Stream.concat(tests(browser, screens), tests(visitor, open));
    }

    private Stream<DynamicNode> tests(Browser reader, Map<String, Screen> shown) {
        return shown.entrySet().stream()
                .map(each -> dynamicTest(each.getKey(), () -> check(reader, each.getKey(), each.getValue())));
    }

    /** Screens are loaded in turn in the one and the other theme, and turned to the other one. */
    private void check(Browser reader, String name, Screen screen) {
        List<String> themes = isDark ? List.of("dark", "light") : List.of("light", "dark");
        isDark = !isDark;
        reader.theme(themes.getFirst());
        reader.size(WIDE, 900);
        reader.go(screen.path());
        reader.see(screen.selector(), screen.text());
        reader.holds("!document.querySelector('.skeleton')");
        for (String theme : themes) {
            reader.theme(theme);
            reader.picture(name + "-" + theme);
            assertThat(findings(reader)).as("findings in " + theme).isEmpty();
        }
        reader.assertQuiet(name);

        reader.size(NARROW, 740);
        reader.see(screen.selector(), screen.text());
        assertThat(reader.overflow()).as("pixels beyond the window").isLessThanOrEqualTo(0);
        for (String theme : themes) {
            reader.theme(theme);
            reader.picture(name + "-" + theme + "-narrow");
            assertThat(findings(reader))
                    .as("findings in the narrow window in " + theme)
                    .isEmpty();
        }
    }

    private List<?> findings(Browser reader) {
        if (Boolean.FALSE.equals(reader.run("return !!window.axe"))) {
            reader.run(axe + "; window.axe = axe");
        }
        return (List<?>) requireNonNull(reader.runAsync(AXE));
    }
}
