package dev.parley.outbound.http;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.parley.outbound.http.SseParser.Frame;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class SseParserTest {

    @Test
    void anEventHasItsOwnIdAndItsData() throws Exception {
        assertThat(frames("id: 7\ndata: {\"a\":1}\n\ndata: x\nid: 8\n\ndata: y\n\n"))
                .containsExactly(new Frame("7", "{\"a\":1}"), new Frame("8", "x"), new Frame(null, "y"));
    }

    @Test
    void linesOfDataAreJoined() throws Exception {
        assertThat(frames("data: a\ndata:b\ndata\ndata:  c\n\n")).containsExactly(new Frame(null, "a\nb\n\n c"));
    }

    @Test
    void commentsAndUnknownFieldsSayNothing() throws Exception {
        assertThat(frames(": keep-alive\n\nother: x\nretry: 10\n\nid: 3\n\nid: a\0b\ndata: d\n\n"))
                .containsExactly(new Frame(null, "d"));
    }

    @ParameterizedTest
    @DisplayName("C3: the name of an event decides its type; only events without a name, and messages, are handed out")
    @ValueSource(strings = {"ping", "error", "Message", "messages", "endpoint", "message\ufeff", "\0"})
    void namedEventsAreDropped(String name) throws Exception {
        assertThat(frames("event: " + name + "\ndata: a\n\ndata: b\nevent:" + name + "\nid: 7\n\ndata: c\n\n"))
                .containsExactly(new Frame(null, "c"));
        assertThat(frames("event: message\ndata: a\n\nevent\ndata: b\n\nevent: " + name + "\nevent:\ndata: c\n\n"))
                .extracting(Frame::data)
                .containsExactly("a", "b", "c");
    }

    @Test
    void theIdAndThePauseOfAReconnectionAreThoseThatWereSaidLast() throws Exception {
        var parser = new SseParser(1000);
        assertThat(parser.lastId()).isNull();
        assertThat(parser.retry()).isNull();

        parser.read(
                bytes("id: 1\ndata:\n\nretry: 250\ndata: a\n\nretry: soon\nretry: -1\nid: b\0\n\nid: 2\n"),
                frame -> {});

        assertThat(parser.lastId()).isEqualTo("1");
        assertThat(parser.retry()).isEqualTo(Duration.ofMillis(250));

        parser.read(bytes("event: ping\n\nid\n\nretry: 99999999999999999\n"), frame -> {});

        assertThat(parser.lastId()).isEmpty();
        assertThat(parser.retry()).isEqualTo(Duration.ofMinutes(1));
    }

    @Test
    void aByteOrderMarkIsOverlookedOnceAtTheBeginning() throws Exception {
        assertThat(frames("\ufeffdata: a\n\n")).containsExactly(new Frame(null, "a"));
        assertThat(frames("data: a\n\n\ufeffdata: b\n\n")).containsExactly(new Frame(null, "a"));
    }

    @Test
    void anEventWithoutItsBlankLineIsNotHandedOut() throws Exception {
        assertThat(frames("data: whole\n\ndata: half\n")).containsExactly(new Frame(null, "whole"));
    }

    @ParameterizedTest
    @ValueSource(strings = {"\n", "\r\n", "\r"})
    void piecesMayBreakAnywhere(String lineEnd) throws Exception {
        String text = "id: 1\ndata: grün\n\n: comment\n\nid: 2\ndata: a\ndata: b\n\n".replace("\n", lineEnd);
        byte[] bytes = text.getBytes(UTF_8);
        var expected = List.of(new Frame("1", "grün"), new Frame("2", "a\nb"));

        for (int cut = 0; cut <= bytes.length; cut++) {
            var parser = new SseParser(1000);
            var frames = new ArrayList<Frame>();
            parser.read(ByteBuffer.wrap(bytes, 0, cut), frames::add);
            parser.read(ByteBuffer.wrap(bytes, cut, bytes.length - cut), frames::add);
            assertThat(frames).as("cut at " + cut).isEqualTo(expected);
        }
        var parser = new SseParser(1000);
        var frames = new ArrayList<Frame>();
        for (byte one : bytes) {
            parser.read(ByteBuffer.wrap(new byte[] {one}), frames::add);
        }
        assertThat(frames).isEqualTo(expected);
    }

    @Test
    void anEventLongerThanTheLimitIsRefusedBeforeItIsWhole() throws Exception {
        var parser = new SseParser(20);
        parser.read(bytes("data: 0123456789\n\n"), frame -> {});

        assertThatThrownBy(() -> parser.read(bytes("data: 0123456789abcdef"), frame -> {}))
                .isInstanceOf(SseParser.TooLarge.class)
                .hasMessageContaining("20 bytes");
    }

    @Test
    void manyShortLinesOfOneEventAreNotLongerThanTheyMayBe() {
        assertThatThrownBy(() -> new SseParser(20)
                        .read(bytes("data: 012\ndata: 345\ndata: 678\ndata: 9ab\ndata: cdefgh"), frame -> {}))
                .isInstanceOf(SseParser.TooLarge.class);
    }

    private static List<Frame> frames(String text) throws Exception {
        var frames = new ArrayList<Frame>();
        new SseParser(1000).read(bytes(text), frames::add);
        return frames;
    }

    private static ByteBuffer bytes(String text) {
        return ByteBuffer.wrap(text.getBytes(UTF_8));
    }
}
