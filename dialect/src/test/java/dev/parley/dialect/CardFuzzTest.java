package dev.parley.dialect;

import static org.assertj.core.api.Assertions.assertThat;

import com.code_intelligence.jazzer.junit.FuzzTest;
import dev.parley.protocol.A2AException;
import org.junit.jupiter.params.provider.MethodSource;

/** Whatever comes as a card, it is one, or what is wrong with it is said. */
final class CardFuzzTest {
    @MethodSource("dev.parley.dialect.Wire#everything")
    @FuzzTest(maxDuration = "2m")
    void cards(byte[] card) {
        try {
            assertThat(Json.readCard(card)).isNotNull();
        } catch (A2AException refused) {
            assertThat(refused).hasMessageNotContaining("dev.parley");
        }
    }
}
