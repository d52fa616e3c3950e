package dev.parley.interop.console;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.dialect.Json;
import dev.parley.engine.Agent;
import dev.parley.hub.Hub;
import dev.parley.knowledge.api.SharedKnowledge;
import dev.parley.testkit.Eventually;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.openqa.selenium.Keys;

/** The inbox of the console: all that waits for a person, answered in place. */
@Timeout(90)
class InboxScreenTest {
    private static final String INBOX = ".inbox li";

    /** MCP server with one tool, whose description is its argument. */
    private static final String SERVER = """
            import json, sys
            for line in sys.stdin:
                request = json.loads(line)
                method = request.get('method')
                if 'id' not in request:
                    continue
                answer = {'jsonrpc': '2.0', 'id': request['id']}
                if method == 'initialize':
                    answer['result'] = {'protocolVersion': '2025-06-18', 'capabilities': {'tools': {}},
                                        'serverInfo': {'name': 'files', 'version': '1'}}
                elif method == 'tools/list':
                    answer['result'] = {'tools': [{'name': 'read', 'description': sys.argv[1], 'inputSchema': {'type': 'object'}}]}
                else:
                    answer['error'] = {'code': -32601, 'message': 'unknown'}
                print(json.dumps(answer), flush=True)
            """;

    @TempDir
    private Path directory;

    static Agent librarian() {
        return Agent.named("librarian", "Knows books")
                .uses(SharedKnowledge.VIEW)
                .handle((request, reply) -> reply.complete());
    }

    private static void beginVote(ConsoleHub hub, String question) {
        hub.post(
                "/one/votes",
                Map.of(
                        "vote",
                        Map.of(
                                "question",
                                question,
                                "options",
                                List.of("red", "blue"),
                                "voters",
                                List.of("ann", "bob"))));
    }

    static void setAside(ConsoleHub hub, String object) {
        hub.post(
                "/admin/knowledge/rules",
                Map.of(
                        "rules",
                        List.of(Map.of(
                                "id",
                                "guess",
                                "on",
                                "update",
                                "match",
                                Map.of("certaintyBelow", 0.5),
                                "effect",
                                "review",
                                "message",
                                "A guess"))));
        var statement = Map.of(
                "subject", Map.of("id", "urn:example:p3"),
                "predicate", Map.of("id", "urn:example:status"),
                "object", Map.of("value", object),
                "certainty", 0.2);
        hub.post(
                "/agents/librarian/kg:update",
                Map.of("mutations", List.of(Map.of("op", "add", "statement", statement))));
    }

    @Test
    @DisplayName(
            "S16: questions, credentials, reviews and ballots are in one list, and go when they are answered there")
    void allKindsAreAnsweredInPlace() {
        try (var hub = new ConsoleHub(librarian());
                Browser browser = Browser.at(hub.url())) {
            browser.go("inbox");
            browser.see(".empty h2", "Nothing waits for you");
            String seat = hub.send("booking", "A seat to Paris");
            hub.send("archive", "Open the archive of 2024");
            beginVote(hub, "Which colour?");
            setAside(hub, "maybe");
            browser.go("inbox");

            browser.see(INBOX, "A seat to Paris");
            browser.see(INBOX, "Open the archive");
            browser.see(INBOX, "Which colour?");
            browser.see(INBOX, "A guess");
            assertThat(browser.texts(INBOX)).hasSize(4);

            browser.click(INBOX + " .ask button", "aisle");
            browser.gone(INBOX, "A seat to Paris");
            browser.see("[role=status]", "Answered: A seat to Paris");
            assertThat(state(hub, "booking", seat)).isEqualTo("TASK_STATE_COMPLETED");

            browser.type(INBOX + " .ask input[type=password]", "open sesame");
            browser.press(Keys.ENTER);
            browser.gone(INBOX, "Open the archive");

            browser.click(INBOX + " button", "Approve");
            browser.gone(INBOX, "A guess");
            assertThat((List<?>)
                            hub.call("GET", "/admin/knowledge/reviews", null).get("reviews"))
                    .isEmpty();

            browser.click(INBOX + " button", "red"); // for ann, the first voter
            browser.see(INBOX, "1 ballot of 2");
            browser.click(INBOX + " button", "red");
            browser.see(".empty h2", "Nothing waits for you");
            browser.assertQuiet("the inbox");
        }
    }

    private static String state(ConsoleHub hub, String agent, String task) {
        Map<?, ?> found = hub.call("GET", "/agents/" + agent + "/tasks/" + task, null);
        return String.valueOf(((Map<?, ?>) requireNonNull(found.get("status"))).get("state"));
    }

    @Test
    @DisplayName("S16: a badge on each page counts the items, as they come and go")
    void aBadgeOnEachPage() {
        try (var hub = new ConsoleHub();
                Browser browser = Browser.at(hub.url())) {
            for (String page : List.of("agents", "tasks", "agents/scribe/try", "")) {
                browser.go(page);
                browser.see(".live.ok", "live");
                browser.gone(".side .badge", "");
                String task = hub.send("booking", "A seat on " + page);
                browser.see(".side .badge", "1");
                browser.holds("document.title.startsWith('(1) ')");
                hub.call("POST", "/agents/booking/tasks/" + task + ":cancel", Map.of());
                browser.gone(".side .badge", "");
            }
            browser.assertQuiet("the badge");
        }
    }

