package dev.parley.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.dialect.DialectSettings;
import dev.parley.dialect.spi.RequestHead;
import dev.parley.dialect.wire.AuthenticationResult;
import dev.parley.protocol.A2AError;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.CallContext;
import dev.parley.testkit.Eventually;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Refused calls cost little: at most a small body is read, for the id that the answer repeats. */
@Timeout(60)
@Tag("heavy")
final class AuthenticatorTest {
    private static final String HEAD =
            "POST /agents/echo HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n";

    private final ScriptedAgent agent = new ScriptedAgent();

    @Test
    void aLargeRequestIsRefusedBeforeItsBodyIsThere() throws Exception {
        RawClient.Answer answer = answer(HEAD + "Content-Length: 1000000\r\n\r\n{");

        assertThat(answer.status()).isEqualTo(401);
        assertThat(answer.headers()).containsEntry("www-authenticate", "Caller realm=\"test\"");
        assertThat(answer.body()).contains("\"message\":\"Who?\"", "\"id\":null");
        assertThat(agent.asked).isEmpty();
    }

    @Test
    void aRefusalRepeatsTheIdOfASmallRequest() throws Exception {
        String body = "{\"jsonrpc\":\"2.0\",\"method\":\"SendMessage\",\"params\":{},\"id\":\"q-7\"}";

        for (String request : List.of(
                HEAD + "Content-Length: " + body.length() + "\r\n\r\n" + body,
                HEAD + "Transfer-Encoding: chunked\r\n\r\n" + Integer.toHexString(body.length()) + "\r\n" + body
                        + "\r\n0\r\n\r\n")) {
            RawClient.Answer answer = answer(request);

            assertThat(answer.status()).isEqualTo(401);
            assertThat(answer.body()).contains("\"message\":\"Who?\"", "\"id\":\"q-7\"");
        }
        assertThat(agent.asked).isEmpty();
    }

    @Test
    void aRefusalDoesNotWaitForABodyThatIsSentOnlyIfItIsAdmitted() throws Exception {
        RawClient.Answer answer = answer(HEAD + "Content-Length: 10\r\nExpect: 100-continue\r\n\r\n");

        assertThat(answer.status()).isEqualTo(401);
        assertThat(answer.body()).contains("\"id\":null");
    }

    @Test
    void halfABodyWithoutCredentialsHoldsNoThreadUntilTheTimeLimitOfBodies() throws Exception {
        var calls = new Holdings.Calls();
        try (Server server = start()) {
            for (String length : List.of("Content-Length: 100\r\n\r\n{", "Transfer-Encoding: chunked\r\n\r\n9\r\n{")) {
                try (var client = RawClient.to(server)) {
                    RawClient.Answer answer = client.sendExactly(HEAD + length).answer();

                    assertThat(answer.status()).isEqualTo(401);
                    assertThat(answer.body()).contains("\"message\":\"Who?\"", "\"id\":null");
                    Eventually.value("a free server", () -> Holdings.of(server, calls), Holdings.free(0)::equals);
                }
            }
        }
    }

    @Test
    void halfABodyOfHttp2WithoutCredentialsHoldsNoThreadAndNoOtherStream() throws Exception {
        var calls = new Holdings.Calls();
        try (Server server = start();
                var client = RawHttp2Client.to(server)) {
            client.post(1, "/agents/echo", Map.of("content-type", "application/json", "content-length", "100"));
            client.data(1, new byte[50], false);

            client.awaitEnd(1);
            Eventually.value(
                    "no thread and no body",
                    () -> Holdings.of(server, calls),
                    held -> held.streamThreads() == 0 && held.bodyBytes() == 0);

            client.get(3, "/health");
            client.awaitEnd(3);
            client.data(1, new byte[50], true);
            client.get(5, "/health");
            client.awaitEnd(5);
        }
    }

    @Test
    void halfAMessageOfGrpcWithoutCredentialsHoldsNoThreadUntilTheTimeLimitOfBodies() throws Exception {
        var calls = new Holdings.Calls();
        try (Server server = start();
                var client = RawHttp2Client.to(server)) {
            client.call(1, "lf.a2a.v1.A2AService/SendMessage");
            client.data(1, new byte[3], false);

            client.awaitEnd(1);
            Eventually.value(
                    "no thread and no body",
                    () -> Holdings.of(server, calls),
                    held -> held.streamThreads() == 0 && held.bodyBytes() == 0);
        }
    }

    @Test
    void aConnectionGoesOnAfterARefusalWhoseBodyCameLate() throws Exception {
        String body = "{\"jsonrpc\":\"2.0\",\"method\":\"SendMessage\",\"params\":{},\"id\":\"q-7\"}";
        try (Server server = start();
                var client = RawClient.to(server)) {
            for (int i = 0; i < 3; i++) {
                client.sendExactly(HEAD + "Content-Length: " + body.length() + "\r\n\r\n");
                client.sendExactly(body.substring(0, 9)).sendExactly(body.substring(9));

                assertThat(client.answer().body()).contains("\"id\":\"q-7\"");
            }
        }
    }

    private RawClient.Answer answer(String request) throws Exception {
        try (Server server = start();
                var client = RawClient.to(server)) {
            return client.sendExactly(request).answer();
        }
    }

    private Server start() {
        Server server = TestServer.builder()
                .grpc(DialectSettings.DEFAULTS)
                .authenticator(new Authenticator() {
                    @Override
                    public AuthenticationResult admit(String name, RequestHead arrival) {
                        if (!name.equals(arrival.header("x-caller"))) {
                            throw A2AException.refused(A2AError.UNAUTHENTICATED, "Who?", "Caller realm=\"test\"");
                        }
                        return AuthenticationResult.of(CallContext.anonymous());
                    }

                    @Override
                    public boolean lacksCredentials(RequestHead arrival) {
                        return arrival.header("x-caller") == null;
                    }
                })
                .start();
        server.add(agent.served(server, "echo"));
        return server;
    }
}
