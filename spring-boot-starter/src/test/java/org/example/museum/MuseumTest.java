package org.example.museum;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.parley.client.AgentClient;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.Task;
import dev.parley.spring.HostedHub;
import dev.parley.spring.test.AgentClients;
import dev.parley.spring.test.ParleyTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.TestConfiguration;
import org.springframework.context.ApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.test.context.TestPropertySource;
import org.springframework.web.context.WebApplicationContext;

/** Slice of an application with its agents only, whose properties are those of a server. */
@ParleyTest
@TestPropertySource("museum.properties")
@Timeout(90)
final class MuseumTest {
    @Autowired
    AgentClients agents;

    @TestConfiguration(proxyBeanMethods = false)
    static class Fake {
        @Bean
        Rooms rooms() {
            return painting -> 7;
        }
    }

    @Test
    void agentsOfComponentsAndConfigurationsAnswer(@Autowired AgentClient first) {
        assertThat(((Task) agents.client("guide").send("Guernica")).text()).isEqualTo("Guernica is in room 7");
        assertThat(((Task) agents.client("bell").send("2")).text()).isEqualTo("ding ding");
        assertThat(((Task) first.send("1")).text()).isEqualTo("ding");
        assertThat(agents.client("guide")).isSameAs(agents.client("guide"));
    }

    @Test
    void otherBeansAreNotInTheApplication(@Autowired ApplicationContext application) {
        assertThat(application.getBeanProvider(Shop.Till.class).stream()).isEmpty();
        assertThat(application.getBeanProvider(Shop.class).stream()).isEmpty();
        assertThat(application.getBeanProvider(Rooms.Surveyed.class).stream()).isEmpty();
        assertThat(application).isNotInstanceOf(WebApplicationContext.class);
    }

    @Test
    void settingsOfTheDeploymentDoNotApplyButOthersDo(@Autowired HostedHub hub) {
        assertThat(hub.url()).matches("http://(localhost|127\\.0\\.0\\.1):\\d+");
        assertThatThrownBy(() -> agents.client("guide").send("Guernica".repeat(300)))
                .isInstanceOf(A2AException.class);
    }
}
