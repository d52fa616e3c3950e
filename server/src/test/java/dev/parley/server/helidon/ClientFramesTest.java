package dev.parley.server.helidon;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.parley.server.limits.UnfinishedRequests;
import io.helidon.http.http2.Http2Exception;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ClientFramesTest {
    private static final byte[] PREFACE = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".getBytes(StandardCharsets.US_ASCII);
    private static final String SETTINGS = "000000 04 00 00000000";
    private static final String HEADERS_1 = "000004 01 04 00000001 03030303";
    private static final String HEADERS_3 = "000000 01 05 00000003";
    private static final String DATA_1 = "000005 00 00 00000001 0303030303";
    private static final String DATA_3 = "000005 00 00 00000003 0303030303";
    private static final String RESET_1 = "000004 03 00 00000001 00000008";
    private static final String RESET_3 = "000004 03 00 80000003 00000008";
    private static final String RESET_9 = "000004 03 00 00000009 00000008";

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 9, 13, 24, 40, 1000})
    void onlyTheFirstResetOfAStreamGetsThrough(int piece) {
        var sent = SETTINGS + HEADERS_1 + HEADERS_3 + RESET_1 + RESET_3 + DATA_3 + RESET_1 + RESET_3 + SETTINGS;

        var read = String.join(
                "", read(new ClientFrames(new Http2Streams(new UnfinishedRequests(100).new Share())), sent, piece));

        assertThat(read).isEqualTo(hex(SETTINGS + HEADERS_1 + HEADERS_3 + RESET_1 + RESET_3 + DATA_3 + SETTINGS));
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 9, 13, 24, 40, 1000})
    void theWindowOfAnswersIsTheOneThatTheClientHasSetLast(int piece) {
        var streams = new Http2Streams(new UnfinishedRequests(100).new Share());
        var frames = new ClientFrames(streams);
        assertThat(read(frames, SETTINGS + HEADERS_1, piece)).isNotEmpty();
        assertThat(streams.window()).isEqualTo(65_535);

        more(frames, "00000c 04 00 00000000 0004 00000007 0003 00000064" + HEADERS_3);
        assertThat(streams.window()).isEqualTo(7);

        more(frames, "000012 04 00 00000000 0005 00004000 0004 00000001 0004 7fffffff" + DATA_1);
        assertThat(streams.window()).isEqualTo(Integer.MAX_VALUE);
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 9, 13, 24, 40, 1000})
    void dataAfterAResetGoesOnAsAnUnknownFrame(int piece) {
        var sent = HEADERS_1 + HEADERS_3 + RESET_1 + DATA_1 + DATA_3 + DATA_1;

        var read = String.join(
                "", read(new ClientFrames(new Http2Streams(new UnfinishedRequests(100).new Share())), sent, piece));

        var unknown = DATA_1.replace("000005 00", "000005 fe");
        assertThat(read).isEqualTo(hex(HEADERS_1 + HEADERS_3 + RESET_1 + unknown + DATA_3 + unknown));
    }

    @Test
    void dataAfterResetsIsDroppedUpToALimit() {
        var frames = new ClientFrames(new Http2Streams(new UnfinishedRequests(100).new Share()));
        var large = "008000 00 00 00000001" + "00".repeat(32 * 1024);
        assertThat(read(frames, HEADERS_1 + RESET_1, 1000)).isNotEmpty();

        for (int i = 0; i < 2; i++) {
            frames.add(HexFormat.of().parseHex(bare(large)));
            assertThat(frames.next(1)).startsWith(0, 0x80, 0, 0xfe);
        }

        frames.add(HexFormat.of().parseHex(bare(large)));
        assertThat(frames.next(1)).startsWith(0, 0x80, 0, 0);
    }

    @Test
    void onlyTheLastStreamsThatWereResetAreKnown() {
        var frames = new ClientFrames(new Http2Streams(new UnfinishedRequests(1_000).new Share()));
        assertThat(read(frames, HEADERS_1 + RESET_1, 1000)).isNotEmpty();

        for (int stream = 3; stream <= 201; stream += 2) {
            more(frames, "000000 01 04 %08x 000004 03 00 %08x 00000008".formatted(stream, stream));
        }

        frames.add(HexFormat.of().parseHex(bare(DATA_1)));
        assertThat(frames.next(1)).asHexString().isEqualToIgnoringCase(bare(DATA_1));
        frames.add(HexFormat.of().parseHex(bare(DATA_3)));
        assertThat(frames.next(1)).startsWith(0, 0, 5, 0xfe);
    }

    @Test
    void aResetComesAlone() {
        var read = read(
                new ClientFrames(new Http2Streams(new UnfinishedRequests(100).new Share())),
                HEADERS_1 + RESET_1 + HEADERS_3 + RESET_3,
                1000);

        assertThat(read).containsExactly(hex(HEADERS_1), bare(RESET_1), bare(HEADERS_3), bare(RESET_3));
    }

    @Test
    void headsOfRequestsComeAFewAtATime() {
        var frames = new ClientFrames(new Http2Streams(new UnfinishedRequests(100).new Share()));
        assertThat(read(frames, SETTINGS, 1000)).isNotEmpty();

        frames.add(HexFormat.of().parseHex(bare(HEADERS_1 + HEADERS_3 + DATA_1)));

        assertThat(frames.next(1)).asHexString().isEqualToIgnoringCase(bare(HEADERS_1));
        assertThat(frames.next(1)).asHexString().isEqualToIgnoringCase(bare(HEADERS_3));
        assertThat(frames.next(1)).asHexString().isEqualToIgnoringCase(bare(DATA_1));
        assertThat(frames.next(1)).isEmpty();
    }

    @Test
    void whatMayBeWrongIsNotJudgedHere() {
        var unopened = HEADERS_3 + RESET_9;
        var ofTheWrongLength = HEADERS_1 + "000005 03 00 00000001 0000000000" + SETTINGS;

        assertThat(String.join(
                        "",
                        read(
                                new ClientFrames(new Http2Streams(new UnfinishedRequests(100).new Share())),
                                unopened,
                                1000)))
                .isEqualTo(hex(unopened));
        assertThat(String.join(
                        "",
                        read(
                                new ClientFrames(new Http2Streams(new UnfinishedRequests(100).new Share())),
                                ofTheWrongLength,
                                1000)))
                .isEqualTo(hex(ofTheWrongLength));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "000000 00 08 00000001",
                "000000 01 08 00000001",
                "000004 01 20 00000001 00000000",
                "000005 01 28 00000001 0000000000",
                "000004 02 00 00000001 00000000",
                "000003 03 00 00000001 000000",
                "000007 06 00 00000000 00000000000000",
                "000000 07 00 00000000",
                "000003 08 00 00000000 000000",
            })
    void framesThatAreTooShortEndTheConnection(String frame) {
        var frames = new ClientFrames(new Http2Streams(new UnfinishedRequests(100).new Share()));

        assertThatThrownBy(() -> read(frames, SETTINGS + frame, 1000))
                .isInstanceOf(Http2Exception.class)
                .hasMessage("A frame is too short");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                SETTINGS,
                "000008 06 00 00000000 0102030405060708",
                "000000 09 00 00000001",
                "000000 00 00 00000001",
                "000003 00 08 00000001 020000",
                "000000 fe 00 00000000"
            })
    void framesThatAskForNothingAreNotWithoutNumber(String frame) {
        var frames = new ClientFrames(new Http2Streams(new UnfinishedRequests(100).new Share()));

        assertThat(read(frames, HEADERS_1 + frame.repeat(10_000), 1000)).isNotEmpty();
        assertThatThrownBy(() -> more(frames, frame)).isInstanceOf(Http2Exception.class);
    }

    @Test
    void resetsOfNoStreamAreNotWithoutNumber() {
        var frames = new ClientFrames(new Http2Streams(new UnfinishedRequests(100).new Share()));

        assertThat(read(frames, HEADERS_1 + RESET_1.repeat(2_000), 1000)).isNotEmpty();
        assertThatThrownBy(() -> more(frames, RESET_1)).isInstanceOf(Http2Exception.class);
    }

    @Test
    void openingStreamsAndResettingThemUsesUpCredit() {
        var frames = new ClientFrames(new Http2Streams(new UnfinishedRequests(100).new Share()));
        read(frames, HEADERS_1, 1000);

        assertThatThrownBy(() -> {
                    for (int stream = 3; stream < 50_000; stream += 2) {
                        more(frames, "000000 01 04 %08x 000004 03 00 %08x 00000008".formatted(stream, stream));
                    }
                })
                .isInstanceOf(Http2Exception.class)
                .hasMessage("Too many frames that ask for nothing");
    }

    @Test
    void whoAsksAndReadsMaySendOtherFramesToo() {
        var streams = new Http2Streams(new UnfinishedRequests(100).new Share());
        var frames = new ClientFrames(streams);
        assertThat(read(frames, HEADERS_1 + SETTINGS.repeat(10_000), 1000)).isNotEmpty();

        more(frames, HEADERS_3 + SETTINGS.repeat(4));
        more(frames, DATA_1 + SETTINGS.repeat(4));
        streams.earn();
        more(frames, SETTINGS.repeat(4));

        assertThatThrownBy(() -> more(frames, SETTINGS)).isInstanceOf(Http2Exception.class);
    }

    private static void more(ClientFrames frames, String sent) {
        frames.add(HexFormat.of().parseHex(bare(sent)));
        while (frames.next(Integer.MAX_VALUE).length > 0) {}
    }

    private static List<String> read(ClientFrames frames, String sent, int piece) {
        var all = new ByteArrayOutputStream();
        all.writeBytes(PREFACE);
        all.writeBytes(HexFormat.of().parseHex(bare(sent)));
        var bytes = all.toByteArray();
        var read = new ArrayList<String>();
        for (int from = 0; from < bytes.length; from += piece) {
            frames.add(Arrays.copyOfRange(bytes, from, Math.min(from + piece, bytes.length)));
            for (var next = frames.next(Integer.MAX_VALUE); next.length > 0; next = frames.next(Integer.MAX_VALUE)) {
                read.add(HexFormat.of().formatHex(next));
            }
        }
        return read;
    }

    private static String hex(String frames) {
        return HexFormat.of().formatHex(PREFACE) + bare(frames);
    }

    private static String bare(String frames) {
        return frames.replace(" ", "");
    }
}
