package dev.parley.hub;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.parley.engine.Agent;
import dev.parley.trust.Authentication;
import dev.parley.trust.Authentication.Scheme;
import dev.parley.trust.Callers;
import java.net.URI;
import java.util.List;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** A hub without TLS of its own, because a proxy in front ends it. */
@Timeout(60)
@Tag("heavy")
final class BehindProxyTest {
    private static final String PUBLIC = "https://agents.example.com";
    private static final String OPERATOR = "key-of-the-operator-1";

    private static HubBuilder open() {
        return Hub.builder()
                .inMemory()
                .port(0)
                .agents(Agent.named("echo", "Tells the address of its caller")
                        .handle((request, reply) ->
                                reply.complete("address=" + request.context().address() + ";")));
    }

    private static HubBuilder hub() {
        return open().authentication(Authentication.of(Scheme.API_KEY))
                .callers(Callers.builder()
                        .apiKey("operator", OPERATOR)
                        .scopes("operator", List.of("admin"))
                        .build())
                .publicUrl(PUBLIC);
    }

    private static Outsider outsider(Hub hub) {
        return new Outsider("http://127.0.0.1:" + hub.port());
    }

    /** The address of a client as the hub knows it. */
    private static String address(Hub hub, String forwarded) throws Exception {
        return outsider(hub)
                .post(
                        "/agents/echo/message:send",
                        "{'message':{'messageId':'m','role':'ROLE_USER','parts':[{'text':'go'}]}}",
                        "A2A-Version",
                        "1.0",
                        "X-Api-Key",
                        OPERATOR,
                        "X-Forwarded-For",
                        forwarded)
                .body();
    }

    @Test
    @DisplayName("N1 a hub behind a proxy listens at any address without TLS, and shows its public URL only")
    void anyAddress() throws Exception {
        try (Hub hub = hub().bind("0.0.0.0").set("behind-proxy", "true").start()) {
            var card = outsider(hub)
                    .get(
                            "/agents/echo/.well-known/agent-card.json",
                            "X-Forwarded-Host",
                            "evil.example",
                            "X-Forwarded-Proto",
                            "http",
                            "X-Forwarded-Prefix",
                            "/evil",
                            "Forwarded",
                            "host=evil.example");

            assertThat(card.statusCode()).isEqualTo(200);
            assertThat(card.body()).contains(PUBLIC + "/agents/echo").doesNotContain("evil", "http://", "0.0.0.0");
            assertThat(card.headers().firstValue("Strict-Transport-Security")).isPresent();
            assertThat(hub.url()).isEqualTo(PUBLIC);
        }
    }

    @Test
    @DisplayName("N1 the port of operators too")
    void adminPort() throws Exception {
        try (Hub hub = hub().set("behind-proxy", "true")
                .adminPort(0)
                .set("admin-bind", "0.0.0.0")
                .start()) {
            var ready = new Outsider(
                            "http://127.0.0.1:" + URI.create(hub.adminUrl()).getPort())
                    .get("/ready");

            assertThat(ready.statusCode()).isEqualTo(200);
        }
    }

    @Test
    @DisplayName("N1 it needs authentication of every agent and the https URL of the proxy, also in a container")
    void requirements() {
        assertThatThrownBy(() ->
                        open().publicUrl(PUBLIC).set("behind-proxy", "true").start())
                .hasMessageContaining("behind-proxy: without authentication");
        assertThatThrownBy(() -> hub().authentication("echo", Authentication.NONE)
                        .set("behind-proxy", "true")
                        .start())
                .hasMessageContaining("behind-proxy: without authentication");
        assertThatThrownBy(() -> hub().publicUrl("http://agents.example.com")
                        .set("behind-proxy", "true")
                        .start())
                .hasMessageContaining("https URL at which the proxy serves");
        assertThatThrownBy(() ->
                        open().publicUrl(PUBLIC).set("behind-proxy", "true").platform())
                .hasMessageContaining("behind-proxy: without authentication");
        assertThatThrownBy(() -> hub().set("trusted-proxy", "127.0.0.1").start())
                .hasMessageContaining("trusted-proxy: without behind-proxy");
        assertThatThrownBy(() -> hub().set("behind-proxy", "true")
                        .set("trusted-proxy", "proxy.example.com")
                        .start())
                .hasMessageContaining("trusted-proxy \"proxy.example.com\"");
        assertThatThrownBy(() -> hub().bind("0.0.0.0").start()).hasMessageContaining("--behind-proxy");
        assertThatThrownBy(() -> open().bind("0.0.0.0").start()).hasMessageContaining("--behind-proxy");
    }

    @ParameterizedTest
    @DisplayName("S67 a trusted proxy names the client; what others and the client itself write is ignored")
    @CsvSource(
            delimiter = '|',
            value = {
                // trusted proxies | X-Forwarded-For | address of the client
                "                | 203.0.113.7 | 127.0.0.1",
                "10.0.0.0/8      | 203.0.113.7 | 127.0.0.1",
                "127.0.0.1       | 203.0.113.7 | 203.0.113.7",
                "127.0.0.0/8     | 198.51.100.1, 203.0.113.7 | 203.0.113.7",
                "127.0.0.1,10.0.0.0/8 | 198.51.100.1, 203.0.113.7, 10.1.2.3 | 203.0.113.7",
                "127.0.0.1       | 203.0.113.7:4711 | 203.0.113.7",
                "127.0.0.1       | [2001:db8::1]:4711 | 2001:db8:0:0:0:0:0:1",
                "127.0.0.1       | evil.example | 127.0.0.1",
                "127.0.0.1       | 203.0.113.7, unknown | 127.0.0.1",
                "127.0.0.1       | 203.0.113.7, | 127.0.0.1"
            })
    void client(String trusted, String forwarded, String client) throws Exception {
        HubBuilder builder = hub().set("behind-proxy", "true");
        try (Hub hub = (trusted == null ? builder : builder.set("trusted-proxy", trusted)).start()) {
            assertThat(address(hub, forwarded)).contains("address=" + client + ";");
        }
    }

    @Test
    @DisplayName("S14 wrong credentials of a client behind a trusted proxy do not count against the others")
    void guesses() throws Exception {
        try (Hub hub = hub().set("behind-proxy", "true")
                .set("trusted-proxy", "127.0.0.1")
                .start()) {
            int last = 0;
            for (int i = 0; i < 31; i++) {
                last = wrong(hub, "203.0.113.7");
            }

            assertThat(last).isEqualTo(429);
            assertThat(wrong(hub, "203.0.113.8")).isEqualTo(401);
        }
    }

    private static int wrong(Hub hub, String client) throws Exception {
        return outsider(hub)
                .get("/agents/echo/tasks", "X-Api-Key", "wrong-key-1234567890", "X-Forwarded-For", client)
                .statusCode();
    }
}
