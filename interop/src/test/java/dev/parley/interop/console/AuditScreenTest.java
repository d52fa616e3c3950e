package dev.parley.interop.console;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.hub.Hub;
import java.nio.file.Path;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The audit log in the console: one stream of rows, links to rows, exports. */
@Timeout(90)
class AuditScreenTest {
    @TempDir
    private Path directory;

    private ConsoleHub hub;
    private Browser browser;

    @BeforeEach
    void start() {
        hub = new ConsoleHub(Hub.builder().data(directory).port(0).set("auth", "required"));
        browser = Browser.at(hub.url());
        hub.as(hub.key("team", "ann"), () -> hub.send("scribe", "Sum up the minutes"));
        hub.as(hub.key("others", "gus"), () -> hub.send("importer", "Import the rows"));
    }

    @AfterEach
    void stop() {
        browser.assertQuiet("the audit log");
        browser.close();
        hub.close();
    }

    private void open(String path) {
        browser.go(path);
        browser.signIn(hub.hub.bootstrapKey().orElseThrow());
        browser.see("h1", "Audit");
    }

    @Test
    @DisplayName(
            "S9: one searchable stream shows who did what, on what, the result and from where, verified to its end")
    void oneStreamIsSearchedAndVerified() throws SQLException {
        open("audit");
        browser.see(".audit .body .tr .what", "task.created");
        browser.see(".audit .body .tr .st", "failed");
        browser.see(".audit .body .tr .by", "ann");
        browser.see(".audit .body .tr .address", "127.0.0.1");
        browser.type("input[type=search]", "gus");
        browser.gone(".audit .body .tr .by", "ann");
        browser.see(".audit .body .tr .by", "gus");
        browser.go("audit");

        browser.click(".head button", "Verify");
        browser.see(".check.ok", "Verified to here");
        browser.see(".audit .body .verified", "");
        browser.picture("audit");

        try (var database = DriverManager.getConnection("jdbc:sqlite:" + directory.resolve("parley.db"));
                var statement = database.createStatement()) {
            assertThat(statement.executeUpdate("UPDATE audit SET outcome = 'denied' WHERE action = 'key.created'"))
                    .isPositive();
        }
        browser.click(".head button", "Verify");
        browser.see(".check.bad", "The chain breaks");
    }

    @Test
    @DisplayName("S9: a click on a name, an action or a target filters by it, and a row has a permanent link")
    void aClickFiltersAndARowHasALink() {
        open("audit");
        browser.click(".audit .body .by a", "ann");
        browser.gone(".audit .body .tr .by", "gus");
        assertThat(browser.address()).contains("actor=ann");
        browser.click(".audit .body .what a", "task.created");
        browser.gone(".audit .body .tr .what", "task.moved");
        browser.click(".audit .body .num a", "");
        browser.see("section[aria-label=Row] dd", "task.created");
        assertThat(browser.address()).contains("row=", "actor=ann", "action=task.created");

        String address = browser.address();
        browser.go("audit?" + address.substring(address.indexOf("row=")).replaceAll("&.*", ""));
        browser.see("section[aria-label=Row] dd", "task.created");
        browser.click("section[aria-label=Row] dd a", "");
        browser.see(".artifact .md-h2", "Decisions");
        browser.forget("status of 404"); // the task at its agent, which is of another group
    }

    @Test
    @DisplayName("S9: new rows come by themselves unless they are paused, and rows are exported as NDJSON and CSV")
    void rowsAreFollowedAndExported() {
        open("audit?action=task.created");
        browser.see(".audit .body .tr .what", "task.created");
        int before = browser.texts(".audit .body .tr").size();
        hub.as(hub.key("team", "eve"), () -> hub.send("scribe", "Sum up"));
        browser.see(".audit .body .tr .by", "eve");
        assertThat(browser.texts(".audit .body .tr")).hasSize(before + 1);
        browser.click(".head button", "Pause");
        hub.as(hub.key("team", "fay"), () -> hub.send("scribe", "Sum up"));
        browser.holds("![...document.querySelectorAll('.audit .by')].some(each => each.textContent.includes('fay'))");
        browser.click(".head button", "Follow");
        browser.see(".audit .body .tr .by", "fay");

        browser.recordFiles();
        browser.click(".head button", "NDJSON");
        browser.holds("saved.length === 1");
        List<String> lines = browser.strings("return saved[0].trim().split('\\n')");
        assertThat(lines).hasSize(before + 2).allMatch(line -> line.contains("\"action\":\"task.created\""));
        browser.go("audit?action=key.created");
        browser.see(".audit .body .tr .what", "key.created");
        browser.recordFiles();
        browser.click(".head button", "CSV");
        browser.holds("saved.length === 1");
        assertThat(browser.strings("return saved[0].split('\\r\\n')"))
                .first()
                .asString()
                .startsWith("number,at,group,actor,action,target");
        assertThat(browser.strings("return [saved[0]]").getFirst()).contains("key.created");
        assertThat(browser.runAsync("""
                const done = arguments[arguments.length - 1];
                const module = performance.getEntriesByType('resource').find(each => each.name.endsWith('/export.js')).name;
                import(module).then(({ csv }) => done(csv(['a', 'b'], [{ a: "=cmd|' /C calc'!A0", b: '-1' }, { a: ' @SUM(1)', b: -1 }, { a: 'x"y', b: null }]).split('\\r\\n').join(' / ')));
                """)).isEqualTo("a,b / '=cmd|' /C calc'!A0,'-1 / ' @SUM(1),-1 / \"x\"\"y\", / ");
    }

    @Test
    @DisplayName(
            "S9: on a hub without authentication the rows of tasks are followed; a row that the log does not have is named as such")
    void anOpenHubIsFollowed() {
        try (var open = new ConsoleHub(
                        Hub.builder().data(directory.resolve("open")).port(0));
                Browser other = Browser.at(open.url())) {
            other.go("audit?row=99");
            other.see("section[aria-label=Row] h2", "No such row");
            open.send("scribe", "Sum up");
            other.see(".audit .body .tr .what", "task.created");
            other.assertQuiet("the audit log of an open hub");
        }
    }

    @Test
    @DisplayName(
            "S9: a member without the scope admin has no such page in the navigation, and learns at its address which scope is needed")
    void aMemberIsRefused() {
        browser.go("audit");
        browser.signIn(hub.key("team", "bob"));
        browser.see(".empty code", "admin");
        assertThat(browser.texts(".side a")).noneMatch(each -> each.startsWith("Audit"));
        assertThat(hub.call("GET", "/admin/audit?actor=bob&action=call.denied", null)
                        .get("rows"))
                .isEqualTo(List.of());
    }
}
