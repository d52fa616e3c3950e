package dev.parley.interop.console;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.hub.Hub;
import dev.parley.testkit.Eventually;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.Timeout;
import org.openqa.selenium.Keys;

/** Sign-in at the console of a hub that requires credentials. */
@Timeout(120)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class ConsoleSignInTest {
    private ConsoleHub hub;
    private Browser browser;

    @BeforeAll
    void start() {
        hub = new ConsoleHub(Hub.builder().inMemory().port(0).set("auth", "required"));
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

    @Test
    void aKeySignsInAndIsKeptNowhereInThePage() {
        String key = hub.key("team", "alice");
        browser.go("agents");
        assertThat(browser.texts(".body .tr")).isEmpty();
        browser.assertQuiet("the sign-in");
        browser.signIn(key);

        browser.see(".tr .agent a", "scribe");
        browser.see(".who", "alice @ team");
        browser.assertQuiet("the page after the sign-in");
        assertThat(browser.strings(
                        "return [document.cookie, JSON.stringify(localStorage), JSON.stringify(sessionStorage),"
                                + " document.documentElement.outerHTML, location.href]"))
                .noneMatch(text -> text.contains(key.substring(key.lastIndexOf('_'))));
        browser.reload();
        browser.see(".tr .agent a", "scribe");
    }

    @Test
    void aWrongKeyIsRefusedWithAReason() {
        browser.go("agents");
        browser.signIn("parley_0123456789ab_" + "0".repeat(48));

        browser.see(".failure b", "");
        browser.see("h1", "Sign in");
        browser.signIn(hub.key("team", "alice"));
        browser.see(".tr .agent a", "scribe");
    }

    @Test
    void developersReachTheirAgentVaultAccountWithoutAKey() {
        browser.go("tasks");
        browser.see("h1", "Sign in");
        browser.click(".sign a", "AgentVault account");
        browser.see("form button", "Log in");
        assertThat(browser.address()).endsWith("/ui/registry/account");
        browser.click("nav a", "Registry");
        browser.see("h1", "Registry");
        assertThat(browser.texts("nav a[href*='/ui/']:not(.brand)")).hasSize(2);
    }

    @Test
    void aDeepLinkIsShownAfterTheSignIn() {
        String key = hub.key("team", "carol");
        browser.go("tasks?q=nothing");
        browser.signIn(key);

        browser.see(".empty h2", "No task matches");
        assertThat(browser.address()).endsWith("/ui/tasks?q=nothing");
    }

    @Test
    void signingOutEndsTheSession() {
        browser.go("agents");
        browser.signIn(hub.key("team", "alice"));
        browser.click("header button", "Sign out");
        browser.see("h1", "Sign in");

        browser.reload();
        browser.see("h1", "Sign in");
        browser.go("tasks");
        browser.see("h1", "Sign in");
        assertThat(browser.texts(".body .tr")).isEmpty();
    }

    /** Requests that reach the hub after the session would be refused, and the browser would log each as a failure. */
    @Test
    void requestsThatAreOnTheirWayAreGivenUpWhenTheSessionEnds() {
        browser.go("agents");
        browser.signIn(hub.key("team", "alice"));
        browser.see(".tr .agent a", "scribe");
        browser.run("""
                const sent = fetch;
                window.waiting = [];
                window.fetch = (url, options) => {
                  if (options.method === 'DELETE') window.givenUp = waiting.every(signal => signal?.aborted);
                  if (String(url).includes('/-/session')) return sent(url, options);
                  return new Promise((_, fail) => {
                    waiting.push(options.signal);
                    options.signal?.addEventListener('abort', () => fail(options.signal.reason));
                  });
                };""");
        browser.click("nav a", "Tasks");
        Eventually.holds(
                "a request is on its way", () -> Boolean.TRUE.equals(browser.run("return waiting.length > 0")));

        browser.click("header button", "Sign out");
        browser.see("h1", "Sign in");

        assertThat(browser.run("return givenUp")).isEqualTo(true);
    }

    @Test
    void aRevokedKeyEndsThePageThatIsOpen() {
        String key = hub.key("team", "alice");
        browser.go("tasks");
        browser.signIn(key);
        browser.see("h1", "Tasks");
        browser.see(".live.ok", "live");

        hub.post("/admin/keys/" + key.split("_", -1)[1] + "/revoke", Map.of());

        browser.see("h1", "Sign in"); // within 15 s
        assertThat(browser.texts("h1")).doesNotContain("Tasks");
    }

    @Test
    void aPageWithARevokedKeyAsksForASignInAtItsNextRequest() {
        String key = hub.key("team", "dora");
        browser.go("agents");
        browser.signIn(key);
        browser.see(".tr .agent a", "scribe");

        hub.post("/admin/keys/" + key.split("_", -1)[1] + "/revoke", Map.of());
        browser.click("nav a", "Tasks");

        browser.see("h1", "Sign in");
        browser.signIn(hub.key("team", "erin"));
        browser.see("h1", "Tasks");
        browser.see(".who", "erin @ team");
    }

    @Test
    void membersOfAnotherGroupSeeNothingOfATask() {
        browser.go("agents/scribe/try");
        browser.signIn(hub.key("team", "alice"));
        browser.type("parley-compose textarea", "A secret of the team");
        browser.press(Keys.ENTER);
        browser.see(".of-task .state", "completed");
        browser.go("tasks");
        browser.see(".body .tr", "A secret of the team");
        String task = browser.strings("return [document.querySelector('.body .tr a').getAttribute('href')]")
                .getFirst();

        browser.leave();
        browser.deleteCookies();
        browser.go("tasks");
        browser.signIn(hub.key("others", "mallory"));
        browser.see(".empty h2", "No task yet");
        browser.go(task.substring(task.indexOf("/ui/") + 4));
        browser.see(".failure", "request");
        assertThat(browser.strings("return [document.body.innerText]").getFirst())
                .doesNotContain("secret");
    }
}
