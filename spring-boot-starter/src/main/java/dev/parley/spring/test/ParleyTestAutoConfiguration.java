package dev.parley.spring.test;

import dev.parley.client.AgentClient;
import dev.parley.spring.HostedHub;
import dev.parley.spring.HubCustomizer;
import dev.parley.spring.ParleyAutoConfiguration;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Fallback;
import org.springframework.context.annotation.Lazy;
import org.springframework.core.Ordered;
import org.springframework.core.annotation.Order;
import org.springframework.core.env.ConfigurableEnvironment;

/** Beans of a {@link ParleyTest}. */
@AutoConfiguration(after = ParleyAutoConfiguration.class)
public final class ParleyTestAutoConfiguration {
    @Bean
    @Order(Ordered.HIGHEST_PRECEDENCE)
    HubCustomizer parleyTestSettings(ConfigurableEnvironment environment) {
        return hub -> hub.settings(new TestSettings(environment));
    }

    @Bean
    AgentClients parleyTestClients(HostedHub hub) {
        return new AgentClients(hub);
    }

    /** Clients that the application has itself come first. */
    @Bean(destroyMethod = "")
    @Lazy
    @Fallback
    AgentClient parleyTestClient(AgentClients clients) {
        return clients.client();
    }
}
