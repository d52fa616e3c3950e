package dev.parley.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.agents.DemoAgents;
import dev.parley.engine.Agent;
import dev.parley.hub.Hub;
import dev.parley.trust.Authentication;
import dev.parley.trust.Authentication.Scheme;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** {@code parley hub health}, by which an image of containers asks its hub. */
@Timeout(60)
final class HealthCommandTest {
    @TempDir
    private Path directory;

    @Test
    void aHubThatWantsCredentialsIsAskedWithoutThemAndOneThatEndedIsReported() {
        String url;
        try (Hub hub = Hub.builder()
                .port(0)
                .inMemory()
                .authentication(Authentication.of(Scheme.API_KEY))
                .agents(DemoAgents.all().toArray(Agent[]::new))
                .start()) {
            url = hub.url();

            assertThat(new Shell(directory).run("hub", "health", "--url", url + "/", "-o", "json"))
                    .satisfies(ran -> assertThat(ran.status()).as(ran.err()).isZero())
                    .satisfies(ran -> assertThat(ran.out()).contains("\"status\":\"up\""));
        }

        Shell.Ran ended = new Shell(directory).run("hub", "health", "--url", url);
        assertThat(ended.status()).isNotZero();
        assertThat(ended.err()).contains("start a hub with: parley up");
    }

    @Test
    void anAnswerThatIsNotThatOfAHubIsAProblem() {
        try (Hub hub = Hub.builder()
                .port(0)
                .inMemory()
                .agents(DemoAgents.all().toArray(Agent[]::new))
                .start()) {
            Shell.Ran ran = new Shell(directory).run("hub", "health", "--url", hub.url() + "/nothing");

            assertThat(ran.status()).isNotZero();
            assertThat(ran.err()).contains("/nothing/health answered 404");
        }
    }
}
