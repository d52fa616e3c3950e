package dev.parley.server.helidon;

import static dev.parley.server.helidon.ExchangeState.NEVER;

import dev.parley.server.limits.BodyBudget;
import dev.parley.server.limits.FairScheduler;
import dev.parley.server.limits.HealthWatches;
import io.helidon.common.buffers.BufferData;
import io.helidon.http.http2.Http2ErrorCode;
import io.helidon.http.http2.Http2Exception;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.channels.SocketChannel;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * One client's connection: which exchanges run on it, and by when the client must have moved on.
 *
 * <p>Written to by the thread that reads the connection and by those of its exchanges, read by the clock.
 */
final class ClientConnection {
    /** Frames may always be as long. Source: RFC 9113, section 4.2. */
    private static final int SMALLEST_FRAME = 16 * 1024;

    /** Requests of a connection that are not counted as a flood before its caller is known: refused, or running. */
    static final int SPARED = 8;

    /** Requests of an address that wait before floods from there are ended. */
    private static final int MOST_WAITING = 256;

    /** Time that further requests of an unknown caller wait for decisions about earlier ones. */
    private static final long DECISION = TimeUnit.MILLISECONDS.toNanos(100);

    /** Refused requests of a connection of HTTP/2 that end it, if none was admitted. */
    private static final int MOST_REFUSED = 100;

    /** Begins the key of a share that is an address, not a group. */
    private static final String ADDRESS = "\0";

    private final Connections all;
    private final Connections.Peers peers;
    private final SocketChannel channel;
    private final String clientAddress;

    // HTTP/1.1 has one exchange at a time and HTTP/2 many: streams is null as long as it is HTTP/1.1.
    private volatile @Nullable ExchangeState current;
    private volatile @Nullable Http2Streams streams;
    private volatile @Nullable StreamThreads threads;
    private volatile @Nullable Thread reader;
    private volatile @Nullable Inbound inbound;

    private final HealthWatches.Share watches;

    // Bytes of request bodies that the connection may still take without asking the shared budget.
    private final AtomicLong free = new AtomicLong(BodyBudget.FREE);

    private volatile long readDeadline;
    private volatile long writeDeadline = NEVER;
    private volatile boolean gone;
    // The group of all its calls; null if there were none yet, or of several groups, as behind a proxy.
    private volatile @Nullable String group;
    private volatile boolean ofSeveralGroups;
    // Written by one thread at a time if it is HTTP/1.1; a lost count of HTTP/2 does no harm.
    private volatile int refused;

    // Only for the thread that reads HTTP/1.1, which is also the one of the exchange.
    private FairScheduler.@Nullable Early share;
    private Runnable endHandshake = () -> {};
    private boolean idle;
    private boolean requestLine = true;

    ClientConnection(Connections all, Connections.Peers peers, SocketChannel channel) {
        this.all = all;
        this.peers = peers;
        this.channel = channel;
        this.watches = all.watches().new Share();
        this.clientAddress = peers.remote() instanceof InetSocketAddress client
                ? client.getAddress().getHostAddress()
                : "";
        this.readDeadline = all.now() + all.patience().headers();
    }

    Connections all() {
        return all;
    }

    Connections.Peers peers() {
        return peers;
    }

    SocketChannel channel() {
        return channel;
    }

    String clientAddress() {
        return clientAddress;
    }

    HealthWatches.Share watches() {
        return watches;
    }

    AtomicLong free() {
        return free;
    }

    /** The TLS handshake has a share of the processors, which {@code end} ends. */
    void handshakeBegins(Runnable end) {
        endHandshake = end;
    }

    /** The connection is set up: {@code inbound} reads it. */
    void starts(Inbound inbound, StreamThreads threads) {
        this.inbound = inbound;
        this.threads = threads;
        endHandshake.run();
        endHandshake = () -> {};
    }

    /** The calling thread reads the connection from now on. */
    void readByCurrentThread() {
        reader = Thread.currentThread();
    }

    /** The thread of the stream that the caller runs; null if it is HTTP/1.1. */
    @Nullable
    StreamThread streamThread() {
        var all = threads;
        return streams == null || all == null ? null : all.current();
    }

    // --- exchanges

    void begin(ExchangeState exchange) {
        var several = streams;
        if (several == null) {
            current = exchange;
        } else {
            several.begin(exchange);
        }
        if (gone) {
            exchange.disconnected();
        }
    }

