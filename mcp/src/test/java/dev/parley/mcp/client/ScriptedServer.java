package dev.parley.mcp.client;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.Objects.requireNonNull;

import dev.parley.mcp.wire.RawJson;
import dev.parley.mcp.wire.Trees;
import dev.parley.protocol.json.Codecs;
import dev.parley.protocol.json.JsonText;
import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * MCP server over stdio, for tests, in a process of its own: {@code main ERA [FILE]}, with {@code modern} or {@code legacy} as era. If
 * the file exists, its text is the description of the tool {@code echo}. Each of its tools behaves in one way, which its name says.
 */
public final class ScriptedServer {
    private static final PrintStream OUT = new PrintStream(System.out, true, UTF_8);
    private static final AtomicLong QUESTIONS = new AtomicLong(1_000);

    private final boolean isModern;
    private final @Nullable Path file;
    private final Map<String, Map<String, @Nullable Object>> tasks = new ConcurrentHashMap<>();
    private final Map<String, Object> asked = new ConcurrentHashMap<>();

    private ScriptedServer(boolean isModern, @Nullable Path file) {
        this.isModern = isModern;
        this.file = file;
    }

    /** The command that starts it. */
    public static List<String> command(String... arguments) {
        return command(ScriptedServer.class, arguments);
    }

