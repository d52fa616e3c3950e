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

    private ServersFile.Content read(String json) throws IOException {
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
                }}""").entries();

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
        assertThat(read("{'mcpServers': {'a': {'command': 'x', 'protocolVersion': '" + revision.text() + "'}}}")
                        .entries())
                .extracting(ServersFile.Entry::revision)
                .containsExactly(revision);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            {'mcpServers': {'a': {'command': 'x', 'args': [[]]}}} | args[0]: expected: a text
            {'mcpServers': {'a': {'url': 'file:///x'}}} | url: expected: http:// or https://
            {'mcpServers': {'a': {}}} | command: expected: either command or url
            {'mcpServers': {'a b': {'command': 'x'}}} | name: expected
            {'mcpServers': {'a': {'command': '${NONE}'}}} | command: environment variable NONE: not set
            {'mcpServers': {'a': {'command': 'x', 'timeout': 0}}} | timeout: expected: 1 to 3600 seconds
            {'mcpServers': {'a': {'command': 'x', 'args': 'y'}}} | args: expected: a list of texts
            {'mcpServers': {'a': {'command': 'x', 'args': ['y', '${NONE}']}}} | args[1]: environment variable NONE: not set
            {'mcpServers': {'a': {'command': 'x', 'env': {'K': {}}}}} | env.K: expected: a text
            {'mcpServers': {'a': {'command': 'x', 'disabled': 'yes'}}} | disabled: expected: true or false
            {'mcpServers': {'a': {'url': 'http://h/x', 'headers': {'Host': 'h'}}}} | headers.Host: no header that can be sent
            {'mcpServers': {'a': {'command': ['x', 'y']}}} | command: expected: a text
            {'mcpServers': {'a': {'command': 'x', 'env': {'K': '${input:key}'}}}} | env.K: ${input:key}: unknown (expected: ${NAME}
            {'mcpServers': {'a': {'url': 'http://h/x', 'headers': {'K': '${env:NONE}'}}}} | headers.K: environment variable NONE: not set
            {'mcpServers': {'a': {'url': 'http://h/x', 'type': 'sse'}}} | type: "sse": not for a server with a url (expected: http
            {'mcpServers': {'a': {'url': 'http://h/x', 'type': 'stdio'}}} | type: "stdio": not for a server with a url
            {'mcpServers': {'a': {'command': 'x', 'type': 'http'}}} | type: "http": not for a server with a command (expected: stdio
            {'mcpServers': {'a': {'command': 'x', 'url': 'http://h/x'}}} | command: expected: either command or url
            {'mcpServers': {'a': {'command': 'x', 'protocolVersion': '2025-99-99'}}} | protocolVersion: "2025-99-99": unknown (expected: one of 2025-06-18
            {'mcpServers': {'a': {'command': 'x', 'protocolVersion': 2025}}} | protocolVersion: expected: a text
            {'mcpServers': {'a': 7}} | value: expected: an object
            """)
    @DisplayName("C12: an entry that cannot be used has a reason, and the others go on")
    void unusableEntriesHaveAReason(String json, String problem) throws IOException {
        ServersFile.Content content =
                read(json.replaceFirst("\\{'mcpServers': \\{", "{'mcpServers': {'b': {'command': 'b'}, "));

        assertThat(content.entries()).extracting(ServersFile.Entry::name).containsExactly("b");
        assertThat(content.unusable().values()).singleElement().asString().startsWith(problem);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            {'mcpServers': {} /* comment */} | no JSON
            {'servers': {}} | mcpServers: missing
            no JSON | no JSON
            """)
    void anotherFileIsRefusedWithItsName(String json, String problem) {
        assertThatThrownBy(() -> read(json))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("servers.json")
                .hasMessageContaining(problem);
    }

    @Test
    @DisplayName("C11: members of other hosts have their effect or none, and are noted")
    void membersOfOtherHosts() throws IOException {
        ServersFile.Content content = read("""
                \uFEFF{'inputs': [], 'mcpServers': {
                  'a': {'command': 'x', 'enabled': true, 'icon': {}, 'env': {'PORT': 80, 'V': true}},
                  'b': {'httpUrl': 'http://h/b', 'trust': true},
                  'c': {'serverUrl': 'http://h/c', 'timeout': 600000},
                  'd': {'command': 'x', 'enabled': false},
                  'e': {'command': 'x', 'disabled': true, 'enabled': true}
                }}""");

        assertThat(content.entries()).extracting(ServersFile.Entry::name).containsExactly("a", "b", "c");
        assertThat(content.entries().getFirst().environment())
                .containsEntry("PORT", "80")
                .containsEntry("V", "true");
        assertThat(content.entries().get(1).url()).isEqualTo(URI.create("http://h/b"));
        assertThat(content.entries().getLast().url()).isEqualTo(URI.create("http://h/c"));
        assertThat(content.entries().getLast().timeout()).isEqualTo(Duration.ofHours(1));
        assertThat(content.unusable()).isEmpty();
        assertThat(content.notes())
                .hasSize(3)
                .allMatch(note -> note.contains("servers.json: mcpServers."))
                .anyMatch(note -> note.contains("a.icon: unknown, has no effect"));
    }

    @Test
    @DisplayName("N2, S122: programs get HOME, LANG, PATH and TMPDIR and the variables of their entry")
    void environment() throws IOException {
        ServersFile.Content content =
                read("{'mcpServers': {'a': {'command': 'x', 'env': {'HOME': '/else', 'K': 'v'}}}}");

        assertThat(content.entries().getFirst().environment())
                .isEqualTo(Map.of("PATH", "/bin", "HOME", "/else", "K", "v"));
        assertThat(read("{'mcpServers': {'a': {'command': 'x'}}}")
                        .entries()
                        .getFirst()
                        .environment())
                .isEqualTo(Map.of("PATH", "/bin", "HOME", "/home/me"));
    }
}
