package dev.parley.dialect;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import com.code_intelligence.jazzer.junit.FuzzTest;
import dev.parley.dialect.spi.WireAnswer;
import java.util.List;
import org.junit.jupiter.params.provider.MethodSource;

/** Whatever is sent as JSON-RPC, it is answered or refused in the words of the protocol. */
final class JsonRpcFuzzTest {
    private static final List<String> ADDRESSES = List.of("", "/kernel", "/agentvault");

    @MethodSource("dev.parley.dialect.Wire#everything")
    @FuzzTest(maxDuration = "2m")
    void requests(byte[] body) {
        ADDRESSES.forEach(address -> answer(address, body));
    }

    static void answer(String path, byte[] body) {
        var exchange = new Exchange().inEveryDialect().with("Content-Type", "application/json");
        exchange.endpoint.answers = LegacyFuzzTest::answer;

        if (exchange.send("POST", path, body) instanceof WireAnswer.Whole whole) {
            assertThat(whole.status()).isNotEqualTo(500);
            assertThat(new String(whole.body(), UTF_8)).doesNotContain("(reference ");
        }
    }
}