    /** The command that starts a program of the tests. */
    public static List<String> command(Class<?> program, String... arguments) {
        var command = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-XX:TieredStopAtLevel=1",
                "-XX:+UseSerialGC",
                "-Xshare:auto",
                "-cp",
                System.getProperty("java.class.path") + File.pathSeparator + System.getProperty("jdk.module.path", ""),
                program.getName()));
        command.addAll(List.of(arguments));
        return command;
    }

    public static void main(String[] arguments) throws IOException {
        var server =
                new ScriptedServer(arguments[0].equals("modern"), arguments.length < 2 ? null : Path.of(arguments[1]));
        System.err.println("the scripted server runs");
        var in = new BufferedReader(new InputStreamReader(System.in, UTF_8));
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            server.receive(JsonText.read(line.getBytes(UTF_8), Codecs.STRUCT));
        }
    }

    private void receive(Map<String, @Nullable Object> message) {
        Object id = message.get("id");
        Map<String, @Nullable Object> params = Trees.map(message, "params");
        if (!(message.get("method") instanceof String method)) {
            Object call = asked.remove(String.valueOf(id));
            if (call != null) {
                Map<String, @Nullable Object> result = Trees.map(message, "result");
                answer(call, text("the user says " + result.get("action") + " " + result.get("content")));
            }
            return;
        }
        switch (method) {
            case "server/discover" -> {
                if (isModern) {
                    answer(
                            id,
                            new RawJson()
                                    .with("supportedVersions", List.of("2026-07-28"))
                                    .with("capabilities", capabilities())
                                    .with("serverInfo", Map.of("name", "scripted", "version", "1"))
                                    .with("ttlMs", 0)
                                    .with("cacheScope", "private"));
                } else {
                    error(id, -32602, "Received request before initialization was complete");
                }
            }
            case "initialize" -> {
                if (isModern) {
                    error(id, -32601, "unknown method");
                } else {
                    answer(
                            id,
                            new RawJson()
                                    .with("protocolVersion", "2025-11-25")
                                    .with("capabilities", capabilities())
                                    .with("serverInfo", Map.of("name", "scripted", "version", "1")));
                }
            }
            case "tools/list" -> list(id, params);
            case "tools/call" -> call(id, params);
            case "tasks/get" -> answer(id, task(String.valueOf(params.get("taskId"))));
            case "tasks/cancel" -> {
                tasks.put(String.valueOf(params.get("taskId")), new RawJson().with("status", "cancelled"));
                answer(id, Map.of());
            }
            case "subscriptions/listen" -> {
                listener = id;
                send(new RawJson()
                        .with("jsonrpc", "2.0")
                        .with("method", "notifications/subscriptions/acknowledged")
                        .with("params", subscription(id)));
            }
            case "notifications/cancelled" -> System.err.println("canceled: " + params.get("requestId"));
            default -> {
                if (id != null) {
                    error(id, -32601, method + ": unknown");
                }
            }
        }
    }

    private @Nullable Object listener;

    private Map<String, @Nullable Object> subscription(@Nullable Object id) {
        return new RawJson().with("_meta", new RawJson().with("io.modelcontextprotocol/subscriptionId", id));
    }

    private static Map<String, @Nullable Object> capabilities() {
        return Map.of("tools", Map.of("listChanged", true));
    }

    private void list(@Nullable Object id, Map<String, @Nullable Object> params) {
        if (params.get("cursor") == null) {
            answer(
                    id,
                    new RawJson()
                            .with("tools", List.of(tool("echo"), tool("add")))
                            .with("nextCursor", "2")
                            .with("ttlMs", 60_000));
            return;
        }
        var rest = new ArrayList<Map<String, @Nullable Object>>();
        for (String name : List.of(
                "ask",
                "form",
                "forms",
                "open",
                "slow",
                "flood",
                "silent",
                "hold",
                "crash",
                "environment",
                "change",
                "job",
                "broken",
                "search",
                "invalid")) {
            rest.add(tool(name));
        }
        rest.add(tool("endless"));
        rest.add(tool("unsafe"));
        rest.add(tool("sample"));
        Map<String, @Nullable Object> disguised = tool("disguised");
        disguised.put("description", "plain\u202e\u0007 text");
        rest.add(disguised);
        rest.add(tool("<b>\n"));
        Map<String, @Nullable Object> large = tool("large");
        large.put("description", "x".repeat(300_000));
        rest.add(large);
        Map<String, @Nullable Object> cyclic = tool("cyclic");
        cyclic.put(
                "inputSchema",
                Map.of("type", "object", "$ref", "#", "properties", Map.of("again", Map.of("$ref", "#"))));
        rest.add(cyclic);
        // The cursor is that of this page, so that it never ends.
        answer(
                id,
                new RawJson()
                        .with("tools", rest)
                        .with("ttlMs", 60_000)
                        .with("cacheScope", "private")
                        .with("nextCursor", "2"));
    }

    private Map<String, @Nullable Object> tool(String name) {
        String description = name;
        try {
            if (name.equals("echo") && file != null && Files.exists(file)) {
                description = Files.readString(file);
            }
        } catch (IOException unreadable) {
            description = unreadable.toString();
        }
        return new RawJson()
                .with("name", name)
                .with("description", description)
                .with("inputSchema", Map.of("type", "object", "properties", Map.of("text", Map.of("type", "string"))));
    }

    private void call(@Nullable Object id, Map<String, @Nullable Object> params) {
        Map<String, @Nullable Object> arguments = Trees.map(params, "arguments");
        switch (String.valueOf(params.get("name"))) {
            case "search" -> answer(id, text("found " + arguments.get("text")));
            case "echo" -> answer(id, text(String.valueOf(arguments.get("text"))));
            case "add" -> {
                var result = text("sum");
                result.put(
                        "structuredContent",
                        Map.of("sum", Trees.number(arguments, "a", 0) + Trees.number(arguments, "b", 0)));
                answer(id, result);
            }
            case "ask" ->
                ask(
                        id,
                        params,
                        new RawJson()
                                .with("mode", "form")
                                .with(
                                        "message",
                                        "Which colour?"
                                                + (arguments.containsKey("text")
                                                        ? " (" + arguments.get("text") + ")"
                                                        : ""))
                                .with(
                                        "requestedSchema",
                                        Map.of(
                                                "type", "object",
                                                "properties",
                                                        Map.of(
                                                                "colour",
                                                                Map.of(
                                                                        "type",
                                                                        "string",
                                                                        "enum",
                                                                        List.of("red", "blue"))),
                                                "required", List.of("colour"))));
            case "form" -> ask(id, params, Forms.params(String.valueOf(arguments.get("text"))));
            case "forms" -> {
                Map<String, Map<String, @Nullable Object>> answers = Trees.objects(params.get("inputResponses"));
                answer(
                        id,
                        answers.isEmpty()
                                ? new RawJson()
                                        .with("resultType", "input_required")
                                        .with("inputRequests", Forms.two())
                                : text(Forms.text(answers)));
            }
            case "open" ->
                ask(
                        id,
                        params,
                        new RawJson()
                                .with("mode", "url")
                                .with("message", "Please sign in")
                                .with("url", "https://example.com/signin"));
            case "unsafe" ->
                ask(
                        id,
                        params,
                        new RawJson()
                                .with("mode", "url")
                                .with("message", "Open this")
                                .with("url", "javascript:alert(1)"));
            case "sample" ->
                answer(
                        id,
                        new RawJson()
                                .with("resultType", "input_required")
                                .with(
                                        "inputRequests",
                                        Map.of("q1", Map.of("method", "sampling/createMessage", "params", Map.of()))));
            case "endless" -> {
                Object token = Trees.map(params, "_meta").get("progressToken");
                Thread flood = new Thread(() -> {
                    for (long i = 1; ; i++) {
                        send(new RawJson()
                                .with("jsonrpc", "2.0")
                                .with("method", "notifications/progress")
                                .with(
                                        "params",
                                        new RawJson()
                                                .with("progressToken", token)
                                                .with("progress", i)));
                        send(new RawJson()
                                .with("jsonrpc", "2.0")
                                .with("id", "s" + i)
                                .with("method", "roots/list"));
                    }
                });
                flood.setDaemon(true);
                flood.start();
            }
            case "slow" -> {
                for (int i = 1; i <= 3; i++) {
                    progress(params, i);
                }
                answer(id, text("done"));
            }
            case "hold" -> progress(params, 1); // and no answer
            case "flood" -> {
                var junk = "x".repeat(1024 * 1024);
                for (int i = 0; i < 40; i++) {
                    OUT.print(junk); // without an end of line
                }
                OUT.println();
            }
            case "silent" -> System.err.println("the call gets no answer");
            case "crash" -> Runtime.getRuntime().halt(7);
            case "environment" ->
                answer(id, text(String.join(",", new TreeSet<>(System.getenv().keySet()))));
            case "change" -> {
                change(String.valueOf(arguments.get("text")));
                Object subscriber = listener;
                send(new RawJson()
                        .with("jsonrpc", "2.0")
                        .with("method", "notifications/tools/list_changed")
                        .with("params", isModern && subscriber != null ? subscription(subscriber) : Map.of()));
                answer(id, text("changed"));
            }
            case "job" -> {
                tasks.put("job-1", new RawJson().with("status", "working").with("reads", 0));
                answer(
                        id,
                        new RawJson()
                                .with("resultType", "task")
                                .with("taskId", "job-1")
                                .with("status", "working")
                                .with("statusMessage", "begun")
                                .with("ttlMs", 60_000)
                                .with("pollIntervalMs", 50));
            }
            case "broken" -> {
                var result = text("the tool has failed");
                result.put("isError", true);
                answer(id, result);
            }
            case "invalid" -> error(id, -32602, "text: missing");
            default -> error(id, -32602, "unknown tool");
        }
    }

    private void progress(Map<String, @Nullable Object> params, int step) {
        send(new RawJson()
                .with("jsonrpc", "2.0")
                .with("method", "notifications/progress")
                .with(
                        "params",
                        new RawJson()
                                .with(
                                        "progressToken",
                                        Trees.map(params, "_meta").get("progressToken"))
                                .with("progress", step)
                                .with("total", 3)
                                .with("message", "step " + step)));
    }

    private void change(String description) {
        try {
            if (file != null) {
                Files.writeString(file, description);
            }
        } catch (IOException unwritable) {
            throw new UncheckedIOException(unwritable);
        }
    }

    private void ask(
            @Nullable Object id, Map<String, @Nullable Object> params, Map<String, @Nullable Object> question) {
        if (!isModern) {
            long number = QUESTIONS.incrementAndGet();
            asked.put(String.valueOf(number), requireNonNull(id));
            send(new RawJson()
                    .with("jsonrpc", "2.0")
                    .with("id", number)
                    .with("method", "elicitation/create")
                    .with("params", question));
            return;
        }
        Map<String, @Nullable Object> answers = Trees.map(params, "inputResponses");
        if (answers.isEmpty()) {
            answer(
                    id,
                    new RawJson()
                            .with("resultType", "input_required")
                            .with(
                                    "inputRequests",
                                    Map.of(
                                            "q1",
                                            new RawJson()
                                                    .with("method", "elicitation/create")
                                                    .with("params", question)))
                            .with("requestState", "sealed"));
        } else {
            Map<String, @Nullable Object> given = Trees.map(answers, "q1");
            String state = "sealed".equals(params.get("requestState")) ? "" : " without the state";
            answer(id, text("the user says " + given.get("action") + " " + given.get("content") + state));
        }
    }

    private Map<String, @Nullable Object> task(String taskId) {
        Map<String, @Nullable Object> task = tasks.getOrDefault(taskId, new RawJson().with("status", "failed"));
        long reads = Trees.number(task, "reads", 0) + 1;
        if ("working".equals(task.get("status")) && reads < 3) {
            tasks.put(taskId, new RawJson().with("status", "working").with("reads", reads));
        }
        boolean isDone = "working".equals(task.get("status")) && reads >= 3;
        return new RawJson()
                .with("resultType", "complete")
                .with("taskId", taskId)
                .with("status", isDone ? "completed" : task.get("status"))
                .with("statusMessage", "read " + reads)
                .with("pollIntervalMs", 50)
                .with("result", isDone ? text("the job is done") : null);
    }

    private static Map<String, @Nullable Object> text(String text) {
        return new RawJson().with("content", List.of(Map.of("type", "text", "text", text)));
    }

    private static void answer(@Nullable Object id, Map<String, @Nullable Object> result) {
        send(new RawJson().with("jsonrpc", "2.0").with("id", id).with("result", result));
    }

    private static void error(@Nullable Object id, int code, String message) {
        send(new RawJson()
                .with("jsonrpc", "2.0")
                .with("id", id)
                .with("error", new RawJson().with("code", code).with("message", message)));
    }

    private static void send(Map<String, @Nullable Object> message) {
        OUT.println(new String(JsonText.write(Codecs.STRUCT, message), UTF_8));
    }
}
