package dev.parley.dialect;

import static dev.parley.dialect.Exchange.whole;
import static dev.parley.dialect.Wire.text;
import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.protocol.A2AError;
import dev.parley.protocol.A2AException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

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
}
