package org.example.museum;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.parley.client.AgentClient;
import dev.parley.client.spi.ClientException;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.Task;
import dev.parley.spring.HostedHub;
import dev.parley.spring.HubCustomizer;
import dev.parley.spring.test.AgentClients;
import dev.parley.spring.test.ParleyTest;
import dev.parley.trust.Callers;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.TestConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Import;
import org.springframework.test.context.DynamicPropertyRegistry;
import org.springframework.test.context.DynamicPropertySource;

/** Slice of an application with one agent, whose callers the test authenticates. */
@ParleyTest(Guide.class)
@Import(Rooms.Surveyed.class)
@Timeout(90)
final class GuideTest {
    private static final String KEY = "alices-key-of-32-characters-00001";

    @Autowired
    HostedHub hub;

    @TestConfiguration(proxyBeanMethods = false)
    static class WithCallers {
        @Bean
        HubCustomizer callers() {
            return hub -> hub.callers(Callers.builder().apiKey("alice", KEY).build());
        }
    }

    @DynamicPropertySource
    static void authentication(DynamicPropertyRegistry properties) {
        properties.add("parley.auth", () -> "apiKey");
    }

    @Test
    void settingsOfTheTestApply(@Autowired AgentClients agents) {
        assertThatThrownBy(() -> agents.client("guide").send("Guernica")).isInstanceOf(A2AException.class);
        try (AgentClient alice = AgentClient.builder().apiKey(KEY).connect(hub.agentUrl("guide"))) {
            assertThat(((Task) alice.send("Guernica")).text()).isEqualTo("Guernica is in room 1");
        }
    }

    @Test
    void otherAgentsAreNotHosted(@Autowired AgentClients agents) {
        assertThatThrownBy(() -> agents.client("bell")).isInstanceOf(ClientException.class);
    }
}
