package dev.parley.interop.console;

import static dev.parley.interop.console.InboxScreenTest.librarian;
import static dev.parley.interop.console.InboxScreenTest.setAside;
import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.agents.DemoAgents;
import dev.parley.engine.Agent;
import dev.parley.hub.Hub;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.openqa.selenium.Keys;

/** The knowledge graph in the console: exploring it, queries, changes as they come, reviews, exports. */
@Timeout(90)
class KnowledgeScreenTest {
    private static final String NODE = ".net .dot text";
    private static final String EDGE = ".net .tie";
    private static final String PLANT = "kg?entity=ex%3Aplant";

    /** Keeps the files that the page saves, by their names. */
    private static final String SAVE = """
            window.saved = {};
            const make = URL.createObjectURL;
            let last;
            URL.createObjectURL = blob => make.call(URL, last = blob);
            HTMLAnchorElement.prototype.click = function () { saved[this.download] = last; };
            """;

    private static final String SAVED = """
            const [name, done] = arguments;
            const look = () => window.saved[name] ? window.saved[name].text().then(done) : requestAnimationFrame(look);
            look();
            """;

    private static Map<String, ?> add(String subject, String predicate, Map<String, ?> object, double certainty) {
        return Map.of(
                "op",
                "add",
                "statement",
                Map.of(
                        "subject",
                        Map.of("id", subject),
                        "predicate",
                        Map.of("id", predicate),
                        "object",
                        object,
                        "certainty",
                        certainty));
    }

    private static void update(ConsoleHub hub, List<?> mutations) {
        hub.post(
                "/agents/librarian/kg:update",
                Map.of("mutations", mutations, "sourceAgentId", "gauge", "justification", "read on site"));
    }

    /** A plant with a name, 30 pumps, and a valve of little certainty at the first of them. */
    static void seed(ConsoleHub hub) {
        var mutations = new ArrayList<Map<String, ?>>();
        mutations.add(add("ex:plant", "ex:name", Map.of("value", "North plant"), 1));
        for (int i = 1; i <= 30; i++) {
            mutations.add(add("ex:pump-" + i, "ex:partOf", Map.of("id", "ex:plant"), i % 2 == 0 ? 0.9 : 0.4));
        }
        mutations.add(add("ex:pump-1", "ex:feeds", Map.of("id", "ex:valve"), 0.2));
        update(hub, mutations);
    }

    @Test
    @DisplayName("S8: search leads to an entity; a double click and Enter expand 25 neighbours, with the number of"
            + " the others; collapse, undo and pin")
    void theGraphIsExploredFromAnEntity() {
        try (var hub = new ConsoleHub(librarian());
                Browser browser = Browser.at(hub.url())) {
            seed(hub);
            browser.go("kg");
            browser.see(".empty h2", "Begin with an entity");
            assertThat(browser.texts(NODE)).isEmpty();
            browser.type("input[type=search]", "plant");
            browser.press(Keys.ENTER);
            browser.click(".kg-found a", "ex:plant");
            browser.see(NODE, "+6 more");
            assertThat(browser.texts(EDGE)).hasSize(25);
            assertThat(browser.address()).contains("entity=ex%3Aplant");

            browser.click(NODE, "+6 more");
            browser.gone(NODE, "more");
            assertThat(browser.texts(EDGE)).hasSize(31);
            browser.doubleClick(NODE, "ex:pump-1");
            browser.see(NODE, "ex:valve");
            browser.see(".kg-side h2", "ex:pump-1");
            browser.click(".kg-side button", "Collapse");
            browser.gone(NODE, "ex:valve");
            browser.click(".kg-bar button", "Undo");
            browser.see(NODE, "ex:valve");
            browser.click(".kg-bar button", "Undo");
            browser.gone(NODE, "ex:valve");
            browser.run(
                    "[...document.querySelectorAll('.dot')].find(each => each.textContent.includes('ex:pump-1')).focus()");
            browser.press(Keys.SPACE);
            browser.click(".kg-side button", "Begin here");
            browser.see(".dot.start", "ex:pump-1");
            browser.see(NODE, "ex:valve");
            browser.click(".kg-bar button", "Undo");
            browser.see(".dot.start", "ex:plant");
            browser.gone(NODE, "ex:valve");
            browser.hold(Keys.CONTROL, "k");
            browser.type("dialog.palette input", "pump-17");
            browser.see("dialog.palette [role=option]", "Entity");
            browser.press(Keys.ENTER);
            browser.see(".dot.start", "ex:pump-17");
            browser.click(".kg-bar button", "Undo");
            browser.see(".dot.start", "ex:plant");
            browser.click(".kg-bar button", "Undo");
            browser.see(NODE, "+6 more"); // before the others were read

            browser.run(
                    "[...document.querySelectorAll('.dot')].find(each => each.textContent.includes('ex:pump-1')).focus()");
            browser.press(Keys.ENTER);
            browser.see(NODE, "ex:valve");
            browser.press("p");
            browser.see(".net .pin", "");
            browser.doubleClick(NODE, "ex:plant"); // collapses it
            browser.gone(NODE, "ex:pump-2");
            browser.see(NODE, "ex:pump-1");
            browser.see(NODE, "ex:valve");
            browser.assertQuiet("the graph");
        }
    }

