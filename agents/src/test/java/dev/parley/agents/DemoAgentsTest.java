package dev.parley.agents;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.InstanceOfAssertFactories.type;

import dev.parley.engine.Agent;
import dev.parley.protocol.AgentCard;
import dev.parley.protocol.Artifact;
import dev.parley.protocol.Message;
import dev.parley.protocol.Part;
import dev.parley.protocol.Task;
import dev.parley.protocol.TaskState;
import dev.parley.testkit.LocalAgent;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(20)
final class DemoAgentsTest {
    @Test
    void thereIsOneOfEach() {
        assertThat(DemoAgents.all())
                .extracting(Agent::name)
                .containsExactly("ping", "echo", "counter", "interview", "analyst", "sensor", "diagnosis", "watchdog");
    }

    @Test
    void everyCardTellsWhatToTry() {
        for (Agent agent : DemoAgents.all()) {
            AgentCard card = agent.card(List.of(new AgentCard.Interface("http://127.0.0.1", "JSONRPC", null, "1.0")));

            assertThat(card.skills())
                    .isNotEmpty()
                    .allSatisfy(skill -> assertThat(skill.examples()).isNotEmpty());
            assertThat(card.description()).isNotBlank();
        }
    }

    @Test
    void pingAnswersWithAMessageAlone() {
        try (var ping = LocalAgent.of(agent("ping"))) {
            assertThat(ping.answer(Message.user(Part.text("hello"))))
                    .asInstanceOf(type(Message.class))
                    .extracting(Message::text)
                    .isEqualTo("pong: hello");
            assertThat(ping.answer(Message.user(Part.data(1))))
                    .asInstanceOf(type(Message.class))
                    .extracting(Message::text)
                    .isEqualTo("pong");
        }
    }

    @Test
    void echoCompletesWithOneArtifactThatHoldsTheText() {
        try (var echo = LocalAgent.of(agent("echo"))) {
            Task task = echo.send(Part.text("say it again"));

            assertThat(task.state()).isEqualTo(TaskState.COMPLETED);
            assertThat(task.artifacts())
                    .singleElement()
                    .extracting(Artifact::parts)
                    .isEqualTo(List.of(Part.text("say it again")));
        }
    }

    /** AWT takes longer to load than all of a small hub, so it must wait for the first chart. */
    @Test
    void makingTheAgentsLoadsNothingOfAwt() throws IOException, InterruptedException {
        Process java = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-Xlog:class+load",
                        "-cp",
                        System.getProperty("java.class.path"),
                        MakeAll.class.getName())
                .redirectErrorStream(true)
                .start();

        String log = new String(java.getInputStream().readAllBytes(), StandardCharsets.UTF_8);

        assertThat(java.waitFor()).isZero();
        assertThat(log).contains("dev.parley.agents.Analyst ").doesNotContain("java.awt.", "sun.java2d.");
    }

    /** The program of the test above. */
    static final class MakeAll {
        private MakeAll() {}

        public static void main(String[] args) {
            if (DemoAgents.all().isEmpty()) {
                throw new AssertionError("no agents");
            }
        }
    }

    private static Agent agent(String name) {
        return DemoAgents.all().stream()
                .filter(agent -> agent.name().equals(name))
                .findAny()
                .orElseThrow();
    }
}
