package dev.parley.hub;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.parley.engine.Agent;
import dev.parley.trust.Authentication;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Secrets in the data directory. */
@Timeout(60)
class SecretScanTest {
    @TempDir
    Path data;

    private HubBuilder hub() {
        return Hub.builder()
                .data(data)
                .port(0)
                .authentication(Authentication.named(List.of("required")))
                .agents(Agent.named("echo", "Echoes").handle((request, reply) -> reply.complete(request.text())));
    }

    @ParameterizedTest
    @CsvSource({
        "token.secret, ''",
        "token.secret, short",
        "webhook.master, ''",
        "webhook.master, short",
        "encryption.key, ''",
        "encryption.key, short"
    })
    void aHubDoesNotStartWithASecretThatAnybodyCanGuess(String name, String content) throws Exception {
        hub().start().close();
        String made = Files.readString(data.resolve(name));
        Files.writeString(data.resolve(name), content);

        assertThatThrownBy(() -> hub().start())
                .isInstanceOf(RuntimeException.class)
                .hasMessageContaining(name)
                .hasMessageContaining("expected: at least 32");
        assertThat(data.resolve(name)).as("is left as it is").hasContent(content);

        Files.writeString(data.resolve(name), made);
        hub().start().close();
    }
}
