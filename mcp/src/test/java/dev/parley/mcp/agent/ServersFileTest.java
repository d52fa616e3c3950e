package dev.parley.mcp.agent;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.parley.mcp.wire.Revision;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

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
                  'stream': {'type': 'streamable-http', 'url': 'http://t.example/mcp', 'alwaysAllow': ['x'],
                    'headers': {'X-Key': '${env:TOKEN}'}},
                  'off': {'command': 'x', 'disabled': true}
                }}""");

        assertThat(entries).hasSize(3);
        assertThat(entries.getFirst().command()).containsExactly("npx", "-y", "x", "/srv");
        assertThat(entries.getFirst().environment()).isEqualTo(Map.of("PATH", "/bin", "HOME", "/home/me"));
        assertThat(entries.getFirst().timeout()).isEqualTo(Duration.ofMinutes(1));
        assertThat(entries.get(1).url()).isEqualTo(URI.create("https://t.example/mcp"));
        assertThat(entries.get(1).headers()).isEqualTo(Map.of("Authorization", "Bearer secret-1"));
        assertThat(entries.get(1).toString()).doesNotContain("secret-1");
        assertThat(entries.getLast().headers()).isEqualTo(Map.of("X-Key", "secret-1"));
    }

    @ParameterizedTest
    @DisplayName("K7: the file may set the revision of a server")
    @EnumSource(Revision.class)
    void revisions(Revision revision) throws IOException {
        assertThat(read("{'mcpServers': {'a': {'command': 'x', 'protocolVersion': '" + revision.text() + "'}}}"))
                .extracting(ServersFile.Entry::revision)
                .containsExactly(revision);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            {'mcpServers': {'a': {'command': 'x', 'args': [1]}}} | mcpServers.a.args[0]: expected: a text
            {'mcpServers': {'a': {'url': 'file:///x'}}} | mcpServers.a.url: expected: http:// or https://
            {'mcpServers': {'a': {}}} | mcpServers.a.command: expected: either command or url
            {'mcpServers': {'a b': {'command': 'x'}}} | mcpServers.a b.name: expected
            {'mcpServers': {'a': {'command': '${NONE}'}}} | mcpServers.a.command: environment variable NONE: not set
            {'mcpServers': {'a': {'command': 'x', 'timeout': 0}}} | mcpServers.a.timeout: expected: 1 to 3600 seconds
            {'mcpServers': {'a': {'command': 'x', 'comand': 'y'}}} | mcpServers.a.comand: unknown
            {'mcpServers': {'a': {'command': 'x', 'args': 'y'}}} | mcpServers.a.args: expected: a list of texts
            {'mcpServers': {'a': {'command': 'x', 'args': ['y', '${NONE}']}}} | mcpServers.a.args[1]: environment variable NONE: not set
            {'mcpServers': {'a': {'command': 'x', 'env': {'K': 1}}}} | mcpServers.a.env.K: expected: a text
            {'mcpServers': {'a': {'command': 'x', 'env': {'K': '${input:key}'}}}} | mcpServers.a.env.K: ${input:key}: unknown (expected: ${NAME}
            {'mcpServers': {'a': {'url': 'http://h/x', 'headers': {'K': '${env:NONE}'}}}} | mcpServers.a.headers.K: environment variable NONE: not set
            {'mcpServers': {'a': {'url': 'http://h/x', 'type': 'sse'}}} | mcpServers.a.type: "sse": not for a server with a url (expected: http
            {'mcpServers': {'a': {'url': 'http://h/x', 'type': 'stdio'}}} | mcpServers.a.type: "stdio": not for a server with a url
            {'mcpServers': {'a': {'command': 'x', 'type': 'http'}}} | mcpServers.a.type: "http": not for a server with a command (expected: stdio
            {'mcpServers': {'a': {'command': 'x', 'url': 'http://h/x'}}} | mcpServers.a.command: expected: either command or url
            {'mcpServers': {'a': {'command': 'x', 'protocolVersion': '2025-99-99'}}} | mcpServers.a.protocolVersion: "2025-99-99": unknown (expected: one of 2025-06-18
            {'mcpServers': {'a': {'command': 'x', 'protocolVersion': 2025}}} | mcpServers.a.protocolVersion: expected: a text
            {'mcpServers': {'a': 7}} | mcpServers.a.value: expected: an object
            {'mcpServers': {} /* comment */} | no JSON
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
