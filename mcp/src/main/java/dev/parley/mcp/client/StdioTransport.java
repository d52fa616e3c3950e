package dev.parley.mcp.client;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.parley.mcp.client.ServerFailure.Kind;
import dev.parley.mcp.wire.McpMessage;
import dev.parley.mcp.wire.Meta;
import dev.parley.mcp.wire.Revision;
import dev.parley.mcp.wire.Trees;
import dev.parley.protocol.support.Excerpt;
import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.file.Path;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A child process with a JSON object on each line of its standard input and output. Its standard error goes to the log, up to a limit.
 * The streams of a process block their threads, so each has one of the platform. Source: MCP 2026-07-28, Transports, stdio.
 */
public final class StdioTransport implements McpTransport {
    private static final System.Logger LOG = System.getLogger("dev.parley.mcp.client");

    /**
     * A program that is a server.
     *
     * @param command program and arguments
     * @param environment all variables of the process; nothing else of this process reaches it
     * @param directory null for that of this process
     */
    public record Program(
            String name,
            List<String> command,
            Map<String, String> environment,
            @Nullable Path directory) {
        public Program {
            command = List.copyOf(command);
            environment = Map.copyOf(environment);
        }
    }

    /** Longest line of output, in bytes. */
    static final int MAX_LINE = 16 * 1024 * 1024;

    private static final int MAX_LOG_LINE = 1_000;

    /** Characters of a line that an error shows. */
    private static final int SHOWN = 200;

    /** Lines of standard error in the log, of one process. */
    private static final int MAX_LOG_LINES = 1_000;

    private static final long PATIENCE_MILLIS = 2_000;

    private final Program program;
    private final Consumer<String> log;
    private final Runnable onExit;
    private final Process process;
    private final ReentrantLock writing = new ReentrantLock();
    private final Map<String, ClientExchange> exchanges = new ConcurrentHashMap<>();
    private volatile Receiver receiver = message -> {};
    private volatile @Nullable ServerFailure failure;
    private final AtomicBoolean isLost = new AtomicBoolean();
    private volatile boolean closed;

    private StdioTransport(Program program, Process process, Consumer<String> log, Runnable onExit) {
        this.program = program;
        this.process = process;
        this.log = log;
        this.onExit = onExit;
    }

    /**
     * Starts the program.
     *
     * @param log called with each line of its standard error, by one thread, cut at {@value #MAX_LOG_LINE} characters; may not block
     * @param onExit called once when its output has ended, unless the transport is closed
     * @throws ServerFailure if it cannot be started
     */
    public static StdioTransport start(Program program, Consumer<String> log, Runnable onExit) {
        var builder = new ProcessBuilder(program.command());
        builder.environment().clear();
        builder.environment().putAll(program.environment());
        if (program.directory() != null) {
            builder.directory(program.directory().toFile());
        }
        try {
            return new StdioTransport(program, builder.start(), log, onExit);
        } catch (IOException | UnsupportedOperationException | IllegalArgumentException impossible) {
            throw new ServerFailure(
                    Kind.CONNECTION,
                    "MCP server \"" + program.name() + "\": cannot be started: " + impossible.getMessage(),
                    impossible);
        }
    }

    @Override
    public void open(Receiver receiver) {
        this.receiver = receiver;
        thread("out", this::readMessages);
        thread("err", this::readLog);
        // A program that the ended process has started may keep the output open.
        Executor later = CompletableFuture.delayedExecutor(PATIENCE_MILLIS, TimeUnit.MILLISECONDS);
        var unused = process.onExit().thenRunAsync(() -> lost(ended()), later);
    }

    private void thread(String stream, Runnable work) {
        Thread.ofPlatform()
                .daemon()
                .name("mcp-" + program.name() + "-" + stream)
                .start(work);
    }

    private void readMessages() {
        String problem;
        try (InputStream out = new BufferedInputStream(process.getInputStream())) {
            for (byte[] line = line(out, MAX_LINE); line != null; line = line(out, MAX_LINE)) {
                receive(line);
            }
            problem = ended();
        } catch (IOException broken) {
            problem = "output: " + broken.getMessage();
        } catch (RuntimeException | Error defect) {
            LOG.log(System.Logger.Level.WARNING, "MCP server " + program.name(), defect);
            problem = "output cannot be read: " + defect;
        }
        lost(problem);
    }

