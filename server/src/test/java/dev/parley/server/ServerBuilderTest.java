package dev.parley.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.parley.dialect.DialectSettings;
import dev.parley.dialect.Dialects;
import java.io.UncheckedIOException;
import java.time.Duration;
import org.junit.jupiter.api.Test;

class ServerBuilderTest {
    @Test
    void theDefaultsAreThese() {
        var builder = Server.builder(new Dialects(DialectSettings.DEFAULTS));

        assertThat(builder)
                .hasToString("port=7420 bindAddress=127.0.0.1 publicUrl=null defaultAgent=null maxBodyBytes=10485760"
                        + " maxRequestLineBytes=8192 maxHeaderBytes=16384 maxConnections=16384 maxStreams=10000"
                        + " keepAlive=PT15S gracePeriod=PT10S headerTimeout=PT10S bodyTimeout=PT1M idleTimeout=PT2M"
                        + " writeTimeout=PT1M corsOrigins=[] allowedHosts=[] tls=false grpc=false");
    }

    @Test
    void valuesThatCannotWorkAreRefusedAtOnce() {
        var builder = Server.builder(new Dialects(DialectSettings.DEFAULTS));

        assertThatThrownBy(() -> builder.port(65536)).hasMessage("port: 65536 (expected: 0 to 65535)");
        assertThatThrownBy(() -> builder.maxBodyBytes(0)).hasMessage("maxBodyBytes: 0 (expected: > 0)");
        assertThatThrownBy(() -> builder.keepAlive(Duration.ZERO)).hasMessage("keepAlive: PT0S (expected: > 0)");
        assertThatThrownBy(() -> builder.handler("admin/", (request, body) -> TestServer.text("")))
                .hasMessage("path: admin/ (expected: /name)");
    }

    @Test
    void aPortThatIsTakenIsNamed() {
        try (var first = TestServer.builder().start()) {
            var second = TestServer.builder().port(first.port());

            assertThatThrownBy(second::start)
                    .isInstanceOf(UncheckedIOException.class)
                    .hasMessageContaining("127.0.0.1:" + first.port());
        }
    }

    @Test
    void addressesComeFromTheSettingsAndNotFromRequests() {
        try (var server =
                TestServer.builder().publicUrl("https://agents.example.com/").start()) {
            assertThat(server.url()).isEqualTo("https://agents.example.com");
            assertThat(server.agentUrl("my agent")).isEqualTo("https://agents.example.com/agents/my%20agent");
        }
        try (var server = TestServer.builder().bindAddress("0.0.0.0").start()) {
            assertThat(server.url()).isEqualTo("http://localhost:" + server.port());
        }
    }
}
