package dev.parley.client;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import com.code_intelligence.jazzer.junit.FuzzTest;
import dev.parley.client.SseParser.Frame;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.params.provider.MethodSource;

/** Whatever bytes come from a server or a sender of webhooks, they are read the same way each time, or refused. */
final class DecoderFuzzTest {
    private static final int LIMIT = 1 << 20;
    private static final String SECRET = "whsec_" + "A".repeat(40);

    static Stream<byte[]> streams() {
        return Stream.of(
                        "id: 1\ndata: {\ndata: }\n\n",
                        "\uFEFF:\r\n\rdata\n\n",
                        "event: x\r\nretry: 1\r\nid\0: 2\r\ndata:  é\r\n\r\n")
                .map(text -> text.getBytes(UTF_8));
    }

    @MethodSource("streams")
    @FuzzTest(maxDuration = "2m")
    void eventStreams(byte[] bytes) throws IOException {
        var whole = new ArrayList<Frame>();
        new SseParser(LIMIT).read(ByteBuffer.wrap(bytes), whole::add);

        var pieces = new ArrayList<Frame>();
        var parser = new SseParser(LIMIT);
        for (byte one : bytes) {
            parser.read(ByteBuffer.wrap(new byte[] {one}), pieces::add);
        }

        assertThat(pieces).isEqualTo(whole);
    }

    static Stream<byte[]> headers() {
        return Stream.of("id\n1700000000\nv1,AAAA v1,", "\n-1\n ", "x\n99999999999999999999\nv1,=")
                .map(text -> text.getBytes(UTF_8));
    }

    @MethodSource("headers")
    @FuzzTest(maxDuration = "2m")
    void headersOfWebhooks(byte[] bytes) {
        var headers = new HashMap<String, String>();
        String[] lines = new String(bytes, UTF_8).split("\n", 3);
        for (int i = 0; i < lines.length; i++) {
            headers.put(
                    List.of("webhook-id", "webhook-timestamp", "webhook-signature")
                            .get(i),
                    lines[i]);
        }

        var verdict =
                StandardWebhooks.of(List.of(SECRET)).verify(headers::get, bytes, Instant.ofEpochSecond(1_700_000_000));

        assertThat(verdict).isInstanceOf(StandardWebhooks.Verdict.Rejected.class);
    }
}
