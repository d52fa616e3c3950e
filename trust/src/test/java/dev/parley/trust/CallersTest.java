package dev.parley.trust;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Who is known by what, and where it may be written. */
final class CallersTest {
    private static final String KEY = "key-of-alice-1234";
    private static final String SECRET = "secret-of-the-shop";

    @TempDir
    private Path directory;

    @Test
    void callersAreKnownByTheirSecrets() {
        Callers callers = Callers.builder()
                .apiKey("alice", KEY)
                .apiKey("alice", KEY + "-next")
                .bearer("bob", "token-of-bob-12345")
                .oauthClient("shop", "client", SECRET)
                .scopes("shop", List.of("read", "write"))
                .build();

        var alice = new Principal("default", "alice", Set.of());
        assertThat(callers.byApiKey(KEY)).isEqualTo(alice);
        assertThat(callers.byApiKey(KEY + "-next")).isEqualTo(alice);
        assertThat(callers.byToken("token-of-bob-12345")).isEqualTo(new Principal("default", "bob", Set.of()));
        assertThat(callers.byClient("client", SECRET))
                .isEqualTo(new Principal("default", "shop", Set.of("read", "write")));
    }

    @Test
    void aSecretServesForWhatItWasGivenOnly() {
        Callers callers = Callers.builder()
                .apiKey("alice", KEY)
                .oauthClient("shop", "client", SECRET)
                .build();

        assertThat(callers.byToken(KEY)).isNull();
        assertThat(callers.byApiKey(SECRET)).isNull();
        assertThat(callers.byApiKey(KEY + " ")).isNull();
        assertThat(callers.byApiKey("")).isNull();
        assertThat(callers.byClient("client", KEY)).isNull();
        assertThat(callers.byClient("shop", SECRET)).isNull();
    }

    @Test
    void callersAreReadFromAFile() throws IOException {
        Path file = file("""
                {"alice": "key-of-alice-1234",
                 "bob": {"bearer": ["token-of-bob-12345", "token-of-bob-23456"]},
                 "shop": {"oauth": {"clientId": "client", "clientSecret": "secret-of-the-shop"}, "scopes": ["read"]}}
                """);

        Callers callers = Callers.builder().file(file).build();

        assertThat(callers.byApiKey(KEY)).isEqualTo(new Principal("default", "alice", Set.of()));
        assertThat(callers.byToken("token-of-bob-23456")).isEqualTo(new Principal("default", "bob", Set.of()));
        assertThat(callers.byClient("client", SECRET)).isEqualTo(new Principal("default", "shop", Set.of("read")));
    }

    @Test
    void theFileOfTheDocumentationIsOne() throws IOException {
        String page = Files.readString(Path.of("../docs/authentication.md"));
        int from = page.indexOf("```json") + "```json".length();

        Callers callers = Callers.builder()
                .file(file(page.substring(from, page.indexOf("```", from))))
                .build();

        assertThat(callers.byApiKey("key-of-bob-2026-02")).isEqualTo(new Principal("default", "bob", Set.of("tasks")));
        assertThat(callers.byClient("shop-client", "another long secret"))
                .isEqualTo(new Principal("default", "shop", Set.of("tasks")));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "[]",
                "{\"alice\": \"key-of-alice-1234\"",
                "{\"alice\": 7}",
                "{\"alice\": {\"password\": \"key-of-alice-1234\"}}",
                "{\"alice\": {\"apiKey\": {\"value\": \"key-of-alice-1234\"}}}",
                "{\"alice\": {\"oauth\": \"key-of-alice-1234\"}}",
                "{\"alice\": {\"oauth\": {\"clientId\": \"key-of-alice-1234\"}}}",
                "{\"alice\": \"short\"}",
                "{\"alice\": \"key-of-alice 1234\"}",
                "{\"anonymous\": \"key-of-alice-1234\"}",
                "{\"a lice\": \"key-of-alice-1234\"}",
                "{\"alice\": \"key-of-alice-1234\", \"bob\": \"key-of-alice-1234\"}",
                "{\"alice\": {\"scopes\": [\"a b\"]}}"
            })
    void aBrokenFileIsRefusedWithoutSayingItsSecrets(String json) throws IOException {
        Path file = file(json);

        assertThatThrownBy(() -> Callers.builder().file(file))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageStartingWith(file.toString())
                .hasMessageContaining("expected: ")
                .message()
                .doesNotContain("key-of-alice");
    }

    @Test
    void callersAreReadFromTheEnvironment() {
        Callers callers = Callers.builder()
                .environment(Map.of(
                        "PARLEY_CALLER_ALICE_API_KEY", KEY,
                        "PARLEY_CALLER_SHOP_CLIENT_SECRET", SECRET,
                        "PARLEY_CALLER_SHOP_SCOPES", "read, write",
                        "PARLEY_CALLER_STALL_CLIENT_SECRET", SECRET,
                        "PARLEY_CALLER_STALL_CLIENT_ID", "stall-client",
                        "PARLEY_CALLER_BOB_BEARER", "",
                        "PARLEY_CALLERS", "file.json"))
                .build();

        assertThat(callers.byApiKey(KEY)).isEqualTo(new Principal("default", "alice", Set.of()));
        assertThat(callers.byClient("shop", SECRET))
                .isEqualTo(new Principal("default", "shop", Set.of("read", "write")));
        assertThat(callers.byClient("stall-client", SECRET)).isEqualTo(new Principal("default", "stall", Set.of()));
    }

    private Path file(String json) throws IOException {
        Path file = Files.createFile(
                directory.resolve("callers.json"),
                PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
        return Files.writeString(file, json);
    }
}