    @Test
    @DisplayName("S8: at most 500 elements are drawn, however many are read")
    void atMost500ElementsAreDrawn() {
        try (var hub = new ConsoleHub(librarian());
                Browser browser = Browser.at(hub.url())) {
            var mutations = new ArrayList<Map<String, ?>>();
            for (int i = 1; i <= 400; i++) {
                mutations.add(add("ex:p" + i, "ex:partOf", Map.of("id", "ex:plant"), 1));
            }
            update(hub, mutations);
            browser.go(PLANT);
            for (int left = 375; left > 125; left -= 25) {
                browser.click(".net .dot.more", "+" + left + " more");
            }
            browser.see(".kg-bar [role=status]", "500 elements are drawn");
            assertThat(browser.texts(NODE).size() + browser.texts(EDGE).size()).isBetween(490, 500);
            browser.picture("knowledge-large");
            browser.assertQuiet("a large graph");
        }
    }

    @Test
    @DisplayName(
            "S8: each edge shows certainty, provenance and time; sliders hide edges of little certainty or great age")
    void slidersHideEdges() {
        try (var hub = new ConsoleHub(librarian());
                Browser browser = Browser.at(hub.url())) {
            seed(hub);
            browser.go(PLANT);
            browser.see(EDGE + " text", "ex:partOf 0.4");
            assertThat(browser.strings(
                            "return [...document.querySelectorAll('.tie title')].map(each => each.textContent)"))
                    .allMatch(title -> title.matches("(?s).*certainty [01].*, from gauge, 20.* UTC"));
            assertThat(
                            browser.strings(
                                    "return [...document.querySelectorAll('.ray')].map(each => each.getAttribute('stroke-opacity'))"))
                    .contains("1.00", "0.92", "0.52");
            browser.see(".kg-said summary", "0.9 · gauge · ");

            browser.slide("input[aria-label='Least certainty']", "0.85");
            browser.gone(EDGE + " text", "ex:partOf 0.4");
            browser.see(EDGE + " text", "ex:partOf 0.9");
            browser.see(".kg-bar [role=status]", "12 statements hidden");
            assertThat(browser.address()).contains("certainty=0.85");
            browser.slide("input[aria-label='Least certainty']", "0");
            browser.see(EDGE + " text", "ex:partOf 0.4");

            // Two hours later, by the clock of the hub, too, which the page compares with its own at each answer.
            browser.run("""
                    const now = Date.now, get = Headers.prototype.get;
                    Date.now = () => now() + 7_200_000;
                    Headers.prototype.get = function (name) {
                      return /^date$/i.test(name) ? null : get.call(this, name);
                    };
                    """);
            browser.slide("input[aria-label='Greatest age']", "4");
            browser.see("output", "1h");
            browser.gone(EDGE, "");
            browser.click(NODE, "ex:plant");
            browser.slide("input[aria-label='Greatest age']", "3");
            browser.click(EDGE + " text", "ex:name");
            browser.see(".kg-said dd", "read on site");
            browser.see(".kg-said dd", "North plant");
            browser.assertQuiet("the sliders");
        }
    }

