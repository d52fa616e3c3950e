package dev.parley.interop.console;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.dialect.Json;
import dev.parley.engine.Agent;
import dev.parley.hub.Hub;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.openqa.selenium.Keys;

/** MCP servers in the console: state and log, tools as forms, approvals and configuration for other hosts. */
@Timeout(120)
class ToolsScreenTest {
    /** MCP server with one tool; its description is an argument. */
    private static final String SERVER = """
            import json, sys
            print('opened the files', file=sys.stderr, flush=True)
            schema = {'type': 'object', 'required': ['path'], 'properties': {
                'path': {'type': 'string', 'description': 'Path of the file'},
                'lines': {'type': 'integer'}, 'mode': {'type': 'string', 'enum': ['text', 'bytes']},
                'filter': {'type': 'object'}}}
            for line in sys.stdin:
                request = json.loads(line)
                method = request.get('method')
                if 'id' not in request:
                    continue
                answer = {'jsonrpc': '2.0', 'id': request['id']}
                if method == 'initialize':
                    answer['result'] = {'protocolVersion': '2025-06-18', 'capabilities': {'tools': {}},
                                        'serverInfo': {'name': 'files', 'version': '1'}}
                elif method == 'tools/list':
                    answer['result'] = {'tools': [{'name': 'ping', 'title': 'read', 'inputSchema': {'type': 'object'}}, {'name': 'read', 'description': sys.argv[1], 'inputSchema': schema}]}
                elif method == 'tools/call':
                    given = request['params']['arguments']
                    print('reads ' + str(given.get('path')), file=sys.stderr, flush=True)
                    answer['result'] = {'content': [{'type': 'text', 'text': 'read ' + json.dumps(given, sort_keys=True)}],
                                        'isError': given.get('path') == 'missing'}
                else:
                    answer['error'] = {'code': -32601, 'message': 'unknown'}
                print(json.dumps(answer), flush=True)
            """;

    @TempDir
    private Path directory;

    private ConsoleHub hub(String description) throws IOException {
        return hub(directory, description);
    }

    /** A hub with an MCP server that has one tool, and one that cannot be started. */
    static ConsoleHub hub(Path directory, String description, Agent... more) throws IOException {
        Path file = Files.write(
                directory.resolve("servers.json"),
                Json.write(Map.of(
                        "mcpServers",
                        Map.of(
                                "files",
                                Map.of("command", "python3", "args", List.of("-c", SERVER, description)),
                                "gone",
                                Map.of("command", directory.resolve("missing").toString())))));
        return new ConsoleHub(
                Hub.builder().data(directory.resolve("data")).port(0).set("mcp-servers", file.toString()), more);
    }

    @Test
    @DisplayName("S17: servers have their state, their last error, and the log of their program")
    void serversHaveStateAndLog() throws IOException {
        try (ConsoleHub hub = hub("Reads a file");
                Browser browser = Browser.at(hub.url())) {
            browser.go("tools");
            browser.see("section[aria-label=files] .state.ok", "connected");
            browser.see("section[aria-label=gone] .state.bad", "unreachable");
            browser.see("section[aria-label=gone] .bad-text", "cannot be started");
            browser.click("section[aria-label=files] button", "Log");
            browser.see("section[aria-label=files] .log", "opened the files");
            assertThat(browser.address()).contains("log=files");
            browser.click("section[aria-label=gone] button", "Log");
            browser.see("section[aria-label=gone] .dim", "has written nothing");
            browser.go("tools?log=renamed");
            browser.see("section[aria-label=files] .state.ok", "connected");
            browser.forget("status of 400");
            browser.assertQuiet("the servers");
        }
    }

    @Test
    @DisplayName("S17: a tool is a form; its result is shown, and as other hosts get it; its task is a link")
    void aToolIsTried() throws IOException {
        try (ConsoleHub hub = hub("Reads a file");
                Browser browser = Browser.at(hub.url())) {
            browser.go("tools");
            browser.click("section[aria-label=files] .list a", "read");
            browser.see("parley-tool-try label", "path");
            browser.type("parley-tool-try input[name=path]", "minutes.txt");
            browser.type("parley-tool-try input[name=lines]", "3");
            browser.choose("parley-tool-try select[name=mode]", "text");
            browser.type("parley-tool-try textarea[name=filter]", "{\"author\": \"ann\"}");
            browser.click("parley-tool-try button", "Call");
            browser.see(
                    "section[aria-label=Result] .part",
                    "read {\"filter\": {\"author\": \"ann\"}, \"lines\": 3, \"mode\": \"text\", \"path\": \"minutes.txt\"}");
            browser.click("section[aria-label=Result] summary", "");
            browser.see("section[aria-label=Result] parley-json", "structuredContent");
            browser.run("scrollTo(0, 0)");
            browser.picture("tools");
            assertThat(browser.overflow()).isZero();

            browser.type("parley-tool-try input[name=path]", "missing");
            browser.press(Keys.ENTER);
            browser.see("section[aria-label=Result] .state.bad", "failed");
            browser.type("parley-tool-try textarea[name=filter]", "{broken");
            browser.click("parley-tool-try button", "Call");
            browser.see("parley-tool-try .failure", "filter: not JSON (expected: object)");

            browser.click("section[aria-label=files] .list a", "ping");
            browser.gone("parley-tool-try .failure", "");
            browser.type("parley-tool-try textarea[name=arguments]", "{\"depth\": 2}");
            browser.click("parley-tool-try button", "Call");
            browser.see("section[aria-label=Result] .part", "read {\"depth\": 2}");
            browser.assertQuiet("a tool");
        }
    }

    @Test
    @DisplayName(
            "S17: a changed tool is approved after a look at the difference, and other hosts get their configuration")
    void aToolIsApproved() throws IOException {
        hub("Reads a file").close();
        try (ConsoleHub hub = hub("Reads a file, and sends it to another host");
                Browser browser = Browser.at(hub.url())) {
            browser.go("tools?server=files&tool=read");
            browser.see(".diff del", "Reads a file");
            browser.see(".diff ins", "and sends it to another host");
            browser.click("section[aria-label=Tool] button", "Approve");
            browser.see("section[aria-label=files] .dim", "sends it to another host");
            browser.gone(".diff ins", "");
            browser.see("parley-connect pre", hub.url() + "/agents/files/mcp");
            browser.see("parley-connect pre", "mcpServers");
            browser.assertQuiet("approval");
        }
    }

    @Test
    @DisplayName("S17: a hub without servers says how to add some")
    void noServer() {
        try (var hub = new ConsoleHub();
                Browser browser = Browser.at(hub.url())) {
            browser.go("tools");
            browser.see(".empty h2", "No MCP server");
            browser.forget("status of 404");
            browser.assertQuiet("no server");
        }
    }
}
