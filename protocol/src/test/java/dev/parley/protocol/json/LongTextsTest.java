package dev.parley.protocol.json;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.management.ThreadMXBean;
import dev.parley.protocol.A2AException;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Long texts in large JSON are read as short ones are, in little more memory than they take. */
final class LongTextsTest {
    private static final int LENGTH = 1 << 20;

    private static byte[] bytes(String json) {
        return json.getBytes(StandardCharsets.UTF_8);
    }

    @ParameterizedTest
    @ValueSource(strings = {"x", "é", "€", "😀", "x\"", "\\", "\n", "\u0001"})
    void areReadAsTheyWereWritten(String unit) {
        Map<String, Object> value = Map.of(
                "list",
                List.of("", "short", unit.repeat(LENGTH), unit + "y".repeat(LENGTH), "y".repeat(LENGTH) + unit),
                "x".repeat(2 * LENGTH),
                unit.repeat(LENGTH / 2));

        byte[] json = JsonText.write(new byte[0], Codecs.FREE, value, new byte[0]);

        assertThat(JsonText.read(json, Codecs.STRUCT)).isEqualTo(value);
    }

    @Test
    void areReadInTheMiddleOfBytes() {
        String text = "z".repeat(LENGTH);
        byte[] json = bytes("[\"before\", [\"a\", \"" + text + "\", \"b\"], \"behind\"]");
        int from = bytes("[\"before\", ").length;

        Object read = JsonText.slice(json, from, json.length - bytes(", \"behind\"]").length, Codecs.FREE::read);

        assertThat(read).isEqualTo(List.of("a", text, "b"));
    }

    @ParameterizedTest
    @ValueSource(strings = {"\"%s\n\"", "\"%s\\x\"", "\"%s", "\"%s\" \"%s\""})
    void areRefusedIfTheyAreNoJson(String format) {
        byte[] json = bytes(format.replace("%s", "x".repeat(LENGTH)));

        assertThatThrownBy(() -> JsonText.read(json, Codecs.FREE)).isInstanceOf(A2AException.class);
        assertThatThrownBy(() -> JsonText.request(json, Codecs.FREE::read)).isInstanceOf(A2AException.class);
    }

    @Test
    void takeNoArraysOfCharacters() {
        byte[] json = bytes("[1, [\"" + "x".repeat(8 * LENGTH) + "\"]]");

        assertThat(allocatedBy(() -> JsonText.request(json, Codecs.FREE::read))).isBetween(8L * LENGTH, 12L * LENGTH);
        assertThat(allocatedBy(() -> JsonText.slice(json, 4, json.length - 1, Codecs.FREE::read)))
                .isBetween(8L * LENGTH, 12L * LENGTH);
    }

    private static long allocatedBy(Supplier<Object> reading) {
        var memory = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        long before = memory.getCurrentThreadAllocatedBytes();
        Object read = reading.get();
        long allocated = memory.getCurrentThreadAllocatedBytes() - before;
        assertThat(read).isInstanceOf(List.class);
        return allocated;
    }
}