    /** Bytes of an answer that may be sent at once, in one frame, whatever the client does; none for HTTP/1.1. */
    int mostTogether() {
        var several = streams;
        return several == null ? 0 : Math.min(several.window(), SMALLEST_FRAME);
    }

    /** Called before the end of the answer is sent. */
    void answerEnds(ExchangeState exchange) {
        var several = streams;
        if (several != null) {
            several.answerEnds(exchange);
        }
    }

    void end(ExchangeState exchange) {
        readDeadline = all.now() + all.patience().idle();
        var several = streams;
        if (several == null) {
            current = null;
            idle = true;
            requestLine = true;
        } else {
            several.end(exchange, all.now(), all.patience().body(), isFlood() ? 0 : ExchangeState.SOON);
        }
        all.exchangeEnded();
    }

    boolean busy() {
        var several = streams;
        return several == null ? current != null : !several.exchanges().isEmpty();
    }

    /** Whether a request of HTTP/1.1 is complete and its answer has not ended. For any thread. */
    boolean isBeingAnswered() {
        var exchange = current;
        return exchange != null && exchange.isReceived();
    }

    boolean isHttp2() {
        return streams != null;
    }

    // --- reports of the threads of the connection

    Http2Streams becomesHttp2() {
        endShare();
        readDeadline = all.now() + all.patience().idle();
        var several = new Http2Streams(all.unfinished().new Share());
        streams = several;
        return several;
    }

    /** Bytes of HTTP/1.1 have come. */
    void received(int bytes) {
        var exchange = current;
        if (exchange != null) {
            exchange.pulled(bytes);
        } else if (idle) {
            idle = false;
            readDeadline = all.now() + all.patience().headers();
        }
    }

    /**
     * Waits for the rest of a refused request, up to a limit.
     *
     * @return whether the body can be read now; if it is of HTTP/1.1, {@link LateBodyException} may still end the reading
     */
    boolean awaitRefused(ExchangeState exchange, long nanos) {
        var several = streams;
        if (several != null) {
            return several.awaitWhole(exchange.id(), isFlood() ? 0 : nanos);
        }
        var reading = inbound;
        if (reading != null) {
            reading.hurry(nanos);
        }
        return true;
    }

    /** Ends the hurry of {@link #awaitRefused}. */
    void endRefused() {
        var reading = inbound;
        if (reading != null) {
            reading.endHurry();
        }
    }

    // --- shares of the processors

    /** Notes the refusal of a request of a client without an admitted caller. */
    @SuppressWarnings("NonAtomicVolatileUpdate") // a lost increment admits one request more
    void refused(String client) {
        refused++;
        all.refused().add(client, System.nanoTime());
    }

    /** A call of a group was let in. */
    void calledBy(String caller) {
        var known = group;
        if (known == null && !ofSeveralGroups) {
            group = caller;
        } else if (known != null && !known.equals(caller)) {
            ofSeveralGroups = true;
            group = null;
        }
    }

    /** Whether no caller is known, or several are. */
    boolean isOfUnknownCaller() {
        return group == null;
    }

    /** Waits for a moment until the requests of an unknown caller are admitted or refused. For the thread that reads HTTP/2. */
    void awaitDecided() {
        var several = threads;
        if (several != null && hasNoCaller()) {
            several.awaitDecided(DECISION);
        }
    }

    /** Whether no request was admitted yet, and the connection has many, or its address had many refused lately. */
    boolean isFlood() {
        return hasNoCaller() && (hasMany() || all.refused().isFlood(clientAddress, System.nanoTime()));
    }

    private boolean hasNoCaller() {
        return group == null && !ofSeveralGroups;
    }

    private boolean hasMany() {
        var several = threads;
        return refused + (several == null ? 0 : several.count()) > SPARED;
    }

    /**
     * Waits until the next call may have a share of the processors, if it is likely to be of a known group. What comes
     * before a caller is known costs nearly as much as the answer. Floods share by address.
     *
     * @return null if the call has to ask for one
     */
    FairScheduler.@Nullable Early awaitShare() {
        var likely = group;
        if (likely != null) {
            return all.shares().enterEarly(likely);
        }
        return awaitShareOfFlood();
    }

