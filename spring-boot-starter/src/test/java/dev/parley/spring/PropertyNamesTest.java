package dev.parley.spring;

import static dev.parley.spring.Applications.run;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.Map;
import java.util.logging.Handler;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import org.assertj.core.api.InstanceOfAssertFactories;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.NestedExceptionUtils;
import org.springframework.core.env.MapPropertySource;
import org.springframework.core.env.StandardEnvironment;
import org.springframework.core.env.SystemEnvironmentPropertySource;

/** Names of properties that are known, and those that are misspelt. */
@Timeout(90)
final class PropertyNamesTest {
    private static StandardEnvironment with(String property) {
        var environment = new StandardEnvironment();
        environment.getPropertySources().addFirst(new MapPropertySource("test", Map.of(property, "1")));
        return environment;
    }

    private static void check(StandardEnvironment environment) {
        PropertyNames.requireKnown(environment, ConfigurationMetadata.settings());
        PropertyNames.requireKnownOfClients(environment);
    }

    @ParameterizedTest
    @CsvSource({
        "parley.retentoin, parley.retention",
        "parley.maxBoddy, parley.max-body",
        "parley.max.body, parley.max-body",
        "parley.default_agnet, parley.default-agent",
        "parley.webhook-alow[0], parley.webhook-allow",
        "parley.retention.days, parley.retention",
        "parley.client.shop.url, parley.",
        "parley.clients.shop.ulr, parley.clients.shop.url",
        "parley.clients.shop.apikee, parley.clients.shop.api-key",
        "parley.clients.shop.deduplicate, parley.clients.shop.deduplicates",
        "parley.clients.url, parley.clients.NAME.url"
    })
    void aMisspeltPropertyIsRefusedWithTheNearestName(String property, String nearest) {
        assertThatThrownBy(() -> check(with(property)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining(
                        ": unknown in \"" + property + "\" from property source \"test\" (nearest: " + nearest);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "parley.retention",
                "parley.maxBody",
                "parley.max_body",
                "parley.MAX-BODY",
                "parley.webhook-allow[1]",
                "parley.defaultAgent",
                "parley.path",
                "parley.clients.shop.apiKey",
                "parley.clients.shop.url",
                "parleys.retentoin",
                "retentoin"
            })
    void namesInAllSpellingsAreKnown(String property) {
        assertThatCode(() -> check(with(property))).doesNotThrowAnyException();
    }

    @Test
    void aVariableOfTheProcessThatMayBeMisspeltIsLogged() {
        var environment = new StandardEnvironment();
        String source = StandardEnvironment.SYSTEM_ENVIRONMENT_PROPERTY_SOURCE_NAME;
        environment
                .getPropertySources()
                .replace(
                        source,
                        new SystemEnvironmentPropertySource(
                                source,
                                Map.of(
                                        "PARLEY_RETENTOIN", "30d",
                                        "PARLEY_MAX_BODY", "1",
                                        "PARLEY_WEBHOOK_ALLOW_0", "one.example",
                                        "PARLEY_KEY", "of the program",
                                        "PARLEY_PORT_7420_TCP", "of Kubernetes",
                                        "PARLEY_SERVICE_HOST", "of Kubernetes",
                                        "PARLEY_CLIENTS_SHOP_URL", "http://localhost")));
        var logged = new ArrayList<String>();
        var handler = new Handler() {
            @Override
            public void publish(LogRecord entry) {
                logged.add(entry.getMessage());
            }

            @Override
            public void flush() {}

            @Override
            public void close() {}
        };
        Logger logger = Logger.getLogger("dev.parley.spring");
        logger.addHandler(handler);
        try {
            check(environment);
        } finally {
            logger.removeHandler(handler);
        }

        assertThat(logged).singleElement().asString().contains("PARLEY_RETENTOIN", "(nearest: parley.retention)");
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    static class Empty {}

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    static class InCode {
        @Bean
        HubCustomizer retention() {
            return hub -> hub.set("retention", "10d");
        }
    }

    @Test
    void aPropertyOfASettingThatTheProgramHasGivenIsKnown() {
        try (var application = run(
                InCode.class,
                "--spring.main.web-application-type=none",
                "--parley.in-memory=true",
                "--parley.port=0",
                "--parley.retention=20d")) {
            assertThat(application.isActive()).isTrue();
        }
    }

    @ParameterizedTest
    @CsvSource({
        "true, parley.retentoin, parley.retention",
        "false, parley.clients.shop.bearrer, parley.clients.shop.bearer"
    })
    void anApplicationWithAMisspeltPropertyDoesNotStart(boolean enabled, String property, String nearest) {
        assertThatThrownBy(() -> run(
                        Empty.class,
                        "--spring.main.web-application-type=none",
                        "--parley.in-memory=true",
                        "--parley.port=0",
                        "--parley.enabled=" + enabled,
                        "--" + property + "=1"))
                .extracting(NestedExceptionUtils::getMostSpecificCause, InstanceOfAssertFactories.THROWABLE)
                .hasMessageStartingWith(property + ": unknown in ")
                .hasMessageEndingWith("(nearest: " + nearest + ")");
    }
}