    @Test
    @DisplayName("S8: GraphQL and SPARQL with completion; the result as table, graph and JSON, in the address")
    void queriesHaveTableGraphAndJson() {
        try (var hub = new ConsoleHub(librarian());
                Browser browser = Browser.at(hub.url())) {
            seed(hub);
            browser.go("kg?tab=query&lang=sparql");
            browser.type("textarea", "SELECT ?pump ?p ?valve { ?pump ?p ?valve . ?pump ex:fee");
            browser.click(".offers button", "ex:feeds");
            assertThat(browser.value("textarea")).endsWith("?pump ex:feeds");
            browser.press(" ?valve }");
            browser.hold(Keys.CONTROL, Keys.ENTER.toString());
            browser.see("#result th", "valve");
            assertThat(browser.texts("#result tbody td")).containsExactly("ex:pump-1", "ex:feeds", "ex:valve");
            browser.click("#result-graph", "");
            browser.see(NODE, "ex:valve");
            browser.click("#result-json", "");
            browser.see("#result parley-json", "bindings");
            browser.reload();
            browser.see("#result parley-json", "bindings");

            browser.choose("select[aria-label=Language]", "GraphQL");
            browser.type(
                    "textarea",
                    "{ statements(filter: {predicates: [\"ex:name\"]}) { nodes { subject { id } predicate object { id value } certainty } } }");
            browser.click("button", "Run");
            browser.see("#result parley-json", "nodes");
            browser.click("#result-table", "");
            browser.see("#result th", "object.value");
            assertThat(browser.texts("#result tbody td")).contains("ex:plant", "North plant", "1");
            browser.click("#result-graph", "");
            browser.see(EDGE + " text", "ex:name 1");

            browser.type("textarea", "{ nothing }");
            browser.click("button", "Run");
            browser.see(".failure b", "nothing");
            browser.forget(); // the browser reports the status 400
        }
    }

    @Test
    @DisplayName("S8, KG29: changes of three agents flash in the graph as they come")
    void changesPulse() {
        Agent[] agents = DemoAgents.all().toArray(Agent[]::new);
        try (var hub = new ConsoleHub(Hub.builder().inMemory().port(0).agents(agents));
                Browser browser = Browser.at(hub.url())) {
            hub.send("sensor", "kettle 20");
            browser.go("kg?entity=ex%3Akettle&agent=sensor");
            browser.see(NODE, "20");
            browser.see(".head .live.ok", "follows changes");
            assertThat(browser.texts(EDGE + ".fresh")).isEmpty();

            hub.send("sensor", "kettle 99");
            browser.see(EDGE + ".fresh text", "ex:temperature 0.95");
            browser.see(NODE, "99");
            browser.gone(NODE, "20");
            browser.see(".kg-said .fresh", "sensor");
            hub.send("diagnosis", "look");
            browser.see(EDGE + ".fresh text", "ex:condition");
            browser.see(".kg-said .fresh", "diagnosis");
            browser.gone(EDGE + ".fresh", "");
            browser.assertQuiet("the changes");
        }
    }

    @Test
    @DisplayName("S8, KG10: an update that waits for a review is approved here, and then visible")
    void aReviewIsApproved() {
        try (var hub = new ConsoleHub(librarian());
                Browser browser = Browser.at(hub.url())) {
            update(hub, List.of(add("urn:example:p3", "urn:example:name", Map.of("value", "Third"), 1)));
            setAside(hub, "maybe");
            browser.go("kg?entity=urn%3Aexample%3Ap3");
            browser.see(NODE, "Third");
            assertThat(browser.texts(NODE)).doesNotContain("maybe");
            browser.click("#kg-reviews", "Reviews 1");
            browser.see(".kg-reviews li", "A guess");
            browser.see(".kg-reviews div", "urn:example:status maybe certainty 0.2");
            browser.picture("knowledge-review");
            browser.click(".kg-reviews button", "Approve");
            browser.see(".empty h2", "Nothing waits for a review");
            browser.click("#kg-graph", "");
            browser.see(NODE, "maybe");
            browser.see(EDGE + " text", "urn:example:status 0.2");
            browser.assertQuiet("the review");
        }
    }

    @Test
    @DisplayName("S8: the graph is exported as PNG, SVG and Turtle")
    void theGraphIsExported() {
        try (var hub = new ConsoleHub(librarian());
                Browser browser = Browser.at(hub.url())) {
            update(
                    hub,
                    List.of(
                            add("ex:a", "rdf:type", Map.of("id", "ex:Thing"), 1),
                            add("ex:a", "ex:says", Map.of("value", "\"quoted\" \\ and\nmore", "language", "en"), 0.5),
                            add("ex:a", "ex:size", Map.of("value", 42), 1),
                            add("ex:a", "ex:knows", Map.of("id", "no iri"), 1)));
            browser.go("kg?entity=ex%3Aa");
            browser.see(NODE, "ex:Thing");
            browser.run(SAVE);
            browser.click(".kg-bar button", "Turtle");
            assertThat(saved(browser, "graph.ttl").lines())
                    .containsExactlyInAnyOrder(
                            "# 1 of 4 statements are left out: their ids are no IRIs",
                            "<ex:a> <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> <ex:Thing> . # certainty 1",
                            "<ex:a> <ex:says> \"\\\"quoted\\\" \\\\ and\\nmore\"@en . # certainty 0.5",
                            "<ex:a> <ex:size> \"42\"^^<http://www.w3.org/2001/XMLSchema#integer> . # certainty 1");
            browser.click(".kg-bar button", "SVG");
            assertThat(saved(browser, "graph.svg"))
                    .startsWith("<svg ")
                    .contains("ex:Thing", "stroke=\"rgb(")
                    .doesNotContain("class=", "style=");
            browser.click(".kg-bar button", "PNG");
            assertThat(saved(browser, "graph.png")).contains("PNG").hasSizeGreaterThan(2_000);
            browser.assertQuiet("the exports");
        }
    }