    /**
     * Ends floods: connections with many refused requests, and those of an address that has many requests waiting: each of
     * them holds memory, also when its client has gone, which only the thread that reads the connection would notice.
     *
     * @throws Http2Exception if it is one of them
     */
    void requireNoFlood() {
        if (hasNoCaller()
                && hasMany()
                && (refused > MOST_REFUSED || all.shares().waiting(ADDRESS + clientAddress) > MOST_WAITING)) {
            throw new Http2Exception(Http2ErrorCode.ENHANCE_YOUR_CALM, "Too many requests that are not admitted");
        }
    }

    /** Waits like {@link #awaitShare} if the connection is a flood. */
    FairScheduler.@Nullable Early awaitShareOfFlood() {
        if (!isFlood()) {
            return null;
        }
        var address = ADDRESS + clientAddress;
        all.shares().called(address);
        return all.shares().enterEarly(address);
    }

    /** Whether the next bytes of HTTP/1.1 begin a request that is not the first. */
    boolean isIdle() {
        return idle;
    }

    /** The next exchange of HTTP/1.1 has this share. */
    void keep(FairScheduler.@Nullable Early share) {
        this.share = share;
    }

    /** The share of an exchange that begins. */
    FairScheduler.@Nullable Early takeShare() {
        var taken = share;
        share = null;
        return taken;
    }

    /** Ends the share of an exchange of HTTP/1.1 that did not begin. */
    void endShare() {
        var unused = takeShare();
        if (unused != null) {
            unused.end().run();
        }
    }

    /** Whether the next line of HTTP/1.1 is the first of a request; from now on it is not. */
    boolean takeRequestLine() {
        boolean first = requestLine;
        requestLine = false;
        return first;
    }

    /** The client sends no more bytes: threads that wait or work for it are interrupted. */
    void disconnected() {
        gone = true;
        var exchange = current;
        if (exchange != null) {
            exchange.disconnected();
        }
        var several = streams;
        if (several != null) {
            several.disconnected();
        }
        var running = threads;
        if (running != null) {
            running.interruptAll();
        }
    }

    boolean gone() {
        return gone;
    }

    /** Sets the time limit until the next bytes of the client. */
    void expectWithin(long nanos) {
        readDeadline = all.now() + nanos;
    }

    /** A frame goes to the client, if it is HTTP/2. */
    void writing(BufferData bytes) {
        var several = streams;
        if (several != null) {
            int type = bytes.get(Frames.TYPE);
            if (type == Frames.HEADERS || type == Frames.DATA) {
                several.earn();
            }
        }
        writing();
    }

    void writing() {
        writeDeadline = all.now() + all.patience().write();
    }

    void written() {
        writeDeadline = NEVER;
    }

    // --- calls of the clock and the drain

    boolean late(long now) {
        if (now > writeDeadline || !channel.isOpen()) {
            return true;
        }
        var exchange = current;
        if (exchange != null) {
            return now > exchange.bodyDeadline();
        }
        var several = streams;
        if (several == null) {
            return now > readDeadline;
        }
        var stream = inbound;
        return several.late(now)
                || several.exchanges().isEmpty() && now > readDeadline
                || stream != null && now > stream.returnDeadline();
    }

    /** Has a connection of HTTP/1.1 read ahead if its exchange has been running since the last call. */
    void watchIfSlow() {
        var exchange = current;
        if (exchange != null && exchange.isSlow()) {
            readAhead();
        }
    }

    /** Reads ahead while an answer is made or goes out, to learn when the client leaves. */
    void readAhead() {
        var ahead = inbound;
        if (ahead != null) {
            ahead.watch();
        }
    }

    /**
     * Closes the socket at once; what waits in it fails, and the thread that reads it is interrupted wherever it is. Bytes
     * that a stalled client has not taken are dropped.
     */
    void cut() {
        try {
            if (writeDeadline != NEVER) {
                // Otherwise the kernel keeps on offering them to a client that has stopped reading, for minutes.
                channel.setOption(StandardSocketOptions.SO_LINGER, 0);
            }
            channel.close();
        } catch (IOException e) {
            System.getLogger("dev.parley.server").log(System.Logger.Level.DEBUG, "closing a connection", e);
        }
        var waiting = reader;
        if (waiting != null) {
            waiting.interrupt();
        }
        all.closed(this);
    }

    /** The server ends: interrupts what still runs here, and cuts. */
    void end() {
        disconnected();
        cut();
    }
}
