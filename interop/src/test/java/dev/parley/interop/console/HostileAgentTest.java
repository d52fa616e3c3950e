package dev.parley.interop.console;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpServer;
import dev.parley.dialect.Json;
import dev.parley.engine.Agent;
import dev.parley.engine.Reply;
import dev.parley.engine.Request;
import dev.parley.protocol.AgentCard.Skill;
import dev.parley.protocol.Artifact;
import dev.parley.protocol.Message;
import dev.parley.protocol.Part;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URLEncoder;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.openqa.selenium.Keys;

/** An agent whose every text attacks its viewer: nothing of it runs, nothing loads, and no text hides or reorders another. */
@Timeout(90)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class HostileAgentTest {
    /** Runs if a page takes text for markup; {@code HOST} is a server that must not be called. */
    private static final String MARKUP = "<script>window.attacked=1</script><img src=x onerror='window.attacked=2'>"
            + "<svg onload='window.attacked=3'></svg><iframe srcdoc='<script>parent.attacked=4</script>'></iframe>"
            + "<a href='javascript:window.attacked=5'>click</a><style>body{display:none}</style>"
            + "<img src='HOST/pixel'><link rel=stylesheet href='HOST/style'>${window.attacked=6}{{window.attacked=7}}";

    /** Reorders, hides, rings and colours. */
    private static final String CONTROLS =
            "bidi \u202Egpj.exe\u202C \u2066isolate\u2069 zero\u200Bwidth bell\u0007 \u001B[31mred\u001B[0m \u009B2J";

    /** Looks like "worker": its o and e are Cyrillic. */
    private static final String LOOK_ALIKE = "w\u043Erk\u0435r";

    private static final String LONG = "W".repeat(1_000_000);
    private static final String WIDE = "W".repeat(10_000);

    private static final String MARKDOWN = """
        # Report MARKUP

        [script](javascript:window.attacked=8) [data](data:text/html,<script>parent.attacked=9</script>)
        [page](https://example.com/\u202Egnp.exe) <javascript:window.attacked=10>
        ![pixel](HOST/markdown.png) ![svg](data:image/svg+xml,<svg onload='window.attacked=11'/>)
        <details open ontoggle="window.attacked=12"><summary>x</summary></details>
        <form action="HOST/form"><button formaction="javascript:window.attacked=13">send</button></form>
        <math><mtext><style><img src=x onerror="window.attacked=14"></style></mtext></math>

        ```html
        MARKUP
        ```
        """;

    private static final String SVG = "<svg xmlns='http://www.w3.org/2000/svg'"
            + " onload='window.attacked=15'><script>window.attacked=16</script><image"
            + " href='HOST/svg'/><foreignObject><body xmlns='http://www.w3.org/1999/xhtml'"
            + " onload='window.attacked=17'/></foreignObject></svg>";

    /** Entities that become a gigabyte, and elements that are drawn as often, if a viewer takes the file for a picture. */
    private static final String BOMB = bomb();

    private static final String CSV = "name,value\n=HYPERLINK(\"HOST/csv\"),1\n+cmd|' /C calc'!A0,2\n@SUM(1),MARKUP\n";

    /** What the page must not hold, whoever wrote it. */
    private static final String DANGERS = """
        const own = location.origin;
        return [...document.querySelectorAll('body *')].flatMap(element => {
          const found = [];
          const name = element.localName;
          if (['script', 'iframe', 'object', 'embed', 'style', 'link', 'base', 'meta', 'math', 'foreignobject', 'frame'].includes(name)) found.push(name);
          for (const {name: attribute, value} of element.attributes) {
            if (attribute.startsWith('on')) found.push(attribute);
            if (/^(href|src|action|formaction|xlink:href|srcset|poster|data)$/.test(attribute) && value) {
              const url = new URL(value, document.baseURI);
              const isPicture = name === 'img' && /^data:image\\/(png|jpeg|gif|webp|avif|bmp)[;,]/.test(value);
              const isLink = name === 'a' && /^https?:$/.test(url.protocol)
                && (url.origin === own || (/noopener/.test(element.rel) && /noreferrer/.test(element.rel)));
              if (!isPicture && !isLink) found.push(`${attribute}=${value.slice(0, 80)}`);
            }
            if (/[\\u202a-\\u202e\\u2066-\\u2069\\u200b\\u0007\\u001b\\u009b]/.test(value)) found.push(`hidden characters in ${attribute}`);
            if (value.length > 20_000 && attribute !== 'src') found.push(`${attribute} of ${value.length} characters`);
          }
          return found.map(each => `${name}: ${each}`);
        });
        """;

    private static final Pattern PARAMETER = Pattern.compile(":(\\w+)");

    @TempDir
    private static Path directory;

    /** Values of the parameters in the paths of screens, each with hostile texts. */
    private final Map<String, String> parameters = new HashMap<>();

    private final AtomicInteger calls = new AtomicInteger();
    private HttpServer trap;
    private ConsoleHub hub;
    private Browser browser;
    private String task;
    private String context;
    private String question;

    @BeforeAll
    void start() throws IOException {
        trap = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        trap.createContext("/", exchange -> {
            String path = exchange.getRequestURI().getPath();
            if (path.equals("/card.json") || path.equals("/look-alike.json")) {
                String name = "Registered <script>window.attacked=40</script>" + CONTROLS;
                byte[] card = Json.write(card(path.equals("/card.json") ? name : LOOK_ALIKE));
                exchange.getResponseHeaders().add("Content-Type", "application/json");
                exchange.sendResponseHeaders(200, card.length);
                exchange.getResponseBody().write(card);
            } else {
                String program = exchange.getRequestHeaders().getFirst("User-Agent");
                if (program != null && program.startsWith("Mozilla/")) { // no probe of the hub
                    calls.incrementAndGet();
                }
                exchange.sendResponseHeaders(404, -1);
            }
            exchange.close();
        });
        trap.start();
        Agent hostile = Agent.named("hostile", hostile(MARKUP + CONTROLS))
                .version(hostile("1 <script>window.attacked=18</script>"))
                .provider(hostile(MARKUP), "javascript:window.attacked=19")
                .documentationUrl("javascript:window.attacked=20")
                .inputModes(
                        "text/plain",
                        "application/json",
                        "image/svg+xml",
                        hostile("text/<img src=x onerror=window.attacked=21>"))
                .skill(new Skill(
                        hostile("id " + MARKUP),
                        hostile("Skill " + MARKUP + CONTROLS),
                        hostile(MARKUP + CONTROLS),
                        List.of(hostile("tag" + MARKUP), LOOK_ALIKE),
                        List.of(hostile("Example " + MARKUP), "</textarea><script>window.attacked=22</script>"),
                        List.of(),
                        List.of("text/plain", hostile("text/html" + MARKUP)),
                        List.of()))
                .handle(this::attack);
        hub = ToolsScreenTest.hub(
                directory, hostile(MARKUP + CONTROLS).replace("${", "$ {"), hostile, InboxScreenTest.librarian());
        Map<?, ?> sent = hub.sent(
                "hostile",
                List.of(
                        Map.of("text", hostile("Attack " + MARKUP + CONTROLS)),
                        Map.of("data", Map.of(hostile(MARKUP), hostile(MARKUP + CONTROLS))),
                        Map.of("url", "javascript:window.attacked=23", "filename", hostile(MARKUP + CONTROLS))),
                false);
        task = String.valueOf(sent.get("id"));
        context = String.valueOf(sent.get("contextId"));
        question = hub.send("hostile", "question");
        hub.send("hostile", "fail");
        KnowledgeScreenTest.seedMarkup(hub, hostile(MARKUP + CONTROLS));
        Map<?, ?> entry = hub.post(
                "/registry/agents", Map.of("card", card("Entry <script>window.attacked=45</script>" + CONTROLS)));
        Map<?, ?> run = hub.post(
                "/one/workflows",
                WorkflowScreenTest.workflow(WorkflowScreenTest.step(
                        hostile("all " + MARKUP),
                        "hostile",
                        hostile("id " + MARKUP),
                        Map.of("text", hostile(MARKUP).replace("${", "$${")))));
        parameters.putAll(Map.of(
                "agent",
                "hostile",
                "task",
                task,
                "trace",
                String.valueOf(run.get("workflowId")),
                "run",
                String.valueOf(run.get("workflowId")),
                "entry",
                URLEncoder.encode(String.valueOf(entry.get("id")), UTF_8),
                "page",
                "first-agent"));
        browser = Browser.at(hub.url());
    }

    @AfterAll
    void stop() {
        if (browser != null) {
            browser.close();
        }
        hub.close();
        trap.stop(0);
    }

    private String hostile(String text) {
        return text.replace("MARKUP", MARKUP)
                .replace("HOST", "http://127.0.0.1:" + trap.getAddress().getPort());
    }

    private void attack(Request request, Reply reply) {
        reply.progress(10, hostile(MARKUP + CONTROLS));
        if (request.text().equals("question")) {
            reply.askForInput(Message.agent(
                    Part.text(hostile(MARKUP + CONTROLS)),
                    Part.data(Map.of("options", List.of(hostile(MARKUP + CONTROLS), LONG)))));
            return;
        }
        if (request.text().equals("fail")) {
            reply.fail(hostile("Failed " + MARKUP + CONTROLS));
            return;
        }
        reply.artifact(
                Artifact.named("markdown", hostile(MARKUP + CONTROLS), text(hostile(MARKDOWN), "text/markdown")));
        reply.artifact(Artifact.named("html", "page.html", text(hostile(MARKUP), "text/html")));
        reply.artifact(Artifact.named("csv", "sums.csv", text(hostile(CSV), "text/csv")));
        reply.artifact(Artifact.named("long", LONG, text(LONG + "END", "text/plain")));
        reply.artifact(Artifact.named(
                "json", "data", Part.data(Map.of(hostile(MARKUP + CONTROLS), hostile(MARKUP + CONTROLS)))));
        reply.artifact(Artifact.named(
                "type", "type", text(hostile(MARKUP), hostile("text/x\"><img src=x onerror='window.attacked=24'>"))));
        reply.artifact(Artifact.named(
                "links",
                "links",
                Part.link("javascript:window.attacked=25", hostile(MARKUP), "text/html"),
                Part.link("data:text/html,<script>parent.attacked=26</script>", null, null),
                Part.link(hostile("HOST/file"), hostile(CONTROLS), "image/png")));
        reply.file(
                hostile("../../" + CONTROLS + ".svg"),
                "image/svg+xml",
                hostile(SVG).getBytes(UTF_8));
        reply.file("bomb.svg", "image/svg+xml", BOMB.getBytes(UTF_8));
        reply.file("page.html", "text/html", hostile(MARKUP).getBytes(UTF_8));
        reply.file("broken.png", "image/png", hostile(SVG).getBytes(UTF_8));
        reply.file("type", "image/png\" onerror=\"window.attacked=27", new byte[] {1});
        reply.complete(Part.text(hostile(MARKDOWN + CONTROLS)), Part.text(hostile(MARKUP)));
    }

    private static String bomb() {
        var entities = new StringBuilder("<!ENTITY e0 'aaaaaaaaaa'>");
        var elements = new StringBuilder("<g id='g0'><rect width='9' height='9'/></g>");
        for (int i = 1; i < 9; i++) {
            entities.append(
                    "<!ENTITY e%d '%s'>".formatted(i, "&e%d;".formatted(i - 1).repeat(10)));
            elements.append("<g id='g%d'>%s</g>"
                    .formatted(i, "<use href='#g%d'/>".formatted(i - 1).repeat(10)));
        }
        return "<?xml version='1.0'?><!DOCTYPE svg [%s]><svg xmlns='http://www.w3.org/2000/svg'><text>&e8;</text>%s</svg>"
                .formatted(entities, elements);
    }

    private static Part text(String text, String mediaType) {
        return new Part.Text(text, null, mediaType, Map.of());
    }

    /** Card of a registered agent, whose name may be anything. */
    private Map<String, Object> card(String name) {
        return Map.of(
                "name", name,
                "description", hostile(MARKUP + CONTROLS),
                "version", hostile("9 " + MARKUP),
                "supportedInterfaces",
                        List.of(
                                Map.of(
                                        "url",
                                        hostile("HOST/a2a"),
                                        "protocolBinding",
                                        "JSONRPC",
                                        "protocolVersion",
                                        "1.0"),
                                Map.of(
                                        "url",
                                        "javascript:window.attacked=28",
                                        "protocolBinding",
                                        hostile(MARKUP),
                                        "protocolVersion",
                                        "1.0")),
                "capabilities", Map.of(),
                "defaultInputModes", List.of("text/plain"),
                "defaultOutputModes", List.of("text/plain"),
                "iconUrl", hostile("HOST/icon.svg"),
                "skills",
                        List.of(Map.of(
                                "id", hostile(MARKUP),
                                "name", hostile(MARKUP + CONTROLS),
                                "description", hostile(MARKUP),
                                "tags", List.of(hostile(MARKUP)),
                                "examples", List.of(hostile(MARKUP)))));
    }

    @BeforeEach
    void begin() {
        browser.leave();
        browser.forget();
        calls.set(0);
    }

    @AfterEach
    void nothingRanAndNothingWasLoaded() {
        browser.leave();
        browser.assertQuiet("the last page of the test");
        assertThat(calls).hasValue(0);
    }

    /** Asserts that the page as it is shows the attacks as text, and no more. */
    private void assertHarmless(String where) {
        assertThat(browser.run("return window.attacked"))
                .as("script that ran at %s", where)
                .isNull();
        assertThat(browser.strings(DANGERS)).as(where).isEmpty();
        String shown = String.valueOf(browser.run("return document.body.innerText + ' ' + document.title"));
        assertThat(shown).as(where).doesNotContainPattern("[\u202A-\u202E\u2066-\u2069\u200B\u0007\u001B\u009B]");
        assertThat(shown.length()).as("characters shown at %s", where).isLessThan(1_000_000);
        assertThat(browser.overflow())
                .as("pixels beyond the window at %s", where)
                .isLessThanOrEqualTo(0);
        browser.assertQuiet(where);
    }

    @Test
    void theListOfAgentsShowsMarkupAsText() {
        browser.go("agents?q=hostile");
        browser.see(".tr .agent a", "hostile");
        browser.see(".tr .agent", "<script>window.attacked=1</script>");
        browser.see(".tr .skill", "Skill <script>");
        assertHarmless("the list of agents");

        browser.type("input[type=search]", "window.attacked");
        browser.see(".tr mark", "attacked");
        assertHarmless("the list of agents with marks");
    }

    @Test
    void aRegisteredCardIsShownAsText() {
        hub.post("/registry/agents", Map.of("url", hostile("HOST/card.json"), "visibility", "public"));
        browser.go("agents?q=Registered");
        browser.see(".tr .agent a", "Registered");
        assertHarmless("the list with a registered agent");
        browser.click(".tr .act button", "Show");
        browser.see("dialog .preview h3", "Registered <script>");
        assertHarmless("a registered agent");
    }

    @ParameterizedTest
    @ValueSource(strings = {"overview", "findings", "card", "versions"})
    void thePageOfAnAgentShowsMarkupAsText(String tab) {
        browser.go("agents/hostile?tab=" + tab);
        browser.see("[role=tab][aria-selected=true]", "");
        browser.holds("!document.querySelector('.skeleton')");
        assertHarmless("the page of an agent, " + tab);
    }

    @Test
    void aNameThatLooksLikeAnotherIsMarked() {
        hub.post("/registry/agents", Map.of("url", hostile("HOST/look-alike.json"), "visibility", "public"));
        browser.go("agents?q=" + URLEncoder.encode(LOOK_ALIKE, UTF_8));
        browser.see(".tr .agent .state.bad", "look-alike");
        browser.click(".tr:has(.agent .state.bad) .act button", "Show");
        browser.see("dialog .preview .state.bad", "looks like 1 other agent");
        assertHarmless("an agent with the name of another");
    }

    @Test
    void aPastedCardIsShownAsText() {
        browser.go("agents");
        browser.see("h1", "Agents");
        browser.paste(new String(Json.write(card(hostile("Pasted " + MARKUP + CONTROLS))), UTF_8));
        browser.see("dialog .preview h3", "Pasted <script>");
        browser.see("dialog .findings code", "/supportedInterfaces/1/url");
        assertHarmless("a pasted card");
    }

    @Test
    void aPastedCardWithALongNameIsShort() {
        browser.go("agents");
        browser.see("h1", "Agents");
        browser.paste("{\"name\":\"" + LONG + "\",\"skills\":[{\"id\":\"" + WIDE + "\",\"name\":\"" + WIDE + "\"}]}");
        browser.see("dialog .preview h3", "WWW");
        assertHarmless("a pasted card with a long name");

        browser.go("agents");
        browser.see("h1", "Agents");
        browser.paste("{\"name\":\"" + LONG + LONG + "\"}");
        browser.see("dialog", "The card has 2,000,011 characters (expected: at most 1,100,000)");
        assertHarmless("a pasted card that is too large");
    }

    @ParameterizedTest
    @ValueSource(strings = {"message", "form", "json"})
    void aConversationIsShownAsText(String mode) {
        browser.go("agents/hostile/try?context=" + context + "&mode=" + mode);
        browser.see(".say.me", "Attack <script>");
        browser.see(".artifact .md", "Report");
        browser.see(".artifact td", "=HYPERLINK");
        assertHarmless("a conversation");
        if (mode.equals("form")) {
            browser.click(".skill button.chip", "</textarea>");
            assertThat(browser.value("textarea[aria-label=Message]"))
                    .isEqualTo("</textarea><script>window.attacked=22</script>");
            assertHarmless("an example");
        }
    }

    @Test
    void aMessageSentFromThePageIsShownAsText() {
        browser.go("agents/hostile/try");
        browser.see("parley-compose textarea", "");
        browser.drop(
                ".talk-card", hostile("<img src=x onerror=window.attacked=29>.svg"), "image/svg+xml", hostile(SVG));
        browser.type("parley-compose textarea", "<img src=x onerror=window.attacked=30>");
        browser.press(Keys.ENTER);
        browser.see(".of-task .state", "completed");
        assertHarmless("an own message");
        for (String view : List.of("raw", "curl", "CLI", "Java")) {
            browser.click(".say.me .tools button", view);
            browser.see("dialog pre", "");
            assertHarmless("the exchange as " + view);
            browser.press(Keys.ESCAPE);
            browser.gone("dialog", "");
        }
    }

    @Test
    void theListOfTasksShowsMarkupAsText() {
        browser.go("tasks?agent=hostile");
        browser.see(".body .tr", "Attack <script>");
        browser.see(".body .tr", "Failed <script>");
        assertHarmless("the list of tasks");
        browser.hold(Keys.CONTROL, "k");
        browser.see("dialog.palette input", "");
        browser.press("Attack");
        browser.see("dialog.palette [role=option]", "Attack <script>");
        assertHarmless("the palette");
    }

    @Test
    void theHomePageAndTheInboxShowMarkupAsText() {
        hub.post(
                "/one/votes",
                Map.of(
                        "vote",
                        Map.of(
                                "question",
                                hostile(MARKUP + CONTROLS),
                                "options",
                                List.of(hostile(MARKUP), LONG.substring(0, 1_000)),
                                "voters",
                                List.of("ann", hostile("bob" + MARKUP)))));
        browser.go("");
        browser.see("section[aria-label='Newest tasks'] li", "<script>");
        assertHarmless("the home page");
        browser.go("inbox");
        browser.see(".inbox .ask", "<script>");
        browser.see(".inbox select option, .inbox button", "<script>");
        assertHarmless("the inbox");
    }

    @Test
    void aWorkflowShowsMarkupAsText() {
        Map<?, ?> run = hub.post(
                "/one/workflows",
                WorkflowScreenTest.workflow(
                        WorkflowScreenTest.step(
                                hostile("one " + MARKUP),
                                "hostile",
                                hostile("id " + MARKUP),
                                Map.of("text", hostile(MARKUP).replace("${", "$${"))),
                        WorkflowScreenTest.step(
                                LONG.substring(0, 2_000), "hostile", hostile("id " + MARKUP), Map.of("text", "fail"))));
        browser.go("workflows");
        browser.see(".body .tr", "<script>");
        assertHarmless("the list of runs");
        browser.go(
                "workflows/" + run.get("workflowId") + "?step=" + URLEncoder.encode(hostile("one " + MARKUP), UTF_8));
        browser.see(".node.ok .name", "one <");
        browser.see("section[aria-label=Step] .artifact", "");
        assertHarmless("a run");
        browser.go("workflows/new?run=" + run.get("workflowId"));
        browser.see("section[aria-label=Picture] .name", "one <");
        assertHarmless("the editor");
    }

    @Test
    void meshRegistryToolsAndAuditShowMarkupAsText() {
        hub.post(
                "/agents/scribe/one",
                MeshScreenTest.envelope("feedback", Map.of("rating", 4, "comments", hostile(MARKUP + CONTROLS))));
        browser.go("mesh?tab=reports");
        browser.see("#mesh .list li", "<script>");
        assertHarmless("reports of the mesh");
        browser.go("mesh");
        browser.see("#mesh .list li", "hostile");
        assertHarmless("the mesh");
        browser.go("tools?server=files&tool=read&log=files");
        browser.see(".server .list .dim", "<script>");
        browser.see("parley-tool-try label", "path");
        browser.type("parley-tool-try input[name=path]", "<img src=x onerror=window.attacked=44>");
        browser.click("parley-tool-try button", "Call");
        browser.see("section[aria-label=Result] .part", "onerror");
        browser.see(".log li", "onerror");
        assertHarmless("a tool");
        browser.go("registry?q=hostile");
        browser.see(".agents .body .tr", "<script>");
        browser.click(".tr .agent a", "hostile");
        browser.see(".skills, .skill-list", "<script>");
        assertHarmless("an entry of the registry");
        browser.go("settings?tab=deliveries");
        browser.see("section[aria-label=Tools] a", "to approve");
        assertHarmless("deliveries");
        browser.go("audit");
        browser.see(".audit .body .tr .what", "task.created");
        assertHarmless("the audit log");
    }

    /** Also those that are added to the list of screens after this test was written. */
    @Test
    @Timeout(300)
    void everyScreenShowsMarkupAsText() {
        browser.go("tasks");
        var paths = (List<?>) requireNonNull(browser.runAsync("""
                const done = arguments[arguments.length - 1];
                const module = performance.getEntriesByType('resource').find(each => each.name.endsWith('/screens.js')).name;
                import(module).then(({ screens }) => done(screens.map(({ path }) => path)));
                """));
        assertThat(paths).hasSizeGreaterThan(20);
        for (Object path : paths) {
            assertHarmlessAt(PARAMETER
                    .matcher(String.valueOf(path))
                    .replaceAll(found -> requireNonNull(
                            parameters.get(found.group(1)), "no hostile value for the parameter " + found.group())));
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "kg?entity=ex%3Aa&select=ex%3Aa",
                "kg?q=ex%3Aa",
                "kg?tab=query&lang=sparql&query=SELECT%20*%20%7B%3Fs%20%3Fp%20%3Fo%7D",
                "kg?tab=query&lang=sparql&view=graph&query=SELECT%20*%20%7B%3Fs%20%3Fp%20%3Fo%7D",
                "traces/:trace?view=sequence",
                "traces/:trace?view=tree",
                "metrics?tab=usage",
                "metrics?agent=hostile",
                "settings?tab=users",
                "settings?tab=values",
                "mesh?tab=standings",
                "registry/:entry?tab=versions",
                "registry/:entry?tab=health",
                "learn?q=%3Cscript%3E",
                "learn/api?q=hostile&op=SendMessage"
            })
    void furtherViewsShowMarkupAsText(String path) {
        assertHarmlessAt(PARAMETER.matcher(path).replaceAll(found -> requireNonNull(parameters.get(found.group(1)))));
    }

    private void assertHarmlessAt(String path) {
        browser.go(path);
        browser.holds("!document.querySelector('.skeleton')");
        assertHarmless(path);
    }

    @ParameterizedTest
    @ValueSource(strings = {"conversation", "artifacts", "events", "webhooks"})
    void aTaskIsShownAsText(String tab) {
        browser.go("tasks/" + task + "?tab=" + tab);
        browser.see("h1", "Attack <script>");
        browser.see(".time .step", "<script>");
        browser.holds("!document.querySelector('.skeleton')");
        assertHarmless(tab);
        if (tab.equals("events")) {
            browser.click(".events button.line", "artifact");
            browser.see(".events .detail", "");
            assertHarmless("an event");
        }
    }

    @Test
    void aQuestionAndItsOptionsAreShownAsText() {
        browser.go("tasks/" + question);
        browser.see(".ask button", "<script>");
        assertHarmless("a question");
    }

    @Test
    void onANarrowWindowNothingOverlaps() {
        browser.size(360, 740);
        try {
            browser.go("tasks/" + task);
            browser.see(".artifact .md", "Report");
            assertHarmless("a task on a narrow window");
            browser.go("agents/hostile/try?context=" + context);
            browser.see(".artifact .md", "Report");
            browser.picture("hostile-narrow");
            assertHarmless("a conversation on a narrow window");
            browser.go("tasks/" + question);
            browser.see(".ask button", "<script>");
            assertHarmless("a question on a narrow window");
        } finally {
            browser.size(1400, 900);
        }
    }
}
