package dev.parley.cli;

import static dev.parley.cli.ScriptedServer.task;
import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpServer;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** {@code parley auth login}, at an authorization server of the test's own. */
@Timeout(60)
@Tag("heavy")
class LoginCommandTest {
    @TempDir
    Path directory;

    @Test
    @Tag("A2ACLI_AUTH_005")
    @Tag("A2ACLI_AUTH_007")
    @DisplayName("GEM06: a user logs in by device code, and the token goes to the agent from then on")
    void theTokenOfALoginIsKeptAndSent() throws Exception {
        List<String> forms = Collections.synchronizedList(new ArrayList<>());
        HttpServer login = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        String url = "http://127.0.0.1:" + login.getAddress().getPort();
        login.createContext("/", exchange -> {
            forms.add(new String(exchange.getRequestBody().readAllBytes(), StandardCharsets.UTF_8));
            byte[] answer = (exchange.getRequestURI().getPath().equals("/device")
                            ? "{\"device_code\":\"d\",\"user_code\":\"ABCD\",\"verification_uri\":\"" + url
                                    + "/go\",\"interval\":1}"
                            : token(forms.getLast()))
                    .getBytes(StandardCharsets.UTF_8);
            exchange.sendResponseHeaders(200, answer.length);
            exchange.getResponseBody().write(answer);
            exchange.close();
        });
        login.start();
        try (var agent = new ScriptedServer().on("GetTask", task("t1", "COMPLETED"))) {
            agent.showing(agent.card(
                    true,
                    ",\"securitySchemes\":{\"main\":{\"oauth2SecurityScheme\":{\"flows\":{\"deviceCode\":{"
                            + "\"deviceAuthorizationUrl\":\"" + url + "/device\",\"tokenUrl\":\"" + url
                            + "/token\",\"scopes\":{\"read\":\"Reads\"}}}}}},"
                            + "\"securityRequirements\":[{\"schemes\":{\"main\":{\"list\":[\"read\"]}}}]"));
            String[] command = {"auth", "login", "-a", agent.url(), "--client-id", "program"};
            String[] keeping = {"--encrypted-keys", "keys.bin"};
            var shell = new Shell(directory).with("A2ACLI_ENCRYPTED_KEYS_PASSPHRASE", "correct horse battery");

            Shell.Ran nowhere = shell.run(command);
            Shell.Ran stranger = shell.run(with(command, keeping));
            assertThat(forms).isEmpty();
            Shell.Ran ran = shell.run(with(with(command, keeping), "--allow-origin", url));
            Shell.Ran used = shell.run(with(new String[] {"task", "get", "t1", "-a", agent.url()}, keeping));

            assertThat(nowhere.err()).contains("nowhere to keep the token");
            assertThat(stranger.err()).contains("PARLEY_ERR_ORIGIN_NOT_ALLOWED");
            assertThat(ran.status()).as(ran.err()).isZero();
            assertThat(ran.err()).contains("Open in a browser: " + url + "/go", "ABCD");
            assertThat(ran.out() + ran.err()).doesNotContain("t0ken-of-the-user");
            assertThat(forms.getFirst()).contains("client_id=program", "scope=read");
            assertThat(used.status()).as(used.err()).isZero();
            assertThat(forms.getLast()).contains("grant_type=refresh_token", "refresh_token=first");
            assertThat(agent.asked().getLast().headers().getFirst("Authorization"))
                    .as("the first token expired at once")
                    .isEqualTo("Bearer t0ken-that-is-renewed");

            Shell.Ran again = shell.run(with(new String[] {"task", "get", "t1", "-a", agent.url()}, keeping));
            assertThat(again.status()).isEqualTo(4);
            assertThat(again.err())
                    .contains("A2ACLI_ERR_AUTH_FAILED", "has expired", "log in again: parley auth login")
                    .doesNotContain("t0ken", "second");
            assertThat(agent.asked()).hasSize(1);
        } finally {
            login.stop(0);
        }
    }

    /** Tokens that expire at once; the second refresh token is not accepted. */
    private static String token(String form) {
        if (form.contains("refresh_token=second")) {
            return "{\"error\":\"invalid_grant\"}";
        }
        return form.contains("refresh_token=first")
                ? "{\"access_token\":\"t0ken-that-is-renewed\",\"expires_in\":0,\"refresh_token\":\"second\"}"
                : "{\"access_token\":\"t0ken-of-the-user\",\"token_type\":\"Bearer\",\"expires_in\":0,"
                        + "\"refresh_token\":\"first\"}";
    }

    private static String[] with(String[] command, String... more) {
        var all = new ArrayList<>(List.of(command));
        all.addAll(List.of(more));
        return all.toArray(String[]::new);
    }
}
