package dev.parley.mesh.hub;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

final class EventPlaceTest {
    @Test
    void aPlaceIsANumberIfReadersOfJsonKeepIt() {
        assertThat(EventPlace.read("9007199254740991").isNumber()).isTrue();
        assertThat(EventPlace.read("9007199254740992").isNumber()).isFalse();
        assertThat(EventPlace.read("4.1099511627776").isNumber()).isFalse();
    }
}
