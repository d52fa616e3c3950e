package dev.parley.server.helidon;

import dev.parley.server.limits.BodyBudget;
import dev.parley.server.limits.FairScheduler;
import dev.parley.server.limits.HealthWatches;
import dev.parley.server.limits.Pace;
import dev.parley.server.limits.Proxies;
import dev.parley.server.limits.RefusedRequests;
import dev.parley.server.limits.UnfinishedRequests;
import io.helidon.webserver.CloseConnectionException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.System.Logger.Level;
import java.net.Socket;
import java.net.SocketAddress;
import java.nio.channels.SocketChannel;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Every open connection from its acceptance to its end, and the clock that cuts those whose peer takes too long.
 *
 * <p>Blocking sockets have no timeout for writing, and one for reading restarts with each byte; so each connection only
 * notes by when its peer must have moved on, and one thread looks at all the notes at each tick and closes the sockets
 * that are late. That makes a note cost a few nanoseconds and no object, and works in every state: in a TLS handshake,
 * in headers, in a body, in a write to a client that does not read.
 */
public final class Connections implements AutoCloseable {
    private static final System.Logger LOG = System.getLogger("dev.parley.server");

    private static final long MAX_TICK = TimeUnit.MILLISECONDS.toNanos(250);
    private static final long MIN_TICK = TimeUnit.MILLISECONDS.toNanos(10);

    /** Longer than it takes to close the listening socket. */
    private static final Duration CLOSING = Duration.ofSeconds(10);

    /** Time limits of a peer, each in nanoseconds. */
    public record Patience(long headers, long body, long idle, long write) {
        long shortest() {
            return Math.min(Math.min(headers, body), Math.min(idle, write));
        }
    }

    /** Key of an open connection. */
    record Peers(SocketAddress remote, SocketAddress local) {}

    private final long start = System.nanoTime();
    private final Map<Peers, ClientConnection> open = new ConcurrentHashMap<>();
    /** Closed connections with streams that have not ended. */
    private final Set<StreamThreads> ending = ConcurrentHashMap.newKeySet();

    private final ReentrantLock lock = new ReentrantLock();
    private final Condition ended = lock.newCondition();
    private final Patience patience;
    private final BodyBudget bodies;
    private final Proxies proxies;
    private final UnfinishedRequests unfinished;
    private final HealthWatches watches = new HealthWatches();
    private final RefusedRequests refused = new RefusedRequests();
    private final Pace lingering = new Pace(Duration.ofMillis(1));
    private final AtomicInteger streamThreads = new AtomicInteger();
    private final CountDownLatch acceptingEnded = new CountDownLatch(1);
    private final CountDownLatch closed = new CountDownLatch(1);
    private final FairScheduler shares;
    private final FairScheduler handshakes;
    private final ScheduledExecutorService clock;
    private volatile long now;
    private volatile boolean draining;

    Connections(Patience patience, BodyBudget bodies, Proxies proxies, UnfinishedRequests unfinished) {
        this.patience = patience;
        this.bodies = bodies;
        this.proxies = proxies;
        this.unfinished = unfinished;
        this.clock = Executors.newSingleThreadScheduledExecutor(
                Thread.ofPlatform().daemon().name("parley-connections").factory());
        this.shares = new FairScheduler(clock);
        this.handshakes =
                FairScheduler.always(clock, Math.max(1, Runtime.getRuntime().availableProcessors() - 1));
        var tick = Math.clamp(patience.shortest() / 8, MIN_TICK, MAX_TICK);
        var unused = clock.scheduleAtFixedRate(this::tick, tick, tick, TimeUnit.NANOSECONDS);
    }

    /** Nanoseconds since this object was made, as of the last tick. */
    long now() {
        return now;
    }

    Patience patience() {
        return patience;
    }

    /** The memory of bodies. */
    public BodyBudget bodies() {
        return bodies;
    }

    /** The proxies in front of the server. */
    Proxies proxies() {
        return proxies;
    }

    /** The requests that have not come in whole. */
    public UnfinishedRequests unfinished() {
        return unfinished;
    }

    /** The watches of health. */
    public HealthWatches watches() {
        return watches;
    }

    /** Number of threads that run streams of HTTP/2. */
    public AtomicInteger streamThreads() {
        return streamThreads;
    }

