package dev.parley.server.helidon;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

final class HelidonVersionTest {
    /**
     * If this fails, the version of Helidon in the root POM has changed: review the repairs in this package by the list of
     * docs/adr/0030, and change {@link HelidonVersion#REVIEWED}.
     */
    @Test
    void helidonIsOfTheVersionThatTheRepairsWereReviewedFor() {
        assertThat(HelidonVersion.running()).isEqualTo(HelidonVersion.REVIEWED);
    }
}
