package dev.parley.outbound.http;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import com.code_intelligence.jazzer.junit.FuzzTest;
import dev.parley.outbound.http.SseParser.Frame;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.stream.Stream;
import org.junit.jupiter.params.provider.MethodSource;

/** Whatever bytes come from a server, in whichever pieces, the same events are read. */
final class EventStreamFuzzTest {
    private static final int LIMIT = 1 << 20;

    static Stream<byte[]> examples() {
        return Stream.of(
                        "id: 1\ndata: {\ndata: }\n\n",
                        "\uFEFF:\r\n\rdata\n\n",
                        "event: x\r\nretry: 1\r\nid\0: 2\r\ndata:  é\r\n\r\n")
                .map(text -> text.getBytes(UTF_8));
    }

    @MethodSource("examples")
    @FuzzTest(maxDuration = "2m")
    void streams(byte[] bytes) throws IOException {
        var whole = new ArrayList<Frame>();
        new SseParser(LIMIT).read(ByteBuffer.wrap(bytes), whole::add);

        var pieces = new ArrayList<Frame>();
        var parser = new SseParser(LIMIT);
        for (byte one : bytes) {
            parser.read(ByteBuffer.wrap(new byte[] {one}), pieces::add);
        }

        assertThat(pieces).isEqualTo(whole);
    }
}
