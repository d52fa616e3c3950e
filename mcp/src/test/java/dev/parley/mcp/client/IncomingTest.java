package dev.parley.mcp.client;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/** What a client takes a text of a server for. */
final class IncomingTest {
    private static final String MESSAGE =
            "{\"jsonrpc\":\"2.0\",\"method\":\"ping\",\"params\":{\"id\":[\"\\\"\"]},\"id\":17}";

    @Test
    void aMessageThatEndsAnywhereIsDamagedOrNoise() {
        for (int length = 0; length < MESSAGE.length(); length++) {
            assertThat(read(MESSAGE.substring(0, length)))
                    .describedAs("the first %d characters", length)
                    .isNotInstanceOf(Incoming.Message.class);
        }
        assertThat(read(MESSAGE)).isInstanceOf(Incoming.Message.class);
    }

    @Test
    void aNameWithoutItsLastQuoteIsNoMember() {
        assertThat(read("{\"jsonrpc\":\"2.0\",\"id"))
                .isInstanceOfSatisfying(
                        Incoming.Damaged.class,
                        damaged -> assertThat(damaged.id()).isNull());
        assertThat(read("{\"jsonrpc\":\"2.0\",\"id\\")).isInstanceOf(Incoming.Damaged.class);
    }

    @Test
    void theIdOfADamagedMessageIsFoundAlthoughAnotherOneLiesDeeper() {
        assertThat(read("{\"jsonrpc\":\"2.0\",\"params\":{\"id\":3},\"id\":17,\"result\":"))
                .isInstanceOfSatisfying(
                        Incoming.Damaged.class,
                        damaged -> assertThat(damaged.id()).isEqualTo("17"));
    }

    private static Incoming read(String text) {
        return Incoming.of(text.getBytes(UTF_8));
    }
}
