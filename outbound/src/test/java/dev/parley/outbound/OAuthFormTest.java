package dev.parley.outbound;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.net.httpserver.HttpServer;
import dev.parley.outbound.http.Http1Client;
import dev.parley.outbound.http.LimitedBytes;
import dev.parley.outbound.http.LimitedClient;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.net.http.HttpTimeoutException;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(30)
class OAuthFormTest {
    private static final Duration LIMIT = Duration.ofSeconds(20);

    private final LimitedClient http = Http1Client.of(Duration.ofSeconds(5), null);
    private HttpServer server;
    private URI endpoint;
    private String answer = "{\"access_token\":\"t\",\"token_type\":\"bearer\",\"expires_in\":60}";
    private String request = "";

    @BeforeEach
    void start() throws IOException {
        server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.createContext("/", exchange -> {
            request = exchange.getRequestHeaders().getFirst("Authorization") + " "
                    + new String(exchange.getRequestBody().readAllBytes(), UTF_8);
            byte[] body = answer.getBytes(UTF_8);
            exchange.sendResponseHeaders(answer.startsWith("{\"error") ? 400 : 200, body.length);
            exchange.getResponseBody().write(body);
            exchange.close();
        });
        server.start();
        endpoint = URI.create("http://127.0.0.1:" + server.getAddress().getPort() + "/token");
    }

    @AfterEach
    void stop() {
        http.close();
        server.stop(0);
    }

    private TokenAnswer send(OAuthForm form) throws Exception {
        return form.send(http, null, endpoint, LIMIT);
    }

    @Test
    void eachGrantHasItsParameters() {
        assertThat(new OAuthForm().codeGrant("c", "r", "v").text())
                .isEqualTo("grant_type=authorization_code&code=c&redirect_uri=r&code_verifier=v");
        assertThat(new OAuthForm().refreshGrant("r+").text()).isEqualTo("grant_type=refresh_token&refresh_token=r%2B");
        assertThat(new OAuthForm().credentialsGrant().scopes(List.of("a", "b")).text())
                .isEqualTo("grant_type=client_credentials&scope=a+b");
        assertThat(new OAuthForm().deviceGrant("d").text())
                .isEqualTo("grant_type=urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Adevice_code&device_code=d");
        assertThat(new OAuthForm().exchangeGrant("s").text())
                .startsWith("grant_type=urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Atoken-exchange&subject_token=s&");
    }

    @Test
    void theClientIsInTheFormOrInTheHeader() throws Exception {
        TokenAnswer token = send(new OAuthForm().credentialsGrant().client("me & co", "s+"));

        assertThat(request).isEqualTo("null grant_type=client_credentials&client_id=me+%26+co&client_secret=s%2B");
        assertThat(token.bearer()).isEqualTo("t");
        assertThat(token.life()).isEqualTo(Duration.ofSeconds(60));
        assertThat(token).hasToString("TokenAnswer[200, ***]");

        send(new OAuthForm().credentialsGrant().basicClient("me & co", "s+"));

        assertThat(request).isEqualTo("Basic bWUrJTI2K2NvOnMlMkI= grant_type=client_credentials");
    }

    @Test
    void anAnswerWithoutATokenIsOneToo() throws Exception {
        answer = "{\"error\":\"invalid_grant\"}";
        TokenAnswer refusal = send(new OAuthForm().refreshGrant("r"));
        assertThat(refusal.status()).isEqualTo(400);
        assertThat(refusal.bearer()).isNull();
        assertThat(refusal.members()).containsEntry("error", "invalid_grant");

        answer = "[secret]";
        TokenAnswer other = send(new OAuthForm().refreshGrant("r"));
        assertThatThrownBy(other::bearer).hasMessage("no JSON object");

        answer = "{\"access_token\":\"secret\",\"token_type\":\"mac\"}";
        TokenAnswer mac = send(new OAuthForm().refreshGrant("r"));
        assertThatThrownBy(mac::bearer).hasMessage("token_type mac, expected: bearer");
    }

    @Test
    void anAnswerEndsInTimeAndWithinItsLimit() throws Exception {
        answer = "x".repeat(256 * 1024 + 1);
        assertThatThrownBy(() -> send(new OAuthForm())).isInstanceOf(LimitedBytes.TooLarge.class);

        try (var silent = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            URI place = URI.create("http://127.0.0.1:" + silent.getLocalPort() + "/");
            assertThatThrownBy(() -> new OAuthForm().send(http, null, place, Duration.ofMillis(50)))
                    .isInstanceOf(HttpTimeoutException.class);
        }
    }
}
