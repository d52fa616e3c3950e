package dev.parley.interop.console;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.hub.Hub;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Hubs in the console: their load, their health, and drains. */
@Timeout(90)
class HubsScreenTest {
    @TempDir
    private Path directory;

    private ConsoleHub hub;
    private Browser browser;

    @BeforeEach
    void start() {
        hub = new ConsoleHub(Hub.builder().data(directory).port(0).set("auth", "required"));
        browser = Browser.at(hub.url());
    }

    @AfterEach
    void stop() {
        browser.assertQuiet("the hubs");
        browser.close();
        hub.close();
    }

    private void open(String path, String heading) {
        browser.go(path);
        browser.signIn(hub.hub.bootstrapKey().orElseThrow());
        browser.see("h1", heading);
    }

    private int status(String path) throws Exception {
        HttpRequest request =
                HttpRequest.newBuilder(URI.create(hub.url() + path)).build();
        return HttpClient.newHttpClient()
                .send(request, BodyHandlers.discarding())
                .statusCode();
    }

    @Test
    @DisplayName("S15: the hub that lives has its address, version, start, tasks, streams and agents, as they change")
    void theHubHasItsLoad() {
        open("hubs", "Hubs");
        browser.see(".hub h2", hub.url());
        browser.see(".hub .state.ok", "live");
        browser.see(".hub dd", "alone, without a cluster");
        browser.see(".hub dd time", ":");
        browser.see(".hub dd", "0 running, 0 waiting");
        browser.see(".hub dd", "1 open");
        browser.see(".hub dd", "hosted");

        hub.begin("worker", "Count the rows");
        browser.see(".hub dd", "1 running");
        hub.step("Count the rows");
        hub.step("Count the rows");
        browser.see(".hub dd", "0 running");
        browser.picture("hubs");
    }

    @Test
    @DisplayName(
            "S15: database, disk, queue and backlog are told in words as by the doctor, with what to do, and checked again")
    void healthIsToldInWords() {
        open("hubs", "Hubs");
        for (String check : new String[] {"database", "disk", "queue", "backlog"}) {
            browser.see(".checks li b", check);
        }
        browser.see(".checks li", "0 tasks wait");
        String before =
                String.valueOf(browser.run("return document.querySelector('[aria-label=Health] time').dateTime"));
        assertThat(directory.resolve("token.secret").toFile().setReadable(true, false))
                .isTrue();

        browser.click("[aria-label=Health] button", "Check now");
        browser.see(".checks li .state.wait", "warning");
        browser.see(".checks li:first-child", "token.secret");
        browser.see(".checks li:first-child", "chmod 600");
        assertThat(browser.run("return document.querySelector('[aria-label=Health] time').dateTime"))
                .isNotEqualTo(before);
    }

    @Test
    @DisplayName("S15: a hub in memory says that it keeps nothing, and how to keep it")
    void aHubInMemorySaysSo() {
        try (var memory = new ConsoleHub();
                Browser other = Browser.at(memory.url())) {
            other.go("hubs");
            other.see(".checks li", "keeps its data in memory");
            other.see(".checks li", "--data DIR");

            other.click(".hub button", "Drain");
            other.click("dialog button", "Drain");
            other.see(".banner", "The hub is drained");
            other.click(".hub button", "Resume");
            other.gone(".banner", "");
            other.assertQuiet("a hub in memory");
        }
    }

    @Test
    @DisplayName(
            "S15: while the database refuses changes, each page says so, operators get the reason, and it ends by itself")
    void aBannerSaysThatChangesAreRefused() throws Exception {
        open("hubs", "Hubs");
        browser.see(".live.ok", "live");
        String member = hub.key("north", "ann", "echo");
        try (Browser other = Browser.at(hub.url())) {
            other.go("tasks");
            other.signIn(member);
            other.see(".live.ok", "live");

            Path database = directory.resolve("parley.db");
            Path aside = directory.resolve("aside.db");
            Files.move(database, aside);
            assertThat(status("/ready")).isEqualTo(503);
            browser.see(".banner.bad", "The hub accepts no changes at the moment: ");
            browser.see(".banner.bad", "is missing");
            browser.click(".banner a", "Health");
            browser.click("[aria-label=Health] button", "Check now");
            browser.see(".checks li:first-child .state.bad", "problem");
            browser.see(".checks li", "tries again by itself");
            browser.picture("hubs-outage");
            other.see(".banner.bad", "The hub accepts no changes at the moment.");
            assertThat(other.texts(".banner a")).isEmpty();

            Files.move(aside, database);
            browser.gone(".banner", "");
            other.gone(".banner", "");
            other.assertQuiet("a page while the database refuses changes");
        }
    }

    @Test
    @DisplayName("S15: a drain is previewed with running tasks and streams, shown on all pages, and ended by Resume")
    void aDrainIsPreviewedAndShownOnAllPages() throws Exception {
        open("hubs", "Hubs");
        hub.begin("worker", "Count the rows");
        browser.see(".hub dd", "1 running");
        browser.click(".hub button", "Drain");
        browser.see("dialog li", "1 running task");
        browser.see("dialog li", "1 open stream");
        browser.picture("hubs-drain");
        assertThat(status("/ready")).isEqualTo(200);

        browser.click("dialog button", "Drain");
        browser.see(".banner", "The hub is drained");
        browser.see(".hub .state.wait", "drained");
        browser.see(".hub dd", "1 task to end");
        assertThat(status("/ready")).isEqualTo(503);
        browser.click("nav a", "Tasks");
        browser.see("h1", "Tasks");
        browser.see(".banner", "The hub is drained");

        browser.click(".banner a", "Resume");
        browser.click(".hub button", "Resume");
        browser.gone(".banner", "");
        assertThat(status("/ready")).isEqualTo(200);
        browser.go("agents/scribe");
        hub.post("/admin/hubs/this/drain", Map.of()); // another operator
        browser.see(".banner", "The hub is drained");
        browser.reload();
        browser.see(".banner", "The hub is drained");
        hub.post("/admin/hubs/this/resume", Map.of());
        browser.gone(".banner", "");
        hub.step("Count the rows");
        hub.step("Count the rows");
    }
}
