package dev.parley.cli;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.Objects.requireNonNull;

import dev.parley.dialect.Json;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** A server of MCP 2025-06-18 with one tool. As a program it speaks over stdio and keeps all lines that it reads. */
final class QuietServer {
    private QuietServer() {}

    /** @param arguments the file of the lines */
    public static void main(String[] arguments) throws IOException {
        Path lines = Path.of(arguments[0]);
        var in = new BufferedReader(new InputStreamReader(System.in, UTF_8));
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            Files.writeString(lines, line + "\n", StandardOpenOption.CREATE, StandardOpenOption.APPEND);
            Map<?, ?> request = Json.read(line.getBytes(UTF_8), Map.class);
            if (request.get("id") != null) {
                System.out.write(answer(request));
                System.out.write('\n');
                System.out.flush();
            }
        }
    }

    static byte[] answer(Map<?, ?> request) {
        var answer = new HashMap<String, Object>(Map.of("jsonrpc", "2.0", "id", requireNonNull(request.get("id"))));
        switch (String.valueOf(request.get("method"))) {
            case "initialize" ->
                answer.put(
                        "result",
                        Map.of(
                                "protocolVersion",
                                "2025-06-18",
                                "capabilities",
                                Map.of("tools", Map.of("listChanged", true)),
                                "serverInfo",
                                Map.of("name", "quiet", "version", "1")));
            case "tools/list" ->
                answer.put(
                        "result",
                        Map.of(
                                "tools",
                                List.of(Map.of(
                                        "name",
                                        "wait",
                                        "description",
                                        "Waits",
                                        "inputSchema",
                                        Map.of("type", "object")))));
            case "tools/call" ->
                answer.put("result", Map.of("content", List.of(Map.of("type", "text", "text", "done"))));
            default -> answer.put("error", Map.of("code", -32601, "message", "unknown method"));
        }
        return Json.write(answer);
    }
}
