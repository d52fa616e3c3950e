package dev.parley.server.helidon;

import static org.assertj.core.api.Assertions.assertThat;

import com.code_intelligence.jazzer.junit.FuzzTest;
import dev.parley.server.limits.UnfinishedRequests;
import io.helidon.http.http2.Http2Exception;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.params.provider.MethodSource;

/** Whatever frames of HTTP/2 come, in whichever pieces, the same reaches Helidon. */
final class FramesFuzzTest {
    private static final byte[] PREFACE = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".getBytes(StandardCharsets.US_ASCII);

    static Stream<byte[]> examples() {
        return Stream.of(
                        "000000 04 00 00000000",
                        "000010 01 05 00000001 83 40053a7061746801 2f 40017801 79 86",
                        "00000f 01 2d 00000003 02 0000000010 40053a70617468012f 0000",
                        "000005 00 00 00000001 0303030303 000004 03 00 00000001 00000008",
                        "000003 01 00 00000005 82860f 000000 09 04 00000005 000004 03 00 80000005 00000000")
                .map(frames -> HexFormat.of().parseHex(frames.replace(" ", "")));
    }

    @MethodSource("examples")
    @FuzzTest(maxDuration = "2m")
    void frames(byte[] frames) {
        assertThat(read(frames, 1)).isEqualTo(read(frames, Math.max(1, frames.length)));
    }

    /** Returns what reaches Helidon; null if the connection ends before. */
    private static byte @Nullable [] read(byte[] frames, int piece) {
        var blocks = new HeaderBlocks();
        var followed = new ClientFrames(new Http2Streams(new UnfinishedRequests(100).new Share()));
        var out = new ByteArrayOutputStream();
        try {
            followed.add(blocks.in(PREFACE));
            for (int from = 0; from <= frames.length; from += piece) {
                for (byte[] next = followed.next(Integer.MAX_VALUE);
                        next.length > 0;
                        next = followed.next(Integer.MAX_VALUE)) {
                    out.writeBytes(next);
                }
                if (from < frames.length) {
                    int to = Math.min(from + piece, frames.length);
                    followed.add(blocks.in(Arrays.copyOfRange(frames, from, to)));
                }
            }
            return out.toByteArray();
        } catch (Http2Exception ended) {
            return null;
        }
    }
}
