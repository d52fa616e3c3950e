package dev.parley.protocol.json;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.parley.protocol.A2AException;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class LenientCodecsTest {
    private enum Size {
        SMALL,
        LARGE
    }

    private record Order(@Nullable Size size, List<String> tags, long latency) {}

    private static final ObjectCodec<Order> ORDER = ObjectCodec.<Order>of()
            .optional("size", Codecs.orBlank(Codecs.words(Size.class)), Order::size)
            .optional("tags", Codecs.TEXT_OR_TEXTS, List.of(), Order::tags)
            .optional("latency", Codecs.number(-1, 100), -1L, Order::latency)
            .as(v -> new Order(v.next(), v.next(), v.<Long>next()));

    private static Order read(String json) {
        return JsonText.read(json.getBytes(UTF_8), ORDER);
    }

    @Test
    void aBlankWordIsAbsent() {
        assertThat(read("{\"size\":\"\"}").size()).isNull();
        assertThat(read("{\"size\":\" \"}").size()).isNull();
        assertThat(read("{\"size\":\"large\"}").size()).isEqualTo(Size.LARGE);
        assertThat(ORDER.read(null, Map.of(), Map.of("size", List.of(""))).size())
                .isNull();
        assertThatThrownBy(() -> read("{\"size\":\"huge\"}"))
                .isInstanceOf(A2AException.class)
                .hasMessageContaining("small, large");
    }

    @Test
    void oneTextStandsForAListOfIt() {
        assertThat(read("{\"tags\":\"a\"}").tags()).containsExactly("a");
        assertThat(read("{\"tags\":[\"a\",\"b\"]}").tags()).containsExactly("a", "b");
        assertThat(ORDER.read(null, Map.of(), Map.of("tags", List.of("a", "b"))).tags())
                .containsExactly("a", "b");
        assertThatThrownBy(() -> read("{\"tags\":7}")).hasMessageContaining("an array");
    }

    @ParameterizedTest
    @CsvSource({"-1, -1", "0, 0", "100, 100", "5.0, 5", "1e2, 100", "'\"7\"', 7"})
    void wholeNumbersInTheRangeAreRead(String json, long number) {
        assertThat(read("{\"latency\":" + json + "}").latency()).isEqualTo(number);
    }

    @ParameterizedTest
    @ValueSource(strings = {"-2", "101", "1.5", "\"x\"", "1e99", "9223372036854775808", "true", "\"\""})
    void otherNumbersAreRefused(String json) {
        assertThatThrownBy(() -> read("{\"latency\":" + json + "}"))
                .isInstanceOf(A2AException.class)
                .hasMessageContaining("-1 to 100");
    }

    @Test
    void theSchemaIsThatOfWhatIsWritten() {
        assertThat(ORDER.schema(Codec::schema).get("properties"))
                .isEqualTo(Map.of(
                        "size", Map.of("type", "string", "enum", List.of("small", "large")),
                        "tags", Map.of("type", "array", "items", Map.of("type", "string")),
                        "latency", Map.of("type", "integer", "minimum", -1L, "maximum", 100L)));
    }
}
