package dev.parley.interop;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.Writer;
import java.nio.file.Path;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The command line as a process of its own that serves a hub, for as long as this is open. */
final class ParleyProgram implements AutoCloseable {
    private static final long START_SECONDS = 120;
    private static final Pattern ADDRESS = Pattern.compile("http://127\\.0\\.0\\.1:[0-9]+");

    private final Process process;
    private final String url;

    private ParleyProgram(Process process, String url) {
        this.process = process;
        this.url = url;
    }

    /** Starts it, and waits until it prints its address. */
    static ParleyProgram start(String... arguments) throws IOException {
        return start(
                new ProcessBuilder(McpHubs.program(arguments))
                        .redirectError(Path.of("target", arguments[0] + ".err").toFile()),
                String.join(" ", arguments));
    }

    /**
     * Starts a command that prints the address of a hub, and waits for it.
     *
     * @param name of the command in messages
     */
    static ParleyProgram start(ProcessBuilder command, String name) throws IOException {
        Process process = command.start();
        var url = new CompletableFuture<String>();
        Thread.startVirtualThread(() -> read(process.inputReader(UTF_8), url));
        try {
            return new ParleyProgram(process, url.get(START_SECONDS, TimeUnit.SECONDS));
        } catch (ExecutionException | TimeoutException | InterruptedException failure) {
            process.destroyForcibly();
            if (failure instanceof InterruptedException) {
                Thread.currentThread().interrupt();
            }
            throw new IOException("parley " + name + " did not start", failure);
        }
    }

    private static void read(BufferedReader output, CompletableFuture<String> url) {
        try (output) {
            String line = output.readLine();
            while (line != null && !url.isDone()) {
                Matcher address = ADDRESS.matcher(line);
                if (address.find()) {
                    url.complete(address.group());
                } else {
                    line = output.readLine();
                }
            }
            url.completeExceptionally(new IOException("it ended"));
            output.transferTo(Writer.nullWriter());
        } catch (IOException failure) {
            url.completeExceptionally(failure);
        }
    }

    String url() {
        return url;
    }

    @Override
    public void close() {
        process.destroy();
        process.onExit().join();
    }
}
