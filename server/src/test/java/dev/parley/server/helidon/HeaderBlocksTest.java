package dev.parley.server.helidon;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.helidon.http.http2.Http2Exception;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class HeaderBlocksTest {
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
        // an ordinary name
        "40 02 7465 01 78, 40 02 7465 01 78",
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

    @ParameterizedTest
    @ValueSource(
            strings = {
                // the size of the table, then a field with indexing: name and value have 2 characters, 34 octets with
                // the rest
                "3f 02 40 01 61 01 62",
                "20 40 01 61 01 62",
                // by a name of the static table, and of the dynamic one
                "20 44 01 2f",
                "3f 08 be 40 05 6162636465 00 7e 01 62",
                // in Huffman's code, where five bits are a character
                "3f 04 40 81 1f 83 18c6 3f",
            })
    void fieldsLargerThanTheTableEndTheConnection(String block) {
        assertThatThrownBy(() -> read(frame(block), 1000))
                .isInstanceOf(Http2Exception.class)
                .hasMessage("A header larger than the table for it");
    }

    @Test
    void fieldsThatFitIntoTheTableGoThrough() {
        var fit = frame("3f 03 40 01 61 01 62 40 81 1f 81 1f") + frame("3f e1 1f 40 01 61 01 62 00 01 61 01 62");

        assertThat(read(fit, 1000)).isEqualTo(hex(fit));
    }

    @Test
    void theFramesOfABlockBecomeOne() {
        var begin = "000003 01 01 00000001 83 4005";
        var more = "000000 09 00 80000001" + "000007 09 04 00000001 3a7061746801 2f";

        assertThat(read(begin + more + DATA, 1000)).isEqualTo(hex(frame("83 44 01 2f") + DATA));
    }

    @Test
    void paddingIsLeftOut() {
        assertThat(read("000005 01 0d 00000001 02 82 86 0000", 1000)).isEqualTo(hex("000002 01 05 00000001 82 86"));
    }

    @Test
    void whatDoesNotGoOnIsLeftToHelidon() {
        var begun = "000001 01 01 00000001 82";

        for (var other : List.of(DATA, frame("84"), "000001 09 04 00000003 84")) {
            assertThat(read(begun + other + SETTINGS, 1000)).isEqualTo(hex(begun + other + SETTINGS));
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "40 05 3a70617468 05 2f", // ends in the middle
                "3f 8080808000", // a number of more octets than it needs
            })
    void damagedBlocksEndTheConnection(String block) {
        assertThatThrownBy(() -> read(frame(block), 1000)).isInstanceOf(Http2Exception.class);
    }

    @Test
    void whatOnlyLooksLikeHttp2EndsTheConnection() {
        var almost = "PRI * HTTP/3.0\r\n\r\nSM\r\n\r\n".getBytes(StandardCharsets.US_ASCII);

        assertThatThrownBy(() -> new HeaderBlocks().in(almost)).isInstanceOf(Http2Exception.class);
    }

    @Test
    void blocksHaveAnEnd() {
        assertThat(read(frame("82".repeat(200)), 1000)).isNotEmpty();
        assertThatThrownBy(() -> read(frame("82".repeat(201)), 1000)).isInstanceOf(Http2Exception.class);
        assertThatThrownBy(() -> read("000000 01 01 00000001" + "000000 09 00 00000001".repeat(100), 1000))
                .isInstanceOf(Http2Exception.class);
        var many = "00".repeat(0xfff);
        assertThatThrownBy(
                        () -> read("000fff 01 01 00000001" + many + ("000fff 09 00 00000001" + many).repeat(4), 1000))
                .isInstanceOf(Http2Exception.class);
    }

    private static String read(String frames, int piece) {
        var blocks = new HeaderBlocks();
        var sent = new ByteArrayOutputStream();
        sent.writeBytes(PREFACE);
        sent.writeBytes(HexFormat.of().parseHex(frames.replace(" ", "")));
        var out = new ByteArrayOutputStream();
        var bytes = sent.toByteArray();
        for (int from = 0; from < bytes.length; from += piece) {
            out.writeBytes(blocks.in(java.util.Arrays.copyOfRange(bytes, from, Math.min(from + piece, bytes.length))));
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
