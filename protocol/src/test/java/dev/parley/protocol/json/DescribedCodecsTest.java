package dev.parley.protocol.json;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.parley.protocol.A2AException;
import dev.parley.protocol.InvalidField;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

final class DescribedCodecsTest {
    private static final Codec<Integer> LENGTH = DescribedCodecs.like(
            Codecs.COUNT,
            value -> {
                if (value instanceof String text) {
                    return text.length();
                }
                throw InvalidField.of("", value + " (expected: a text)");
            },
            length -> length);

    @Test
    void aCodecIsDescribedAsAnotherAndReadsInItsOwnWay() {
        assertThat(LENGTH.schema()).isEqualTo(Codecs.COUNT.schema());
        assertThat(LENGTH.expected()).isEqualTo(Codecs.COUNT.expected());
        assertThat(LENGTH.fromJson("four")).isEqualTo(4);
        assertThat(LENGTH.toJson(4)).isEqualTo(4);
        assertThatThrownBy(() -> LENGTH.fromJson(4))
                .isInstanceOf(A2AException.class)
                .hasMessageContaining("4 (expected: a text)");
    }

    @Test
    void aCodecInAPathOrAQueryReadsInItsOwnWay() {
        Codec<Boolean> yes = DescribedCodecs.like(
                Codecs.BOOLEAN, Codecs.via(Codecs.TEXT, "yes"::equals, truth -> truth ? "yes" : "no"));

        assertThat(yes.parse("yes", "field")).isTrue();
        assertThat(yes.parse(List.of("no"), "field")).isFalse();
        assertThat(yes.format(true)).isEqualTo("yes");
        assertThat(yes.schema()).isEqualTo(Codecs.BOOLEAN.schema());
    }

    @Test
    void aValueOfSeveralKindsListsTheirSchemas() {
        Codec<Object> scalar = DescribedCodecs.anyOf(Codecs.TEXT, Codecs.BOOLEAN);

        assertThat(scalar.schema())
                .isEqualTo(Map.of("anyOf", List.of(Map.of("type", "string"), Map.of("type", "boolean"))));
        assertThat(scalar.fromJson("a")).isEqualTo("a");
        assertThat(scalar.toJson(true)).isEqualTo(true);
    }
}