    private String ended() {
        String ended = "the process has ended";
        try {
            return process.waitFor(PATIENCE_MILLIS, TimeUnit.MILLISECONDS)
                    ? ended + " with status " + process.exitValue()
                    : ended;
        } catch (InterruptedException stop) {
            Thread.currentThread().interrupt();
            return ended;
        }
    }

    /** Ends the process and those that it has started. */
    private void kill() {
        List<ProcessHandle> below = process.descendants().toList();
        process.destroyForcibly();
        below.forEach(ProcessHandle::destroyForcibly);
    }

    /** A child whose output cannot be understood is of no use any more. */
    private void lost(String reason) {
        if (!isLost.compareAndSet(false, true)) {
            return;
        }
        kill();
        String problem = "MCP server \"" + program.name() + "\": " + reason;
        failure = new ServerFailure(Kind.CONNECTION, problem);
        if (!closed) {
            onExit.run(); // before calls fail, so that the next one waits for another process
        }
        exchanges.values().forEach(exchange -> exchange.fail(new ServerFailure(Kind.CONNECTION, problem)));
        exchanges.clear();
    }

    /**
     * Reads a line without its end; null at the end of the stream.
     *
     * @throws IOException for a line that is longer than {@code limit}
     */
    static byte @Nullable [] line(InputStream in, int limit) throws IOException {
        var line = new ByteArrayOutputStream();
        for (int next = in.read(); next >= 0; next = in.read()) {
            if (next == '\n') {
                return line.toByteArray();
            }
            if (line.size() == limit) {
                throw new IOException("a line is longer than " + limit + " bytes");
            }
            line.write(next);
        }
        return line.size() == 0 ? null : line.toByteArray();
    }

    /**
     * Passes a message to its request. A message that cannot be read fails its request; other lines are logged, as programs print what
     * they should not.
     */
    private void receive(byte[] line) {
        switch (Incoming.of(line)) {
            case Incoming.Message(var message) -> {
                ClientExchange exchange = Incoming.isErrorWithoutId(message) ? only() : exchanges.get(owner(message));
                if (exchange != null) {
                    exchange.offer(message);
                } else {
                    receiver.receive(message);
                }
            }
            case Incoming.Damaged damaged -> damaged(line, damaged);
            case Incoming.Noise noise -> {
                if (line.length > 0) {
                    LOG.log(
                            System.Logger.Level.DEBUG,
                            "MCP server {0} printed a line that is not a message",
                            program.name());
                }
            }
        }
    }

    private void damaged(byte[] line, Incoming.Damaged damaged) {
        String text = Excerpt.of(new String(line, 0, Math.min(line.length, MAX_LOG_LINE), UTF_8), SHOWN);
        LOG.log(
                System.Logger.Level.WARNING,
                "MCP server {0} printed a message that cannot be read: {1}: {2}",
                program.name(),
                damaged.problem(),
                text);
        if (damaged.method() != null) {
            return;
        }
        String id = damaged.id();
        ClientExchange exchange = id == null ? only() : exchanges.get(id);
        if (exchange != null) {
            exchange.fail(new ServerFailure(
                    Kind.INVALID_RESPONSE, "the answer is not JSON: " + damaged.problem() + ": " + text));
        }
    }

    /** The only open request; null if there are others, as an answer without an id cannot be matched then. */
    private @Nullable ClientExchange only() {
        List<ClientExchange> all = List.copyOf(exchanges.values());
        return all.size() == 1 ? all.getFirst() : null;
    }

    /** Id of the request of the client that a message belongs to; empty for none. */
    static String owner(Map<String, @Nullable Object> message) {
        if (Incoming.isAnswer(message)) {
            return Incoming.id(message.get("id"));
        }
        Map<String, @Nullable Object> params = Trees.map(message, "params");
        Object subscription = Trees.map(params, "_meta").get(Meta.SUBSCRIPTION_ID);
        return subscription != null
                ? Incoming.id(subscription)
                : "notifications/progress".equals(message.get("method"))
                        ? Incoming.id(params.get("progressToken"))
                        : "";
    }

