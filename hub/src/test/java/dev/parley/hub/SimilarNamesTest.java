package dev.parley.hub;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.parley.engine.Agent;
import dev.parley.engine.spi.SimilarNames;
import java.text.MessageFormat;
import java.util.ArrayList;
import java.util.logging.Handler;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class SimilarNamesTest {
    @ParameterizedTest
    @CsvSource({
        "echo, ech0, true",
        "echo, Echo, true",
        "echo, \u0435ch\u043e, true",
        "echo, \uff25\uff43\uff48\uff4f, true",
        "echo, e\u200bcho, true",
        "echo, \u202eecho, true",
        "uber, \u00fcber, true",
        "\u7ffb\u8a33, \u8981\u7d04, false",
        "\u30ac\u30a4\u30c9, \u30ab\u30a4\u30c8, false",
        "C++, C#, false",
        "billing, bi11ing, true",
        "modern, modem, true",
        "crm-eu, crm.eu, true",
        "echo, echo, false",
        "echo, ping, false",
        "agent-1, agent-2, false",
        "Hello, \u0397ello, true",
        "HERO, \u0397\u0395RO, true",
        "PAY, \u03a1\u0391\u03a5, true",
        "ZEN, \u0396\u0395\u039d, true",
        "Bank, \u0412ank, true",
        "\u03b7\u03bb\u03b9\u03bf\u03c2, \u0397\u039b\u0399\u039f\u03a3, true",
        "agent1, agent\u0661, true",
        "agent2, agent\u06f2, true",
        "agent2, agent\u0663, false"
    })
    void namesThatLookAlikeAreFound(String first, String second, boolean similar) {
        var names = new SimilarNames();
        names.add(first);

        assertThat(names.add(second).isPresent()).isEqualTo(similar);
    }

    @Test
    void aHubWarnsOfAgentsWhoseNamesLookAlike() {
        var warnings = new ArrayList<String>();
        Logger log = Logger.getLogger("dev.parley.hub");
        var handler = new Handler() {
            @Override
            public void publish(LogRecord row) {
                warnings.add(row.getLevel() + " " + MessageFormat.format(row.getMessage(), row.getParameters()));
            }

            @Override
            public void flush() {}

            @Override
            public void close() {}
        };
        log.addHandler(handler);
        try (Hub hub = Hub.builder().inMemory().port(0).agents(agent("echo")).start()) {
            hub.host(agent("ech0"));
        } finally {
            log.removeHandler(handler);
        }

        assertThat(warnings)
                .anySatisfy(warning -> assertThat(warning).startsWith("WARNING").contains("\"echo\" and \"ech0\""));
    }

    private static Agent agent(String name) {
        return Agent.named(name, "Says it again").handle((request, reply) -> reply.complete(request.text()));
    }

    @ParameterizedTest
    @ValueSource(strings = {"\u0435cho", "ech\u043e", "e\u0301cho", "echo\u200b", "\uff45cho", "ec ho"})
    void namesWithOtherLettersThanAsciiAreRefused(String name) {
        assertThatThrownBy(() -> Agent.named(name, "Looks like echo"))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("name");
    }
}
