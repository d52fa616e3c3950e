package dev.parley.mcp.agent;

import dev.parley.mcp.McpException;
import dev.parley.mcp.Tool;
import dev.parley.mcp.agent.ServerOperation.LogLine;
import dev.parley.mcp.client.McpClient;
import dev.parley.mcp.client.Pauses;
import dev.parley.mcp.client.ServerFailure;
import dev.parley.mcp.client.ServerFailure.Kind;
import dev.parley.mcp.client.ToolPage;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.support.Excerpt;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A configured server: its connection, which a thread keeps up with growing pauses between attempts, and those of its tools that are
 * approved in their present definition. Safe for any thread.
 */
final class HostedServer implements AutoCloseable {
    /** Makes connections. */
    @FunctionalInterface
    interface Connector {
        /**
         * @param log called with each line that the process writes to its standard error
         * @param onExit called if the process of the server ends
         */
        McpClient connect(ServersFile.Entry entry, Consumer<String> log, Runnable onExit) throws InterruptedException;
    }

    private static final long BEGIN = System.nanoTime();
    private static final System.Logger LOG = System.getLogger("dev.parley.mcp");
    private static final Duration SHORTEST_TTL = Duration.ofSeconds(30);
    private static final Duration LONGEST_TTL = Duration.ofHours(1);
    private static final Duration PATIENCE = Duration.ofSeconds(30);

    /** Pause between two readings of the tools, so that a server that reports changes all the time costs little. */
    private static final Duration SHORTEST_PAUSE = Duration.ofSeconds(1);

    private static final Duration LONGEST_PAUSE = Duration.ofSeconds(30);

    /** Pause between two readings of a long list, in times of the work on it. */
    private static final int REST = 20;

    /** Pause between two attempts while calls want the server. */
    private static final Duration WANTED_PAUSE = Duration.ofSeconds(5);

    private static final int MOST_OF_PROBLEM = 500;

    /** A connection that lasted so long begins the pauses anew. */
    private static final long STABLE_NANOS = TimeUnit.MINUTES.toNanos(1);

    /** Also over restarts of the process. */
    private static final int MOST_LOGGED = 200;

    private final ArrayDeque<LogLine> log = new ArrayDeque<>();
    private final ServersFile.Entry entry;
    private final ToolTable table;
    private final Connector connector;
    private final Runnable onTools;
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition change = lock.newCondition();
    // A thread that learns of an approval takes a number afterwards, so only readings with lower ones may lack it.
    private final AtomicLong readings = new AtomicLong();
    private long adopted; // number of a reading; guarded by adopting
    private final ReentrantLock adopting = new ReentrantLock(); // held until the tools are reported

    private @Nullable McpClient client;
    private boolean isUnreachable; // the last attempt has failed, or the next one is far away
    private boolean isWanted;
    private boolean isLost;
    private boolean isStale;
    private boolean closed;
    private volatile Map<String, Tool> offered = Map.of(); // by the digests of the definitions
    private volatile List<Tool> approved;
    private volatile @Nullable String problem = "not connected yet";
    private volatile String lastProblem = "";
    private final AtomicInteger connections = new AtomicInteger();
    private volatile long freshUntil = Long.MAX_VALUE;
    private volatile @Nullable Thread keeper;
    private long lastRead = System.nanoTime() - SHORTEST_PAUSE.toNanos();
    private long workNanos; // only for the keeper
    private @Nullable String noted; // only for the keeper

    /** @param onTools called when the approved tools change */
    HostedServer(ServersFile.Entry entry, ToolTable table, Connector connector, Runnable onTools) {
        this.entry = entry;
        this.table = table;
        this.connector = connector;
        this.onTools = onTools;
        // Until the server can be asked, the card has the tools of the last time.
        this.approved = table.rows(entry.name()).stream()
                .flatMap(row -> Optional.ofNullable(row.approved()).stream())
                .toList();
    }

    private void log(String line) {
        synchronized (log) {
            if (log.size() == MOST_LOGGED) {
                log.removeFirst();
            }
            log.addLast(new LogLine(Instant.now(), line));
        }
    }

    /** The newest lines that the process of the server wrote to its standard error, the oldest first; none of servers over HTTP. */
    List<LogLine> log() {
        synchronized (log) {
            return List.copyOf(log);
        }
    }

    ServersFile.Entry entry() {
        return entry;
    }

    void begin() {
        keeper = Thread.ofVirtual().name("mcp-" + entry.name()).start(this::keep);
    }

    /** Waits for the first attempt to reach a server that was never asked before, until a time of {@link System#nanoTime}. */
    void awaitTools(long until) {
        lock.lock();
        try {
            long rest = until - System.nanoTime();
            while (client == null && lastProblem.isEmpty() && approved.isEmpty() && !closed && rest > 0) {
                rest = change.awaitNanos(rest);
            }
        } catch (InterruptedException stop) {
            Thread.currentThread().interrupt();
        } finally {
            lock.unlock();
        }
    }

