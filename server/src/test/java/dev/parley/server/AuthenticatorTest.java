package dev.parley.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.dialect.Admission;
import dev.parley.protocol.A2AError;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.CallContext;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Who is turned away costs nothing: nobody reads what it goes on to send. */
@Timeout(30)
final class AuthenticatorTest {
    @Test
    void aRequestIsRefusedBeforeItsBodyIsThere() throws Exception {
        var agent = new ScriptedAgent();
        try (Server server = TestServer.builder()
                .authenticator((name, arrival) -> {
                    if (!name.equals(arrival.header("x-caller"))) {
                        throw A2AException.refused(A2AError.UNAUTHENTICATED, "Who?", "Caller realm=\"test\"");
                    }
                    return Admission.of(CallContext.anonymous());
                })
                .start()) {
            server.add(agent.served(server, "echo"));
            try (var client = RawClient.to(server)) {
                RawClient.Answer answer = client.sendExactly(
                                "POST /agents/echo HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
                                        + "Content-Length: 1000000\r\n\r\n{")
                        .answer();

                assertThat(answer.status()).isEqualTo(401);
                assertThat(answer.headers()).containsEntry("www-authenticate", "Caller realm=\"test\"");
                assertThat(answer.body()).contains("\"message\":\"Who?\"");
                assertThat(agent.asked).isEmpty();
            }
        }
    }
}