    private static String saved(Browser browser, String name) {
        return String.valueOf(browser.runAsync(SAVED, name));
    }

    @Test
    @DisplayName("S8: a caller of another group sees no statements, names or reviews")
    void anotherGroupSeesNothing() {
        try (var hub = new ConsoleHub(Hub.builder().inMemory().port(0).set("auth", "required"), librarian());
                Browser browser = Browser.at(hub.url())) {
            seed(hub);
            setAside(hub, "maybe");
            browser.go("kg?q=plant&agent=librarian");
            browser.signIn(hub.key("others", "gus"));
            browser.see("#kg p", "No entity matches");
            browser.go(PLANT);
            browser.see(NODE, "ex:plant");
            browser.see(".head .live.ok", "");
            hub.post(
                    "/agents/librarian/kg:update",
                    Map.of("mutations", List.of(add("ex:plant", "ex:name", Map.of("value", "South"), 1))));
            browser.holds("!document.querySelector('.skeleton')");
            assertThat(browser.texts(NODE)).containsExactly("ex:plant");
            browser.click("#kg-reviews", "Reviews");
            browser.see(".empty h2", "Nothing waits");
            browser.assertQuiet("the graph of another group");
        }
    }

    /** Statements about {@code ex:a} with markup as predicate and value, a name that reorders, a long value, and a script as address. */
    static void seedMarkup(ConsoleHub hub, String markup) {
        update(
                hub,
                List.of(
                        add("ex:a", markup, Map.of("id", "\u202Egpj.exe"), 1),
                        add("ex:a", "ex:says", Map.of("value", markup + "\u202Egpj.exe"), 1),
                        add("ex:a", "ex:long", Map.of("value", "W".repeat(900_000)), 1),
                        add("javascript:alert(1)", "ex:knows", Map.of("id", "ex:a"), 1)));
    }

    @Test
    @DisplayName("S8: hostile names and values are text, and short")
    void hostileNamesAreText() {
        String markup = "<img src=x onerror=\"window.attacked=1\"><script>window.attacked=2</script>";
        try (var hub = new ConsoleHub(librarian());
                Browser browser = Browser.at(hub.url())) {
            seedMarkup(hub, markup);
            for (String page : List.of(
                    "kg?entity=ex%3Aa",
                    "kg?q=ex%3Aa", "kg?tab=query&lang=sparql&query=SELECT%20*%20%7B%3Fs%20%3Fp%20%3Fo%7D")) {
                for (String view : page.contains("query") ? List.of("table", "graph", "json") : List.of("")) {
                    browser.go(page + "&view=" + view);
                    browser.see("#kg", view.equals("json") ? "bindings" : "ex:a");
                    assertThat(browser.run("return window.attacked")).isNull();
                    assertThat(
                                    browser.strings(
                                            "return [...document.querySelectorAll('main img, main script, main [href^=javascript]')].map(each => each.outerHTML)"))
                            .isEmpty();
                    String shown = String.valueOf(browser.run("return document.body.innerHTML"));
                    assertThat(shown).doesNotContain("\u202E").hasSizeLessThan(200_000);
                    assertThat(browser.overflow()).isLessThanOrEqualTo(0);
                }
            }
            browser.assertQuiet("hostile names");
        }
    }

    @Test
    @DisplayName("S8: a hub whose agents share no graph says how to share one")
    void noAgentSharesAGraph() {
        try (var hub = new ConsoleHub();
                Browser browser = Browser.at(hub.url())) {
            browser.go("kg");
            browser.see(".empty h2", "No agent shares a graph");
            browser.assertQuiet("a hub without a graph");
        }
    }
}
