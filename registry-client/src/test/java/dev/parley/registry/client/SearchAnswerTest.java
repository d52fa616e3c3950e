package dev.parley.registry.client;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.registry.client.SearchAnswer.Result;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class SearchAnswerTest {
    private static final String GOOD =
            "{'identifier':'urn:air:a.example:good','displayName':'Good','score':87.5,'x':[1]}";

    private static SearchAnswer read(String results, String peers) {
        return SearchAnswer.read(("{'results':[" + results + "],'parley:peers':[" + peers + "]}")
                .replace('\'', '"')
                .getBytes(UTF_8));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "{'identifier':'urn:air:x.example:a','displayName':5}",
                "{'identifier':'urn:air:x.example:a','url':{}}",
                "{'identifier':'urn:air:x.example:a','data':'text'}",
                "{'displayName':'no identifier'}",
                "7",
                "null",
                "[]"
            })
    @DisplayName("a result of a peer that cannot be read does not take the others away")
    void badResults(String bad) {
        assertThat(read(bad + "," + GOOD, "").results())
                .extracting(Result::name)
                .containsExactly("Good");
    }

    @Test
    @DisplayName("a result keeps what it was answered with")
    void results() {
        Result result = read(GOOD, "").results().getFirst();

        assertThat(result.score()).isEqualTo(87);
        assertThat(new String(result.json(), UTF_8)).contains("87.5", "\"x\":[1]");
        assertThat(result.reasons()).isNull();
    }

    @Test
    @DisplayName("an outcome of a peer that cannot be read is left out")
    void peers() {
        assertThat(read("", "{'peer':'a','outcome':'ok','millis':-5},{'peer':'b','outcome':'late'}")
                        .peers())
                .extracting(PeerOutcome::peer)
                .containsExactly("b");
    }
}
