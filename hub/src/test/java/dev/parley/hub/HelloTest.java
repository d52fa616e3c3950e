package dev.parley.hub;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.client.AgentClient;
import dev.parley.engine.Agent;
import dev.parley.protocol.Task;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(30)
final class HelloTest {
    @Test
    void theHelloAgentOfTheReadmeAnswers() throws Exception {
        try (Hub hub = Hub.builder().inMemory().port(0).agents(Hello.agent()).start();
                AgentClient client = AgentClient.connect(hub.url())) {
            Task answer = (Task) client.send("world");

            assertThat(answer.text()).isEqualTo("Hello, world");
        }
    }

    /** The README's program, but for its port. */
    static final class Hello {
        static Agent agent() {
            return Agent.named("hello", "Greets its caller")
                    .skill("greet", "Says hello in the caller's words", "greeting")
                    .handle((request, reply) -> reply.complete("Hello, " + request.text()));
        }
    }
}