    /** Number of open connections. */
    public int count() {
        return open.size();
    }

    FairScheduler shares() {
        return shares;
    }

    /** The refused requests of each address. */
    RefusedRequests refused() {
        return refused;
    }

    /** Turns of the connections that drop the rest of a refused request. */
    Pace lingering() {
        return lingering;
    }

    /** Whether {@link #startDraining} was called. */
    public boolean draining() {
        return draining;
    }

    /**
     * Called by the accepting thread, before any other sees the channel. While the server drains, the thread accepts no more: it is kept
     * until it is interrupted, which Helidon does when the listening socket is closed.
     *
     * @throws IllegalStateException if the server drains; the channel is closed
     */
    void accepted(SocketChannel channel) {
        try {
            var peers = new Peers(channel.getRemoteAddress(), channel.getLocalAddress());
            var connection = new ClientConnection(this, peers, channel);
            open.put(peers, connection);
            if (draining) { // drain() may not have seen it
                connection.cut();
                keepFromAccepting();
                throw new IllegalStateException("draining");
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private void keepFromAccepting() {
        acceptingEnded.countDown();
        try {
            var unused = closed.await(CLOSING.toNanos(), TimeUnit.NANOSECONDS);
        } catch (InterruptedException stopped) {
            Thread.currentThread().interrupt();
        }
    }

    /** Waits until the accepting thread accepts no more, because the server drains; returns false if it still may after {@code limit}. */
    boolean awaitNoneAccepted(Duration limit) throws InterruptedException {
        return acceptingEnded.await(limit.toNanos(), TimeUnit.NANOSECONDS);
    }

    /**
     * Returns the connection that was accepted between two addresses.
     *
     * @throws CloseConnectionException if it has been cut meanwhile
     */
    ClientConnection between(Peers peers) {
        var connection = open.get(peers);
        if (connection == null) {
            throw new CloseConnectionException("cut before its first byte");
        }
        return connection;
    }

    /**
     * Waits until the TLS handshake of a connection may compute: handshakes come a few at a time, by address in turn, and leave a
     * carrier to others. The connection ends the share.
     */
    void awaitHandshake(Socket socket) {
        var connection = between(new Peers(socket.getRemoteSocketAddress(), socket.getLocalSocketAddress()));
        connection.handshakeBegins(handshakes.enter(connection.clientAddress()));
    }

    void closed(ClientConnection connection) {
        open.remove(connection.peers(), connection);
        exchangeEnded();
    }

    /** Wakes {@link #drain}; to be called after each exchange. */
    void exchangeEnded() {
        if (draining) {
            lock.lock();
            try {
                ended.signalAll();
            } finally {
                lock.unlock();
            }
        }
    }

    /** Makes every further exchange the last one of its connection. */
    public void startDraining() {
        draining = true;
    }

    /** Waits until all exchanges have ended, at most {@code nanos}; then cuts every connection. */
    public void drain(long nanos) {
        lock.lock();
        try {
            var left = nanos;
            while (left > 0 && open.values().stream().anyMatch(ClientConnection::busy)) {
                left = ended.awaitNanos(left);
            }
        } catch (InterruptedException e) {
            // The thread that waits for the drain was asked to end it.
            Thread.currentThread().interrupt();
        } finally {
            lock.unlock();
        }
        new ArrayList<>(open.values()).forEach(ClientConnection::end);
    }

    @Override
    public void close() {
        closed.countDown();
        clock.shutdownNow();
    }

    /** The connection of these streams is gone: they are interrupted at each tick until they have ended. */
    void ends(StreamThreads streams) {
        ending.add(streams);
    }

    private void interruptEnding() {
        for (var streams : List.copyOf(ending)) {
            streams.interruptRunning();
            if (streams.isTerminated()) {
                ending.remove(streams);
                if (!streams.isTerminated()) { // one has begun meanwhile
                    ending.add(streams);
                }
            }
        }
    }

    private void tick() {
        now = System.nanoTime() - start;
        interruptEnding();
        for (var connection : open.values()) {
            try {
                if (connection.late(now)) {
                    connection.cut();
                } else {
                    connection.watchIfSlow();
                }
            } catch (RuntimeException e) {
                // One connection must not stop the clock for all.
                LOG.log(Level.ERROR, "A connection could not be cut", e);
            }
        }
    }
}
