package dev.parley.hub;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.parley.engine.Agent;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class SimilarNamesTest {
    @ParameterizedTest
    @CsvSource({
        "echo, ech0, true",
        "echo, Echo, true",
        "billing, bi11ing, true",
        "modern, modem, true",
        "crm-eu, crm.eu, true",
        "echo, echo, false",
        "echo, ping, false",
        "agent-1, agent-2, false"
    })
    void namesThatLookAlikeAreFound(String first, String second, boolean similar) {
        var names = new SimilarNames();
        names.add(first);

        assertThat(names.add(second).isPresent()).isEqualTo(similar);
    }

    @ParameterizedTest
    @ValueSource(strings = {"\u0435cho", "ech\u043e", "e\u0301cho", "echo\u200b", "\uff45cho", "ec ho"})
    void namesWithOtherLettersThanAsciiAreRefused(String name) {
        assertThatThrownBy(() -> Agent.named(name, "Looks like echo"))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("name");
    }
}
