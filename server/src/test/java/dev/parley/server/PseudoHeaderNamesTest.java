package dev.parley.server;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class PseudoHeaderNamesTest {
    private static final byte[] PREFACE = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".getBytes(StandardCharsets.US_ASCII);
    private static final String SETTINGS = "000000 04 00 00000000";
    private static final String DATA = "000005 00 01 00000001 40053a7061";

    @ParameterizedTest
    @CsvSource({
        // :path, with indexing, without, and never indexed; then :authority
        "40 05 3a70617468 01 2f, 44 01 2f",
        "00 05 3a70617468 01 2f, 04 01 2f",
        "10 05 3a70617468 01 2f, 14 01 2f",
        "40 0a 3a617574686f72697479 01 78, 41 01 78",
        // between a change of the table's size, fields known by number, and a literal value that looks like such a name
        "3f e1 1f 83 40 05 3a70617468 01 2f 86, 3f e1 1f 83 44 01 2f 86",
        "40 01 78 07 40053a70617468, 40 01 78 07 40053a70617468",
        // ordinary names, and a block that ends in the middle
        "40 02 7465 01 78, 40 02 7465 01 78",
        "40 05 3a70617468 05 2f, 40 05 3a70617468 05 2f",
    })
    void onlyNamesOfPseudoHeadersAreReplaced(String block, String expected) {
        assertThat(read(frame(block) + DATA, 1000)).isEqualTo(hex(frame(expected) + DATA));
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3, 7, 24, 33, 34, 1000})
    void bytesMayComeInAnyPieces(int piece) {
        var sent = SETTINGS + frame("83 40 05 3a70617468 01 2f") + DATA + frame("84") + SETTINGS;

        assertThat(read(sent, piece)).isEqualTo(hex(SETTINGS + frame("83 44 01 2f") + DATA + frame("84") + SETTINGS));
    }

    private static String read(String frames, int piece) {
        var names = new PseudoHeaderNames();
        var sent = new ByteArrayOutputStream();
        sent.writeBytes(PREFACE);
        sent.writeBytes(HexFormat.of().parseHex(frames.replace(" ", "")));
        var out = new ByteArrayOutputStream();
        var bytes = sent.toByteArray();
        for (int from = 0; from < bytes.length; from += piece) {
            out.writeBytes(names.in(java.util.Arrays.copyOfRange(bytes, from, Math.min(from + piece, bytes.length))));
        }
        return HexFormat.of().formatHex(out.toByteArray());
    }

    private static String hex(String frames) {
        return HexFormat.of().formatHex(PREFACE) + frames.replace(" ", "");
    }

    private static String frame(String block) {
        return String.format("%06x", block.replace(" ", "").length() / 2) + " 01 05 00000001 " + block;
    }
}
