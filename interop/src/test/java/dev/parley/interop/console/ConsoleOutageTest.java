package dev.parley.interop.console;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.hub.Hub;
import dev.parley.interop.Nginx;
import java.io.IOException;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.openqa.selenium.Keys;

/** Pages of the console while their hub is down, and after it has started again with its data. */
@Timeout(180)
class ConsoleOutageTest {
    @TempDir
    Path directory;

    private int port;
    private ConsoleHub hub;
    private Browser browser;

    @BeforeEach
    void start() throws IOException {
        port = Nginx.freePort();
        hub = hub();
        browser = Browser.at(hub.url());
    }

    private ConsoleHub hub() {
        return new ConsoleHub(Hub.builder().data(directory).port(port));
    }

    @AfterEach
    void stop() {
        if (browser != null) {
            browser.close();
        }
        hub.close();
    }

    @Test
    @DisplayName(
            "an open chat says that the hub does not answer, keeps what was written, and goes on after the restart")
    void aChatGoesOnAfterARestart() {
        browser.go("agents/scribe/try");
        browser.type("parley-compose textarea", "Before the outage");
        browser.press(Keys.ENTER);
        browser.see(".of-task .state", "completed");
        browser.see(".live.ok", "live");

        hub.close();
        browser.see(".live.wait", "reconnecting");
        browser.type("parley-compose textarea", "During the outage");
        browser.press(Keys.ENTER);
        browser.see(".failure", "The connection is lost");
        browser.see(".say.me", "Before the outage");
        browser.see(".say.me", "During the outage");

        hub = hub();
        // By the button, unless the page has tried by itself while the hub started.
        browser.run("document.querySelector('button.live')?.click()");
        browser.see(".live.ok", "live");
        browser.type("parley-compose textarea", "After the outage");
        browser.press(Keys.ENTER);
        browser.see(".say.me", "After the outage");
        browser.see("parley-conversation:last-of-type", "The summary of 1 parts is ready.");
        browser.reload();
        browser.see(".say.me", "Before the outage");
        browser.see(".say.me", "After the outage");
        assertThat(browser.texts(".say.me").toString()).doesNotContain("During the outage");
    }

    @Test
    @DisplayName("lists show what happened while the hub restarted")
    void aListIsReadAgainAfterARestart() {
        hub.send("importer", "Import before the outage");
        browser.go("tasks");
        browser.see(".body .tr", "Import before the outage");
        browser.see(".live.ok", "live");

        hub.close();
        browser.see(".live.wait", "reconnecting");
        hub = hub();
        hub.send("importer", "Import after the outage");

        browser.see(".body .tr", "Import after the outage");
        browser.see(".body .tr", "Import before the outage");
        browser.see(".live.ok", "live");
        browser.click("nav a", "Agents");
        browser.see(".tr .agent a", "scribe");
    }
}
