package dev.parley.mcp.agent;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ServersFileTest {
    private static final Map<String, String> VARIABLES =
            Map.of("PATH", "/bin", "TOKEN", "secret-1", "HOME", "/home/me");

    @TempDir
    Path directory;

    private List<ServersFile.Entry> read(String json) throws IOException {
        Path file = directory.resolve("servers.json");
        Files.writeString(file, json.replace('\'', '"'));
        return ServersFile.read(file, VARIABLES::get);
    }

    @Test
    void readsTheFileOfOtherHostsAndSubstitutesVariables() throws IOException {
        List<ServersFile.Entry> entries = read("""
                {'mcpServers': {
                  'files': {'command': 'npx', 'args': ['-y', 'x', '${DIR:-/srv}'], 'env': {'HOME': '${HOME}'}},
                  'tickets': {'type': 'http', 'url': 'https://t.example/mcp', 'timeout': 5,
                    'headers': {'Authorization': 'Bearer ${TOKEN}'}},
                  'off': {'command': 'x', 'disabled': true}
                }}""");

        assertThat(entries).hasSize(2);
        assertThat(entries.getFirst().command()).containsExactly("npx", "-y", "x", "/srv");
        assertThat(entries.getFirst().environment()).isEqualTo(Map.of("PATH", "/bin", "HOME", "/home/me"));
        assertThat(entries.getFirst().timeout()).isEqualTo(Duration.ofMinutes(1));
        assertThat(entries.getLast().url()).isEqualTo(URI.create("https://t.example/mcp"));
        assertThat(entries.getLast().headers()).isEqualTo(Map.of("Authorization", "Bearer secret-1"));
        assertThat(entries.getLast().toString()).doesNotContain("secret-1");
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            {'mcpServers': {'a': {'command': 'x', 'args': [1]}}} | server "a": args: expected: a list of texts
            {'mcpServers': {'a': {'url': 'file:///x'}}} | server "a": url: expected: http:// or https://
            {'mcpServers': {'a': {}}} | server "a": command: expected: either command or url
            {'mcpServers': {'a b': {'command': 'x'}}} | server "a b": name: expected
            {'mcpServers': {'a': {'command': '${NONE}'}}} | server "a": command: environment variable NONE: not set
            {'mcpServers': {'a': {'command': 'x', 'timeout': 0}}} | server "a": timeout: expected: 1 to 3600 seconds
            {'mcpServers': {'a': {'command': 'x', 'comand': 'y'}}} | server "a": comand: unknown
            {'servers': {}} | mcpServers: missing
            no JSON | no JSON
            """)
    void errorsNameTheFileTheServerAndTheMember(String json, String problem) {
        assertThatThrownBy(() -> read(json))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("servers.json")
                .hasMessageContaining(problem);
    }
}
