package dev.parley.server;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import com.code_intelligence.jazzer.junit.FuzzTest;
import dev.parley.protocol.A2AError;
import dev.parley.protocol.A2AException;
import dev.parley.server.wire.RequestTarget;
import java.util.stream.Stream;
import org.junit.jupiter.params.provider.MethodSource;

/** Whatever follows the method in a request, it is a path and parameters without anything hidden, or refused. */
final class RequestTargetFuzzTest {
    static Stream<byte[]> examples() {
        return Stream.of(
                        "/agents/echo%20/a%2Fb?pageSize=1&a=b+c&a=%C3%A9",
                        "http://x/%e4?=&&=x", "/%", "/%0d%0aX: y", "*")
                .map(text -> text.getBytes(UTF_8));
    }

    @MethodSource("examples")
    @FuzzTest(maxDuration = "2m")
    void targets(byte[] bytes) {
        String[] target = new String(bytes, UTF_8).split("\\?", 2);
        try {
            assertHarmless(RequestTarget.path(target[0]));
            RequestTarget.query(target.length > 1 ? target[1] : "").forEach((name, values) -> {
                assertHarmless(name);
                values.forEach(RequestTargetFuzzTest::assertHarmless);
            });
        } catch (A2AException refused) {
            assertThat(refused.error()).isEqualTo(A2AError.INVALID_REQUEST);
        }
    }

    private static void assertHarmless(String text) {
        assertThat(text.chars().filter(c -> c < ' ' || c == 0x7f)).isEmpty();
    }
}
