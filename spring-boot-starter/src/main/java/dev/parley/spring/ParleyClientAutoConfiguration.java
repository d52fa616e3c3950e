package dev.parley.spring;

import dev.parley.client.AgentClient;
import dev.parley.client.AgentClientBuilder;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.support.BeanDefinitionRegistry;
import org.springframework.beans.factory.support.RootBeanDefinition;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.context.properties.bind.Bindable;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.context.EnvironmentAware;
import org.springframework.context.annotation.Import;
import org.springframework.context.annotation.ImportBeanDefinitionRegistrar;
import org.springframework.core.env.Environment;
import org.springframework.core.type.AnnotationMetadata;

/**
 * Clients of agents, as beans with the names of their properties: {@code parley.clients.NAME.url}. Each connects when it is first
 * injected, which reads the card of its agent.
 */
@AutoConfiguration
@Import(ParleyClientAutoConfiguration.Clients.class)
public final class ParleyClientAutoConfiguration {

    /**
     * Properties of a client.
     *
     * @param url of the agent
     * @param apiKey null for none
     * @param bearer token; null for none
     * @param deduplicates see {@link AgentClientBuilder#deduplicates}; null for its default
     */
    record Client(
            String url,
            @Nullable String apiKey,
            @Nullable String bearer,
            @Nullable Boolean deduplicates) {
        AgentClient connect() {
            AgentClientBuilder builder = AgentClient.builder();
            if (deduplicates != null) {
                builder.deduplicates(deduplicates);
            }
            if (apiKey != null) {
                builder.apiKey(apiKey);
            }
            if (bearer != null) {
                builder.bearer(bearer);
            }
            return builder.connect(url);
        }

        /** Without the credentials. */
        @Override
        public String toString() {
            return "client of " + url;
        }
    }

    /** Registers a bean for each client. */
    static final class Clients implements ImportBeanDefinitionRegistrar, EnvironmentAware {
        private @Nullable Environment environment;

        @Override
        public void setEnvironment(Environment environment) {
            this.environment = environment;
        }

        @Override
        public void registerBeanDefinitions(AnnotationMetadata importing, BeanDefinitionRegistry registry) {
            if (environment == null) {
                return;
            }
            PropertyNames.requireKnownOfClients(environment);
            Binder.get(environment)
                    .bind("parley.clients", Bindable.mapOf(String.class, Client.class))
                    .orElse(Map.of())
                    .forEach((name, client) -> register(registry, name, client));
        }

        private static void register(BeanDefinitionRegistry registry, String name, Client client) {
            if (registry.containsBeanDefinition(name)) {
                throw new IllegalArgumentException(
                        "parley.clients." + name + ": a bean has this name (expected: a name that no bean has)");
            }
            registry.registerBeanDefinition(name, definition(name, client));
        }

        private static RootBeanDefinition definition(String name, Client client) {
            if (client.url() == null) {
                throw new IllegalArgumentException(
                        "parley.clients." + name + ".url: missing (expected: the URL of an agent)");
            }
            var definition = new RootBeanDefinition(AgentClient.class, client::connect);
            definition.setLazyInit(true);
            definition.setDestroyMethodName("close");
            return definition;
        }
    }
}
