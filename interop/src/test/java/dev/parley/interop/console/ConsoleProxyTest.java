package dev.parley.interop.console;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.hub.Hub;
import dev.parley.interop.Nginx;
import dev.parley.interop.Requirement;
import java.io.IOException;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.openqa.selenium.Keys;

/** The console of a hub that nginx serves below a path. The browser calls no address outside that path. */
@Timeout(120)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class ConsoleProxyTest {
    @TempDir
    static Path directory;

    private ConsoleHub hub;
    private Nginx nginx;
    private Browser browser;
    private String url;

    @BeforeAll
    void start() throws IOException {
        int port = Nginx.freePort();
        int hubPort = Nginx.freePort();
        url = "http://localhost:" + port + "/some/hub";
        try {
            nginx = Nginx.start(directory, """
                server {
                    listen 127.0.0.1:%d;
                    location = /some/hub {
                        return 308 /some/hub/;
                    }
                    location /some/hub/ {
                        proxy_pass http://127.0.0.1:%d/;
                        proxy_http_version 1.1;
                        proxy_set_header Connection "";
                        proxy_set_header Host $http_host;
                        proxy_buffering off;
                    }
                }
                """.formatted(port, hubPort));
        } catch (IOException missing) {
            Requirement.missing(String.valueOf(missing.getMessage()));
            throw missing;
        }
        hub = new ConsoleHub(
                Hub.builder().inMemory().port(hubPort).publicUrl(url).set("auth", "required"));
        browser = Browser.at(url);
    }

    @AfterAll
    void stop() {
        if (browser != null) {
            browser.close();
        }
        if (hub != null) {
            hub.close();
        }
        if (nginx != null) {
            nginx.close();
        }
    }

    @Test
    @DisplayName("sign-in, deep links, streams, copied commands and sign-out work below the path of a proxy")
    void theConsoleWorksBelowAPath() {
        browser.go("agents/scribe/try");
        browser.see("h1", "Sign in");
        browser.type("input[type=password]", hub.hub.bootstrapKey().orElseThrow());
        browser.press(Keys.ENTER);
        browser.see("h1", "scribe");
        browser.see(".live.ok", "live");
        browser.forget("status of 401"); // the sign-in

        browser.type("parley-compose textarea", "Please wait");
        browser.press(Keys.ENTER);
        browser.see(".artifact", "First piece.");
        hub.step("Please wait");
        browser.see(".artifact", "First piece. Second piece.");
        browser.see(".of-task .state", "completed");
        browser.click(".say.me .tools button", "curl");
        browser.see("dialog pre", "curl -sN -X POST '" + url + "/agents/scribe");
        browser.press(Keys.ESCAPE);
        browser.gone("dialog", "");
        browser.reload();
        browser.see(".say.me", "Please wait");
        browser.see(".artifact .md", "Decisions");

        browser.click("nav a", "Tasks");
        browser.click(".body .tr a", "Please wait");
        browser.see(".time .step", "Reads the minutes");
        assertThat(browser.address()).startsWith(url + "/ui/tasks/");

        browser.click("nav a", "Agents");
        browser.see(".tr .agent a", "scribe");
        browser.paste(url + "/agents/booking");
        browser.see("dialog .preview h3", "booking");
        browser.see("dialog .preview .skills code", url + "/agents/booking");
        browser.click("dialog footer button", "Close");
        browser.assertQuiet("the console below a path");

        browser.click("header button", "Sign out");
        browser.see("h1", "Sign in");
        browser.reload();
        browser.see("h1", "Sign in");
    }
}
