package dev.parley.hub;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

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
}