    private void keep() {
        var pauses = new Pauses();
        try {
            while (!isClosed()) {
                long begun = System.nanoTime();
                int before = connections.get();
                try {
                    connectAndFollow();
                } catch (ServerFailure | McpException failure) {
                    problem = Excerpt.of(String.valueOf(failure.getMessage()), MOST_OF_PROBLEM);
                } catch (RuntimeException defect) {
                    problem = "internal error";
                    LOG.log(System.Logger.Level.WARNING, "MCP server " + entry.name(), defect);
                }
                disconnect();
                if (!isClosed()) {
                    if (System.nanoTime() - begun > STABLE_NANOS) {
                        pauses.progress();
                    }
                    Duration pause = pauses.next(null);
                    unreachable(connections.get() == before || pause.compareTo(entry.timeout()) > 0);
                    contact(String.valueOf(problem));
                    LOG.log(
                            System.Logger.Level.WARNING,
                            "MCP server {0}: {1}; next attempt in {2} ms",
                            entry.name(),
                            problem,
                            pause.toMillis());
                    await(pause);
                }
            }
        } catch (InterruptedException stop) {
            Thread.currentThread().interrupt();
        } finally {
            disconnect();
        }
    }

    /** Notes a change between connected, with an empty problem, and another state. */
    private void contact(String state) {
        if (!state.isEmpty()) {
            lastProblem = state;
            publish(null); // ends the wait for the first contact
        }
        if (!state.equals(noted)) {
            noted = state;
            try {
                table.contact(entry.name(), state);
            } catch (RuntimeException unwritten) {
                LOG.log(System.Logger.Level.WARNING, "MCP server " + entry.name(), unwritten);
            }
        }
    }

    private void connectAndFollow() throws InterruptedException {
        lock.lock();
        try {
            isLost = false;
            isStale = false;
        } finally {
            lock.unlock();
        }
        McpClient connected = connector.connect(entry, this::log, () -> signal(true));
        try {
            connected.onChange(list -> {
                if (list.equals("tools")) {
                    signal(false);
                }
            });
            read(connected);
            connections.incrementAndGet();
            publish(connected);
            contact("");
            while (awaitChange()) {
                read(connected);
            }
            problem = "the connection is lost";
        } finally {
            publish(null);
            connected.close();
        }
    }

    private void read(McpClient connected) throws InterruptedException {
        ToolPage tools = connected.tools();
        long begun = System.nanoTime();
        Duration ttl = tools.ttl();
        Duration kept = ttl == null || ttl.compareTo(LONGEST_TTL) > 0
                ? LONGEST_TTL
                : ttl.compareTo(SHORTEST_TTL) < 0 ? SHORTEST_TTL : ttl;
        freshUntil = elapsed() + kept.toNanos();
        offered = table.offered(entry.name(), tools.tools());
        adopt();
        workNanos = System.nanoTime() - begun;
    }

    private static long elapsed() {
        return System.nanoTime() - BEGIN;
    }

    /** Has a list whose time is over be read again. Without use it is not, so an idle hub sends nothing. */
    private void use() {
        if (elapsed() > freshUntil) {
            signal(false);
        }
    }

    /** Takes over which tools may be used: those that the server offers in their approved definitions. */
    private void adopt() {
        long reading = readings.incrementAndGet();
        List<ToolTable.Pin> pins = table.pins(entry.name());
        long held = pins.stream().filter(pin -> pin.heldDigest() != null).count();
        if (held > 0) {
            LOG.log(
                    System.Logger.Level.WARNING,
                    "MCP server {0}: {1} new or changed tools wait for approval (parley mcp tools {0})",
                    entry.name(),
                    held);
        }
        adopting.lock();
        try {
            if (reading > adopted) {
                adopted = reading;
                List<Tool> usable = pins.stream()
                        .flatMap(pin -> Optional.ofNullable(offered.get(pin.digest())).stream())
                        .toList();
                if (!usable.equals(approved)) {
                    approved = usable;
                    onTools.run();
                }
            }
        } finally {
            adopting.unlock();
        }
    }

    /** Reports the tools as if they had changed. */
    void report() {
        adopting.lock();
        try {
            onTools.run();
        } finally {
            adopting.unlock();
        }
    }

    /** Takes over what has been approved since, by this hub or another one. */
    void approved() {
        if (!offered.isEmpty()) {
            adopt();
        }
    }

    List<Tool> tools() {
        use();
        return approved;
    }

    /**
     * An approved tool.
     *
     * @throws McpException INVALID_PARAMS if there is none, or its definition waits for approval
     */
    Tool tool(String name) {
        Optional<Tool> tool =
                approved.stream().filter(each -> each.name().equals(name)).findFirst();
        if (tool.isPresent()) {
            return tool.get();
        }
        ToolTable.Row row = table.row(entry.name(), name).orElseThrow(() -> McpException.notFound("tool", name));
        if (row.approved() != null && offered.containsKey(row.digest())) {
            approved(); // by another hub
            return row.approved();
        }
        throw row.held() == null
                ? McpException.notFound("tool", name)
                : new McpException(
                        McpException.INVALID_PARAMS,
                        "tool \"" + name + "\": its definition is new or has changed, and waits for approval");
    }