    @Test
    @DisplayName("S16: the list is filtered by agent and age, in the address")
    void filtersAreInTheAddress() {
        try (var hub = new ConsoleHub();
                Browser browser = Browser.at(hub.url())) {
            hub.send("booking", "A seat to Paris");
            hub.send("archive", "Open the archive");
            browser.go("inbox?agent=booking");
            browser.see(INBOX, "A seat to Paris");
            assertThat(browser.texts(INBOX)).hasSize(1);
            browser.go("inbox?age=1h");
            browser.see(".empty h2", "Nothing matches");
            browser.assertQuiet("the filters");
        }
    }

    @Test
    @DisplayName("S16: a browser notification tells of a new item while the page is hidden, if the reader allowed it")
    void aNotificationIfAllowed() {
        try (var hub = new ConsoleHub();
                Browser browser = Browser.at(hub.url())) {
            browser.go("inbox");
            browser.run("""
                    window.Notification = class { constructor(title, more) { localStorage.shown = `${title} ${more.body}`; } close() {}
                      static permission = 'default';
                      static async requestPermission() { return (Notification.permission = 'granted'); } };""");
            hub.send("booking", "Before the permission");
            browser.see(INBOX, "Before the permission");
            browser.click(".head button", "Notify me");
            browser.see(".head button", "Notifications on");

            String inbox = browser.tab();
            browser.openTab("tasks"); // hides the page
            hub.send("booking", "A seat to Rome");
            browser.see(".body .tr", "A seat to Rome");
            browser.holds("!!localStorage.shown"); // the pages share it
            assertThat(String.valueOf(browser.run("return localStorage.shown")))
                    .contains("2 in the inbox", "booking: A seat to Rome");
            browser.turnTo(inbox);
            browser.click(".head button", "Notifications on");
            browser.see(".head button", "Notify me");
            browser.assertQuiet("the notification");
        }
    }

    @Test
    @DisplayName("S16: a changed tool of an MCP server is approved with the differences of its definition")
    void aChangedToolIsApproved() throws IOException {
        Path script = Files.writeString(directory.resolve("server.py"), SERVER);
        try (var hub = hub(script, "Reads a file")) {
            Eventually.value("the tool", () -> tools(hub), tools -> tools.contains("name=read, state=approved"));
        }
        try (var hub = hub(script, "Reads a file, and <b>sends</b> it away")) {
            Eventually.value("the tool", () -> tools(hub), tools -> tools.contains("name=read, state=changed"));
            try (Browser browser = Browser.at(hub.url())) {
                browser.go("inbox");
                browser.see(INBOX + " .diff code", "description");
                browser.see(INBOX + " .diff del", "Reads a file");
                browser.see(INBOX + " .diff ins", "and <b>sends</b> it away");
                browser.see(".side .badge", "1");
                browser.picture("inbox-tool");

                browser.click(INBOX + " button", "Approve");
                browser.see(".empty h2", "Nothing waits for you");
                Eventually.value("the tool", () -> tools(hub), tools -> tools.contains("name=read, state=approved"));
                browser.assertQuiet("the approval");
            }
        }
    }

    private ConsoleHub hub(Path script, String description) throws IOException {
        Path file = directory.resolve("servers.json");
        Files.write(
                file,
                Json.write(Map.of(
                        "mcpServers",
                        Map.of(
                                "files",
                                Map.of("command", "python3", "args", List.of(script.toString(), description))))));
        return new ConsoleHub(
                Hub.builder().data(directory.resolve("data")).port(0).set("mcp-servers", file.toString()));
    }

    /** Tools of the server, which the hub contacts by itself. */
    private static String tools(ConsoleHub hub) {
        return String.valueOf(hub.call("GET", "/admin/mcp/tools", null));
    }

    @Test
    @DisplayName(
            "S16: a member sees its own questions and the votes of its group, and no tools, reviews or items of another group")
    void aMemberSeesItsOwn() {
        try (var hub = new ConsoleHub(Hub.builder().inMemory().port(0).set("auth", "required"), librarian());
                Browser browser = Browser.at(hub.url())) {
            String ann = hub.key("team", "ann");
            String gus = hub.key("others", "gus");
            hub.send("booking", "A seat of the operator");
            setAside(hub, "maybe");

            browser.go("inbox");
            browser.signIn(ann);
            browser.see(".empty h2", "Nothing waits for you");
            hub.as(hub.key("team", "bob"), () -> beginVote(hub, "Which colour?"));
            hub.as(ann, () -> hub.send("booking", "A seat of ann"));
            browser.see(INBOX, "A seat of ann");
            browser.reload();
            browser.see(INBOX, "Which colour?");
            assertThat(browser.texts(INBOX)).hasSize(2);
            browser.click(INBOX + " button", "blue");
            browser.gone(INBOX, "Which colour?");
            browser.assertQuiet("the inbox of ann");

            browser.leave();
            browser.deleteCookies();
            String operator = String.valueOf(
                    hub.post("/admin/keys", Map.of("group", "team", "principal", "boss", "scopes", List.of("admin")))
                            .get("key"));
            browser.go("inbox");
            browser.signIn(operator);
            browser.see(".empty h2", "Nothing waits for you"); // the review is one of another group
            browser.assertQuiet("the inbox of an operator of the team");

            browser.leave();
            browser.deleteCookies();
            browser.go("inbox");
            browser.signIn(gus);
            browser.see(".empty h2", "Nothing waits for you");
            browser.assertQuiet("the inbox of gus");
        }
    }
}
