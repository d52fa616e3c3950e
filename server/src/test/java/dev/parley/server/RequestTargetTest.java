package dev.parley.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.parley.protocol.A2AException;
import dev.parley.server.wire.RequestTarget;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class RequestTargetTest {
    @ParameterizedTest
    @CsvSource({
        "/agents/echo, /agents/echo",
        "/message:send, /message:send",
        "/a%20b/%C3%BC, /a b/ü",
        "/tasks/a%2fb, /tasks/a%2Fb",
        "/a%2541, /a%41",
        "http://example.com/tasks, /tasks",
        "https://example.com, /",
    })
    void pathsAreDecodedOnceAndKeepTheirSlashes(String raw, String path) {
        assertThat(RequestTarget.path(raw)).isEqualTo(path);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"*", "", "tasks", "/%0d%0aX", "/%00", "/%7f", "/%2", "/%zz", "/%", "/%ff", "/\u00fc", "/a\tb"})
    void whatIsNoPathIsRefused(String raw) {
        assertThatThrownBy(() -> RequestTarget.path(raw)).isInstanceOf(A2AException.class);
    }

    @Test
    void queryParametersKeepTheirOrderAndRepetitions() {
        var query = RequestTarget.query("b=2&a=1+1&b=%2F%26&c&&d=x=y");

        assertThat(query)
                .containsEntry("b", List.of("2", "/&"))
                .containsEntry("a", List.of("1 1"))
                .containsEntry("c", List.of(""))
                .containsEntry("d", List.of("x=y"))
                .hasSize(4);
        assertThat(query.keySet()).containsExactly("b", "a", "c", "d");
    }

    @Test
    void aQueryMayNotHideControlCharacters() {
        assertThatThrownBy(() -> RequestTarget.query("a=%0a")).isInstanceOf(A2AException.class);
    }
}