    /**
     * The connection; waits for it while one is being made, up to the time limit of a call.
     *
     * @throws ServerFailure CONNECTION with the last problem if there is none in time, or at once if the last attempt has failed
     */
    McpClient client() throws InterruptedException {
        return client(false);
    }

    /** @param isPatient whether to wait also if the last attempt has failed */
    McpClient client(boolean isPatient) throws InterruptedException {
        use();
        lock.lockInterruptibly();
        try {
            long rest = Math.min(PATIENCE.toNanos(), entry.timeout().toNanos());
            while (client == null && (isPatient || !isUnreachable) && rest > 0 && !closed) {
                rest = change.awaitNanos(rest);
            }
            if (client == null) {
                isWanted = true;
                change.signalAll();
                String name = "MCP server \"" + entry.name() + "\": ";
                String known = String.valueOf(problem);
                throw new ServerFailure(Kind.CONNECTION, known.startsWith(name) ? known : name + known);
            }
            return client;
        } finally {
            lock.unlock();
        }
    }

    private void unreachable(boolean is) {
        lock.lock();
        try {
            isUnreachable = is;
            change.signalAll();
        } finally {
            lock.unlock();
        }
    }

    /** The connection; empty while there is none. */
    Optional<McpClient> connection() {
        lock.lock();
        try {
            return Optional.ofNullable(client);
        } finally {
            lock.unlock();
        }
    }

    /** The error for callers while attempts to reach the server fail; the next one is made soon. Empty otherwise. */
    Optional<A2AException> refusal() {
        lock.lock();
        try {
            if (client != null || !isUnreachable) {
                return Optional.empty();
            }
            isWanted = true;
            change.signalAll();
            return Optional.of(A2AException.unavailable(
                    "MCP server \"" + entry.name() + "\" cannot be reached: " + problem, WANTED_PAUSE));
        } finally {
            lock.unlock();
        }
    }

    /** Connections after the first one. */
    int restarts() {
        return Math.max(0, connections.get() - 1);
    }

    /** The last reason for the end of a connection, or for a failed attempt; empty for none since the start of the hub. */
    String lastProblem() {
        return lastProblem;
    }

    /** Why there is no connection; empty if there is one. */
    Optional<String> problem() {
        return Optional.ofNullable(problem);
    }

    private void publish(@Nullable McpClient connected) {
        lock.lock();
        try {
            client = connected;
            if (connected != null) {
                isUnreachable = false;
                problem = null;
            }
            change.signalAll();
        } finally {
            lock.unlock();
        }
    }

    private void signal(boolean lost) {
        lock.lock();
        try {
            if (lost) {
                isLost = true;
                client = null;
            }
            isStale = true;
            change.signalAll();
        } finally {
            lock.unlock();
        }
    }

    /** @return true if the tools are to be read again, false if the connection is lost */
    private boolean awaitChange() throws InterruptedException {
        lock.lockInterruptibly();
        try {
            while (!isLost && !isStale && !closed) {
                change.await();
            }
            long pause = Math.clamp(REST * workNanos, SHORTEST_PAUSE.toNanos(), LONGEST_PAUSE.toNanos())
                    - (System.nanoTime() - lastRead);
            while (!isLost && !closed && pause > 0) {
                pause = change.awaitNanos(pause);
            }
            isStale = false;
            lastRead = System.nanoTime();
            return !isLost && !closed;
        } finally {
            lock.unlock();
        }
    }

    /** Waits for the next attempt, which comes earlier if calls want the server. */
    private void await(Duration pause) throws InterruptedException {
        lock.lockInterruptibly();
        try {
            long begun = System.nanoTime();
            isWanted = false;
            for (long waited = 0; !closed && waited < pause.toNanos(); waited = System.nanoTime() - begun) {
                long rest = (isWanted ? Math.min(pause.toNanos(), WANTED_PAUSE.toNanos()) : pause.toNanos()) - waited;
                if (rest <= 0) {
                    return;
                }
                long unused = change.awaitNanos(rest);
            }
        } finally {
            lock.unlock();
        }
    }

    private boolean isClosed() {
        lock.lock();
        try {
            return closed;
        } finally {
            lock.unlock();
        }
    }

    private void disconnect() {
        publish(null);
    }

    /** Ends the connection, and waits for the end of the process. */
    @Override
    public void close() {
        lock.lock();
        try {
            closed = true;
            change.signalAll();
        } finally {
            lock.unlock();
        }
        Thread running = keeper;
        if (running == null) {
            return;
        }
        try {
            if (!running.join(Duration.ofSeconds(1))) {
                running.interrupt(); // it waits for an answer of the server
                boolean unused = running.join(Duration.ofSeconds(10));
            }
        } catch (InterruptedException stop) {
            Thread.currentThread().interrupt();
        }
    }
}
