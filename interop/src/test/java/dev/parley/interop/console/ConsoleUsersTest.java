package dev.parley.interop.console;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.hub.Hub;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The same screens for an operator, a member of a group, a member of another group and a visitor: each sees what its calls may see. */
@Timeout(180)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class ConsoleUsersTest {
    private static final String SECRET = "Minutes that only the sales group may read";

    /** Screens below {@code /ui/} that a signed-in user can open, of operators too. */
    private static final List<String> SCREENS = List.of(
            "",
            "agents",
            "agents/scribe",
            "agents/scribe/try",
            "inbox",
            "tasks",
            "workflows",
            "workflows/new",
            "traces",
            "mesh",
            "registry",
            "kg",
            "metrics",
            "tools",
            "audit",
            "hubs",
            "settings?tab=keys",
            "settings?tab=users",
            "settings?tab=values",
            "settings?tab=deliveries",
            "learn",
            "learn/api");

    private ConsoleHub hub;
    private Browser browser;
    private String ann;
    private String gus;
    private String task = "";

    @BeforeAll
    void start(@TempDir Path data) {
        hub = new ConsoleHub(Hub.builder().data(data).port(0).set("auth", "required"));
        ann = hub.key("sales", "ann");
        gus = hub.key("guests", "gus");
        hub.as(ann, () -> task = hub.send("scribe", SECRET));
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
    void signOut() {
        browser.leave();
        browser.deleteCookies();
        browser.forget();
    }

    @AfterEach
    void quiet() {
        browser.assertQuiet("the screens");
    }

    private void signIn(String key) {
        browser.go("agents");
        browser.signIn(key);
        browser.see("h1", "Agents");
    }

    /** Opens a screen and waits until it is read; its text. */
    private String text(String screen) {
        browser.go(screen);
        browser.see("main h1", "");
        browser.holds("!document.querySelector('main .skeleton')");
        return String.valueOf(browser.run("return document.querySelector('main').innerText"));
    }

    private String denials(String actor) {
        Map<?, ?> rows = hub.call("GET", "/admin/audit?action=call.denied&actor=" + actor, null);
        return String.valueOf(rows.get("rows"));
    }

    @Test
    @DisplayName("an operator opens all screens, and reads tasks of all groups if it asks for them")
    void anOperator() {
        signIn(hub.hub.bootstrapKey().orElseThrow());
        for (String screen : SCREENS) {
            assertThat(text(screen)).as(screen).doesNotContain("Something went wrong");
        }
        browser.go("tasks?group=*");
        browser.see(".body .tr .title", SECRET);
    }

    @Test
    @DisplayName("a member reads the tasks of its own, and no screen makes a call that is denied")
    void aMember() {
        signIn(ann);
        for (String screen : SCREENS) {
            text(screen);
        }
        browser.go("tasks");
        browser.see(".body .tr .title", SECRET);
        assertThat(denials("ann")).isEqualTo("[]");
        browser.go("audit");
        browser.see(".empty code", "admin");
    }

    @Test
    @DisplayName("a member of another group finds the task on no screen, nor by its address")
    void aMemberOfAnotherGroup() {
        signIn(gus);
        for (String screen : SCREENS) {
            assertThat(text(screen)).as(screen).doesNotContain(SECRET);
        }
        for (String screen : List.of("tasks/" + task, "traces/" + task, "tasks?group=*", "tasks?text=Minutes")) {
            browser.go(screen);
            browser.see("main h1, main h2, main .failure", "");
            browser.holds("!document.querySelector('main .skeleton')");
            assertThat(String.valueOf(browser.run("return document.body.innerText")))
                    .as(screen)
                    .doesNotContain("sales group");
        }
        browser.forget("404"); // the browser writes a line for each answer that says that there is no such task
        browser.forget("403");
    }

    @Test
    @DisplayName("a visitor sees the registry and the documentation, and is asked for a credential elsewhere")
    void aVisitor() {
        for (String screen : SCREENS) {
            browser.go(screen);
            browser.see("h1", screen.startsWith("registry") || screen.startsWith("learn") ? "" : "Sign in");
            assertThat(String.valueOf(browser.run("return document.body.innerText")))
                    .as(screen)
                    .doesNotContain(SECRET);
        }
        browser.forget("401");
    }
}
