package dev.parley.interop.console;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.hub.Hub;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.Timeout;

/** Several tabs of one browser at the console of a hub that requires credentials. */
@Timeout(120)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class ConsoleTabsTest {
    /** One more than the connections that browsers allow to a host. */
    private static final int PAGES = 7;

    private ConsoleHub hub;
    private Browser browser;

    @BeforeEach
    void start() {
        hub = new ConsoleHub(Hub.builder().inMemory().port(0).set("auth", "required"));
        browser = Browser.at(hub.url());
    }

    @AfterEach
    void stop() {
        if (browser != null) {
            browser.close();
        }
        hub.close();
    }

    @Test
    @DisplayName("a tab that is opened by itself is signed in, and a sign-out ends the session of all tabs")
    void tabsShareTheSession() {
        browser.go("tasks");
        browser.signIn(hub.key("team", "alice"));
        browser.see("h1", "Tasks");
        String first = browser.tab();

        String second = browser.openTab("agents");
        browser.see(".tr .agent a", "scribe");
        browser.see(".who", "alice @ team");
        browser.assertQuiet("the second tab");
        browser.click("header button", "Sign out");
        browser.see("h1", "Sign in");

        browser.turnTo(first);
        browser.see("h1", "Sign in");
        assertThat(browser.texts("h1")).doesNotContain("Tasks");
        browser.assertQuiet("the first tab");

        browser.signIn(hub.key("team", "bob"));
        browser.see("h1", "Tasks");
        browser.see(".who", "bob @ team");
        browser.turnTo(second);
        browser.see(".who", "bob @ team");
        browser.see(".tr .agent a", "scribe");
    }

    @Test
    @DisplayName("while the hub ends the session of one tab, the others send nothing that would be refused")
    void tabsAreQuietWhileOneSignsOut() {
        String first = readDuringASignOut(true);
        browser.see("h1", "Sign in");

        browser.turnTo(first);
        browser.see("h1", "Sign in");
        browser.assertQuiet("the first tab");
    }

    @Test
    @DisplayName("a sign-out that fails lets the other tabs go on")
    void tabsGoOnAfterASignOutThatFails() {
        String first = readDuringASignOut(false);
        browser.see(".failure", "The hub does not answer");

        browser.turnTo(first);
        browser.see(".empty h2", "No task yet");
        browser.see(".live.ok", "live");
        browser.assertQuiet("the first tab");
    }

    /** Has a first tab read while the sign-out of a second one waits, then ends that; returns the first tab, and shows the second one. */
    private String readDuringASignOut(boolean succeeds) {
        String first = firstTab();
        String second = signOut(succeeds);

        browser.turnTo(first);
        browser.click("nav a", "Tasks");
        browser.see("main .skeleton", "");
        browser.turnTo(second);
        browser.run("finish()");
        return first;
    }

    private String firstTab() {
        browser.go("agents");
        browser.signIn(hub.key("team", "alice"));
        browser.see(".tr .agent a", "scribe");
        browser.see(".live.ok", "live");
        return browser.tab();
    }

    /** Begins a sign-out in another tab, and returns the tab, which gets no answer before its page calls {@code finish}. */
    private String signOut(boolean isDone) {
        String tab = browser.openTab("agents");
        browser.see(".tr .agent a", "scribe");
        browser.run("""
                const [isDone] = arguments;
                const sent = fetch;
                const finished = new Promise(resolve => (window.finish = resolve));
                window.fetch = async (url, options) => {
                  if (options?.method !== 'DELETE') return sent(url, options);
                  const answer = isDone && (await sent(url, options));
                  window.isAsked = true;
                  await finished;
                  if (answer) return answer;
                  throw new TypeError('No network');
                };
                """, isDone);
        browser.click("header button", "Sign out");
        browser.holds("window.isAsked");
        return tab;
    }

    @Test
    @DisplayName(
            "a tab is signed in also when the one that has the session answers late, and asks no further if that session has ended")
    void aLateAnswerSignsIn() {
        browser.go("tasks");
        browser.signIn(hub.key("team", "alice"));
        browser.see("h1", "Tasks");
        String first = browser.tab();
        browser.run("""
                const post = BroadcastChannel.prototype.postMessage;
                BroadcastChannel.prototype.postMessage = function (data) {
                  setTimeout(() => post.call(this, data), data.kind === 'answer' ? 2_000 : 0);
                };
                """);

        browser.openTab("agents");
        browser.see(".tr .agent a", "scribe");
        browser.see(".who", "alice @ team");
        browser.assertQuiet("the second tab");

        browser.turnTo(first);
        browser.deleteCookies();
        browser.openTab("agents");
        browser.see("h1", "Sign in");
        browser.signIn(hub.key("team", "bob"));
        browser.see(".who", "bob @ team");
    }

    @Test
    @DisplayName(
            "more pages than a browser has connections to a host are live, also when the one that reads the stream is closed")
    void pagesShareTheStream() {
        browser.go("tasks?agent=worker");
        browser.signIn(hub.hub.bootstrapKey().orElseThrow());
        browser.see(".live.ok", "live");
        List<String> windows = new ArrayList<>(List.of(browser.tab()));
        while (windows.size() < PAGES) {
            windows.add(browser.openWindow("tasks?agent=worker"));
            browser.see(".live.ok", "live");
        }
        hub.begin("worker", "Seen in all pages");

        for (String window : windows) {
            browser.turnTo(window);
            assertThat(browser.run("return document.hidden"))
                    .isEqualTo(false); // a hidden page may have left the stream
            browser.see(".body .tr", "Seen in all pages");
            browser.see(".body .tr .status", "40 rows counted");
            browser.assertQuiet("a page");
        }
        browser.turnTo(windows.getFirst());
        browser.closeTab(windows.getLast());
        browser.see(".live.ok", "live");
        hub.step("Seen in all pages");
        browser.see(".body .tr .status", "80 rows counted");
    }
}