    private void readLog() {
        var line = new ByteArrayOutputStream();
        int lines = 0;
        try (InputStream err = new BufferedInputStream(process.getErrorStream())) {
            for (int next = err.read(); next >= 0; next = err.read()) {
                if (next == '\n') {
                    log(Excerpt.of(line.toString(UTF_8), MAX_LOG_LINE), ++lines);
                    line.reset();
                } else if (line.size() < MAX_LOG_LINE) {
                    line.write(next);
                }
            }
        } catch (IOException ended) {
            LOG.log(System.Logger.Level.DEBUG, "standard error of MCP server " + program.name(), ended);
        }
        if (line.size() > 0) { // the last line of a program that crashes may have no end
            log(Excerpt.of(line.toString(UTF_8), MAX_LOG_LINE), ++lines);
        }
    }

    /** @param number of the line, from 1 */
    private void log(String text, int number) {
        log.accept(text);
        if (number <= MAX_LOG_LINES + 1) {
            String shown = number > MAX_LOG_LINES ? "further lines are left out" : text;
            LOG.log(System.Logger.Level.INFO, "MCP server {0}: {1}", program.name(), shown);
        }
    }

    @Override
    public void revision(Revision revision) {}

    @Override
    public void begin(ClientExchange exchange, McpMessage.Request request, Map<String, String> headers) {
        String id = String.valueOf(exchange.id());
        exchanges.put(id, exchange);
        exchange.onEnd(() -> exchanges.remove(id));
        ServerFailure broken = failure;
        if (broken != null) {
            exchanges.remove(id);
            exchange.fail(new ServerFailure(Kind.CONNECTION, String.valueOf(broken.getMessage())));
            return;
        }
        // A child that does not read its input blocks this thread, not the caller, whose wait is bounded.
        Thread.ofVirtual().name("mcp-request").start(() -> {
            try {
                send(request);
            } catch (ServerFailure unsent) {
                exchange.fail(unsent);
            } catch (InterruptedException stop) {
                exchange.fail(new ServerFailure(Kind.CONNECTION, "given up", stop));
            } catch (RuntimeException defect) {
                exchange.fail(new ServerFailure(Kind.CONNECTION, "the request cannot be sent: " + defect, defect));
            }
        });
    }

    @Override
    public void send(McpMessage message) throws InterruptedException {
        byte[] line = message.bytes();
        if (!writing.tryLock(PATIENCE_MILLIS * 5, TimeUnit.MILLISECONDS)) {
            kill(); // its output ends, which fails all requests
            throw new ServerFailure(Kind.TIMEOUT, "MCP server \"" + program.name() + "\": does not read its input");
        }
        try {
            OutputStream in = process.getOutputStream();
            in.write(line);
            in.write('\n');
            in.flush();
        } catch (IOException broken) {
            boolean hasEnded = process.waitFor(PATIENCE_MILLIS / 4, TimeUnit.MILLISECONDS);
            String problem = hasEnded ? ended() : "input: " + broken.getMessage();
            throw new ServerFailure(Kind.CONNECTION, "MCP server \"" + program.name() + "\": " + problem, broken);
        } finally {
            writing.unlock();
        }
    }

    @Override
    public void follow() {}

    @Override
    public boolean cancelsByNotification(Revision revision) {
        return true;
    }

    @Override
    public boolean hasHeaders() {
        return false;
    }

    /** Closes standard input; a process that has not ended two seconds later gets SIGTERM, and after further two SIGKILL. */
    @Override
    public void close() {
        closed = true;
        var below = new LinkedHashSet<>(process.descendants().toList());
        // The streams are closed by another thread: a child that does not read blocks a close that flushes.
        var closing = CompletableFuture.runAsync(
                this::closeInput, task -> Thread.ofVirtual().start(task));
        try {
            if (!process.waitFor(PATIENCE_MILLIS, TimeUnit.MILLISECONDS)) {
                below.addAll(process.descendants().toList());
                process.destroy();
                if (!process.waitFor(PATIENCE_MILLIS, TimeUnit.MILLISECONDS)) {
                    kill();
                }
            }
        } catch (InterruptedException stop) {
            kill();
            Thread.currentThread().interrupt();
        }
        closing.cancel(true);
        below.forEach(ProcessHandle::destroyForcibly);
    }

    private void closeInput() {
        try {
            process.getOutputStream().close();
        } catch (IOException gone) {
            LOG.log(System.Logger.Level.DEBUG, "standard input of MCP server " + program.name(), gone);
        }
    }
}
