package dev.parley.interop;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.parley.dialect.Json;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.Writer;
import java.nio.file.Path;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** What others serve, most often an agent, in a process of its own for as long as this is open. */
public final class ForeignServer implements AutoCloseable {
    private static final Duration START_LIMIT = Duration.ofMinutes(2); // some are compiled first

    private final Process process;
    private final Map<?, ?> told;

    private ForeignServer(Process process, Map<?, ?> told) {
        this.process = process;
        this.told = told;
    }

    /** Starts one, and waits until it can be called. It ends by itself should this process die. */
    static ForeignServer start(Path directory, List<String> command) throws IOException {
        Path errors = directory.resolve("serve.err");
        Process process = ForeignSdk.builder(directory, command)
                .redirectError(errors.toFile())
                .start();
        var line = new CompletableFuture<String>();
        Thread.startVirtualThread(() -> read(process.inputReader(UTF_8), line));
        try {
            String told = line.get(START_LIMIT.toSeconds(), TimeUnit.SECONDS);
            return new ForeignServer(process, Json.read(told.getBytes(UTF_8), Map.class));
        } catch (ExecutionException | TimeoutException | InterruptedException failure) {
            process.destroyForcibly();
            if (failure instanceof InterruptedException) {
                Thread.currentThread().interrupt();
            }
            throw new IOException("%s did not start: see %s".formatted(String.join(" ", command), errors), failure);
        }
    }

    /** Reads to the end, for an SDK may print more than it should, and stop when nobody reads it. */
    private static void read(BufferedReader output, CompletableFuture<String> first) {
        try (output) {
            String line = output.readLine();
            if (line == null) {
                first.completeExceptionally(new IOException("it ended"));
                return;
            }
            first.complete(line);
            output.transferTo(Writer.nullWriter());
        } catch (IOException failure) {
            first.completeExceptionally(failure);
        }
    }

    /** The name and version of the SDK. */
    String name() {
        return String.valueOf(told.get("server"));
    }

    /** The version of the protocol that it speaks. */
    String dialect() {
        return String.valueOf(told.get("dialect"));
    }

    public String url() {
        return String.valueOf(told.get("url"));
    }

    /** Where its card leads to besides: a server of gRPC has a port of its own. */
    List<String> origins() {
        return told.get("origins") instanceof List<?> all
                ? all.stream().map(String::valueOf).toList()
                : List.of();
    }

    /** Operations that a framework has no way to offer. */
    List<?> lacks() {
        return told.get("lacks") instanceof List<?> all ? all : List.of();
    }

    /** What cards call each binding that it has, by the name that it has in the table of results. */
    Map<String, String> bindings() {
        var bindings = new LinkedHashMap<String, String>();
        if (told.get("bindings") instanceof Map<?, ?> members) {
            members.forEach((name, binding) -> bindings.put(String.valueOf(name), String.valueOf(binding)));
        }
        return bindings;
    }

    @Override
    public void close() {
        process.descendants().forEach(ProcessHandle::destroyForcibly);
        // Whoever starts it again may want the same port.
        process.destroyForcibly().onExit().join();
    }
}
