package dev.parley.interop.console;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.hub.Hub;
import java.nio.file.Path;
import java.util.Map;
import java.util.UUID;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The mesh in the console: its map, the events of a line, standings and reports. */
@Timeout(90)
class MeshScreenTest {
    @TempDir
    private Path directory;

    @Test
    @DisplayName("S12, AK24: a live map has a line for each pair, and standings have their parts")
    void theMapIsLiveAndStandingsHaveTheirParts() {
        try (var hub = kept();
                Browser browser = Browser.at(hub.url())) {
            browser.go("mesh");
            browser.see(".empty h2", "No messages yet");
            hub.send("scribe", "Sum up the minutes");
            hub.send("importer", "Import the rows");

            browser.see(".mesh-map .party text", "scribe");
            browser.see(".mesh-map .party text", "importer");
            browser.see("#mesh .list li", "scribe");
            hub.post(
                    "/one/workflows",
                    WorkflowScreenTest.workflow(
                            WorkflowScreenTest.step("rows", "importer", "importer-skill", Map.of("text", "x"))));
            browser.see("#mesh .list .state.bad", "failed");
            browser.picture("mesh-map");

            browser.click("#mesh-standings", "");
            browser.see("#mesh .tr", "scribe");
            browser.see("#mesh .th", "Success");
            assertThat(browser.texts("#mesh .body .tr"))
                    .anyMatch(row -> row.startsWith("importer") && row.contains("0 %"));
            assertThat(browser.address()).contains("tab=standings");
            browser.assertQuiet("the mesh");
        }
    }

    @Test
    @DisplayName("S12: a click on a line shows its events, in the address")
    void aLineShowsItsEvents() {
        try (var hub = kept();
                Browser browser = Browser.at(hub.url())) {
            String task = hub.send("scribe", "Sum up the minutes");
            browser.go("mesh");
            browser.click("#mesh .list li a", "scribe");
            browser.see("section[aria-label=Events] .list li", "message");
            browser.see("section[aria-label=Events] .list .state.ok", "completed");
            assertThat(browser.address()).contains("scribe");
            browser.reload();
            browser.click("section[aria-label=Events] .list a.link", "task");
            assertThat(browser.address()).contains(task);
            browser.assertQuiet("the events of a line");
        }
    }

    @Test
    @DisplayName("S12, AK26: conflicts and feedback of agents are listed with their contents")
    void conflictsAndFeedbackAreListed() {
        try (var hub = kept();
                Browser browser = Browser.at(hub.url())) {
            browser.go("mesh?tab=reports");
            browser.see(".empty h2", "No conflict, no feedback");
            hub.post("/agents/scribe/one", envelope("feedback", Map.of("rating", 4, "comments", "Well done")));
            hub.send("scribe", "Sum up"); // tasks are changes of the stream
            browser.see("#mesh .list li", "feedback");
            browser.see("#mesh .list li", "Well done");
            browser.assertQuiet("feedback");
        }
    }

    /** Hubs in memory keep no messages of A2A. */
    private ConsoleHub kept() {
        return new ConsoleHub(Hub.builder().data(directory).port(0));
    }

    static Map<String, Object> envelope(String type, Map<String, ?> content) {
        return Map.of(
                "version", "1.0",
                "messageId", UUID.randomUUID().toString(),
                "timestamp", System.currentTimeMillis(),
                "from", Map.of("agentId", "critic", "endpoint", "http://127.0.0.1/agents/critic"),
                "to", Map.of("agentId", "scribe", "endpoint", "http://127.0.0.1/agents/scribe/one"),
                "message", Map.of("type", type, "content", content));
    }
}
