package dev.parley.dialect;

import static dev.parley.dialect.Exchange.whole;
import static dev.parley.dialect.Wire.text;
import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.dialect.spi.WireAnswer;
import dev.parley.protocol.A2AError;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.Task;
import dev.parley.protocol.TaskState;
import dev.parley.protocol.TaskStatus;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

final class LegacyDialectRefusalTest {
    private final Exchange exchange = new Exchange().inEveryDialect();

    private WireAnswer.Whole resubscribe(String accept) {
        exchange.endpoint.failing(A2AException.of(A2AError.UNSUPPORTED_OPERATION));
        return whole(exchange.with("Accept", accept)
                .rpc("{\"jsonrpc\":\"2.0\",\"id\":5,\"method\":\"tasks/resubscribe\",\"params\":{\"id\":\"t-9\"}}"));
    }

    @Test
    void aClientThatReadsOnlyStreamsIsRefusedInOne() {
        var answer = resubscribe("text/event-stream");

        assertThat(answer.status()).isEqualTo(200);
        assertThat(answer.headers()).containsEntry("Content-Type", "text/event-stream");
        assertThat(text(answer.body()))
                .startsWith("data: {\"jsonrpc\":\"2.0\",\"id\":5,\"error\":{\"code\":-32004,")
                .endsWith("}\n\n");
    }

    @ParameterizedTest
    @CsvSource({"'text/event-stream, application/json'", "application/json", "*/*"})
    void anyOtherIsRefusedInJson(String accept) {
        var answer = resubscribe(accept);

        assertThat(answer.headers()).containsEntry("Content-Type", "application/json");
        assertThat(text(answer.body())).startsWith("{\"jsonrpc\":\"2.0\",\"id\":5,\"error\":{\"code\":-32004,");
    }

    @Test
    void whoHasToShowCredentialsFirstSeesItInTheStatus() {
        exchange.endpoint.failing(A2AException.of(A2AError.UNAUTHENTICATED));

        var answer = whole(exchange.with("Accept", "text/event-stream")
                .rpc("{\"jsonrpc\":\"2.0\",\"id\":5,\"method\":\"tasks/resubscribe\",\"params\":{\"id\":\"t-9\"}}"));

        assertThat(answer.status()).isEqualTo(401);
    }

    @Test
    void anErrorOverRestHasTheNameAndTheCodeThatClientsLookFor() {
        exchange.endpoint.failing(A2AException.of(A2AError.TASK_NOT_FOUND));

        var answer = exchange.rest("GET", "/v1/tasks/t-9");

        assertThat(answer.status()).isEqualTo(404);
        assertThat(Tree.of(answer).at("error").text()).isEqualTo("io.a2a.spec.TaskNotFoundError");
        assertThat(Tree.of(answer).at("code").text()).isEqualTo("-32001");
    }

    @Test
    void theDataOfAnErrorAreAnObject() {
        exchange.endpoint.failing(A2AException.of(A2AError.TASK_NOT_FOUND));

        var answer = exchange.rpc("tasks/get", "{\"id\":\"t-9\"}");

        assertThat(answer.at("error", "data", "details", 0, "reason").text()).isEqualTo("TASK_NOT_FOUND");
    }

    @Test
    void aMessageMaySayTwiceOfWhichKindItIs() {
        exchange.endpoint.answering(new Task(
                "t-9", "c-4", TaskStatus.of(TaskState.WORKING, Instant.EPOCH), List.of(), List.of(), Map.of()));

        var answer = exchange.rpc(
                "message/send",
                "{\"message\":{\"kind\":\"message\",\"messageId\":\"m\",\"role\":\"user\",\"parts\":[{\"kind\":\"text\","
                        + "\"text\":\"hi\",\"kind\":\"text\"}],\"kind\":\"message\"}}");

        assertThat(answer.at("result", "id").text()).isEqualTo("t-9");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "{\"kind\":\"text\",\"text\":\"hi\",\"kind\":\"data\"}",
                "{\"kind\":\"text\",\"text\":\"hi\",\"text\":\"hi\"}",
                "{\"kind\":\"text\",\"text\":\"hi\",\"kind\":null}",
                "{\"kind\":{\"a\":1},\"text\":\"hi\",\"kind\":{\"a\":1}}"
            })
    void anythingElseThatIsSaidTwiceIsRefused(String part) {
        var answer = exchange.rpc(
                "message/send",
                "{\"message\":{\"kind\":\"message\",\"messageId\":\"m\",\"role\":\"user\",\"parts\":[" + part + "]}}");

        assertThat(answer.at("error", "code").text()).isEqualTo("-32700");
    }
}
