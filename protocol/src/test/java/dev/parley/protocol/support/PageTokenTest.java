package dev.parley.protocol.support;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.Base64;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class PageTokenTest {
    private static final List<String> QUESTION = List.of("group", "owner", "filter");

    private record Position(long time, String id) {}

    private static Position read(Object question, String token) {
        return PageToken.read(
                question,
                token,
                2,
                fields -> new Position(Long.parseLong(fields.get(0)), fields.get(1)),
                () -> new IllegalStateException("not a token of this list"));
    }

    @ParameterizedTest
    @ValueSource(strings = {"task-1", "", "two\nlines\n", "Grüße, 世界"})
    void aTokenNamesThePositionAfterItsPage(String id) {
        String token = PageToken.of(QUESTION, List.of(17L, id));

        assertThat(read(QUESTION, token)).isEqualTo(new Position(17, id));
        assertThat(token).matches("[\\w-]+");
    }

    @Test
    void aTokenOfAnotherQuestionIsRefused() {
        String token = PageToken.of(QUESTION, List.of(17L, "task-1"));

        assertThatThrownBy(() -> read(List.of("group", "mallory", "filter"), token))
                .isInstanceOf(IllegalStateException.class);
    }

    @Test
    void aTokenWithOtherFieldsIsRefused() {
        assertThatThrownBy(() -> read(QUESTION, PageToken.of(QUESTION, List.of(17L))))
                .isInstanceOf(IllegalStateException.class);
        assertThatThrownBy(() -> read(QUESTION, PageToken.of(QUESTION, List.of("x", "task-1"))))
                .isInstanceOf(IllegalStateException.class);
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "x", "not base64!", "AAAA", "a b", "2", "%00"})
    void aTextThatIsNoTokenIsRefused(String text) {
        assertThatThrownBy(() -> read(QUESTION, text)).isInstanceOf(IllegalStateException.class);
        assertThatThrownBy(() -> read(QUESTION, Base64.getUrlEncoder().encodeToString(text.getBytes(UTF_8))))
                .isInstanceOf(IllegalStateException.class);
    }
}
