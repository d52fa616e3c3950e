package dev.parley.load;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** How answers are told from errors, and events from comments. */
class LoadReadersTest {
    private int heard;

    private static ByteBuffer bytes(String text) {
        return ByteBuffer.wrap(text.getBytes(StandardCharsets.UTF_8));
    }

    private LoadEvents stream(boolean rpc, String text) {
        var events = new LoadEvents(rpc, more -> heard += more);
        events.head(200, true);
        for (int i = 0; i < text.length(); i++) {
            events.body(bytes(text.substring(i, i + 1)));
        }
        return events;
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', nullValues = "none", quoteCharacter = '\'', textBlock = """
            200 | {"jsonrpc":"2.0","id":"1","result":{"error":"told"}}                    | none
            200 | {"jsonrpc":"2.0","id":"1","error":{"code":-32601,"message":"no"}}       | rpc -32601
            200 | {"id":"1", "error": { "message": "no", "code": -32001 }}                | rpc -32001
            200 | hello                                                                   | no json-rpc
            503 | {"jsonrpc":"2.0","id":"1","result":{}}                                  | http 503
            """)
    void anAnswerToJsonRpcIsAnErrorIfItSaysSo(int status, String json, String problem) {
        var answer = new LoadAnswer(true, LoadAnswer.PEEK);

        answer.head(status, false);
        answer.body(bytes(json));

        assertThat(answer.problem()).isEqualTo(problem);
    }

    @Test
    void anAnswerToRestIsAnErrorByItsStatusOnly() {
        var answer = new LoadAnswer(false, LoadAnswer.PEEK);

        answer.head(201, false);
        answer.body(bytes("{\"error\":{\"code\":5}}"));

        assertThat(answer.problem()).isNull();
    }

    @Test
    void eventsAreCountedAndCommentsAreNot() {
        LoadEvents events = stream(
                true,
                ": hello\n\nid: 1\ndata: {\"result\":1}\n\n: keep-alive\n\ndata: {\"result\":\ndata: 2}\r\n\r\ndata: x");

        assertThat(events.events()).isEqualTo(2);
        assertThat(heard).isEqualTo(2);
    }

    @Test
    void aStreamThatEndsWithAnErrorIsAnError() {
        assertThat(stream(true, "data: {\"result\":1}\n\ndata:{\"error\":{\"code\":-32603}}\n\n")
                        .problem())
                .isEqualTo("rpc -32603");
        assertThat(stream(false, "data: {\"task\":1}\n\ndata: {\"error\":{\"code\":500}}\n\n")
                        .problem())
                .isEqualTo("error event");
        assertThat(stream(false, "data: {\"task\":1}\n\n").problem()).isNull();
        assertThat(stream(true, ": nothing\n\n").problem()).isEqualTo("empty stream");
    }

    @Test
    void aStreamThatDoesNotBeginIsJudgedLikeAnyAnswer() {
        var events = new LoadEvents(true, more -> heard += more);

        events.head(200, false);
        events.body(bytes("{\"error\":{\"code\":-32004}}"));

        assertThat(events.problem()).isEqualTo("rpc -32004");
        assertThat(heard).isZero();
    }

    @Test
    void aRequestCarriesAnotherNumberEachTime() {
        LoadRequest request = LoadRequest.of(
                "POST / HTTP/1.1\r\nHost: x\r\n",
                ("{\"messageId\":\"m-" + LoadRequest.NUMBER + "\"}").getBytes(StandardCharsets.UTF_8));

        String first = StandardCharsets.UTF_8.decode(request.numbered(1)).toString();
        String second = StandardCharsets.UTF_8.decode(request.numbered(2)).toString();

        assertThat(first)
                .startsWith("POST / HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n")
                .contains("Content-Length: 34\r\n\r\n")
                .containsPattern("\\{\"messageId\":\"m-[0-9a-f]{16}\"}$");
        assertThat(second).hasSameSizeAs(first).isNotEqualTo(first);
    }
}
