package dev.parley.server.helidon;

import dev.parley.server.limits.BodyBudget;
import dev.parley.server.limits.Proxies;
import dev.parley.server.limits.UnfinishedRequests;
import io.helidon.common.tls.Tls;
import io.helidon.http.DirectHandler.EventType;
import io.helidon.http.HttpLogConfig;
import io.helidon.http.media.MediaContext;
import io.helidon.webserver.ErrorHandling;
import io.helidon.webserver.WebServer;
import io.helidon.webserver.WebServerConfig;
import io.helidon.webserver.http.DirectHandlers;
import io.helidon.webserver.http1.Http1Config;
import io.helidon.webserver.http2.Http2Config;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.time.Duration;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.IntConsumer;
import java.util.logging.Level;
import java.util.logging.Logger;
import javax.net.ssl.SSLContext;
import org.jspecify.annotations.Nullable;

/** Helidon on one port, with its repairs. */
public final class HelidonServer {
    private static final System.Logger LOG = System.getLogger("dev.parley.server");
    // A strong reference: the JDK forgets the level of a logger that is garbage-collected.
    private static final Logger HELIDON_LOG = Logger.getLogger("io.helidon");

    /** Longer than any grace period: when to give up on a connection, {@link Connections} decides. */
    private static final Duration HELIDON_GRACE = Duration.ofDays(1);

    private static final Duration WAKING = Duration.ofSeconds(1);
    private static final int HTTP2_WINDOW = 256 * 1024;

    /**
     * Settings of the server.
     *
     * @param standing fields of answers to invalid requests
     * @param refusals receives the status of each such answer
     * @param tls makes the context, for what waits until a handshake may compute; null without TLS
     */
    public record Settings(
            InetSocketAddress address,
            int requestLineBytes,
            int headerBytes,
            int connections,
            Connections.Patience patience,
            BodyBudget bodies,
            Proxies proxies,
            List<Field> standing,
            IntConsumer refusals,
            @Nullable Function<Consumer<Socket>, SSLContext> tls) {}

    private final Settings settings;
    private final Connections connections;
    private final ExchangeRouting routing;
    private final WebServer web;

    /** Creates a server that has not started. */
    public HelidonServer(Settings settings, Consumer<Exchange> handler) {
        quietHelidon();
        this.settings = settings;
        this.connections = new Connections(
                settings.patience(),
                settings.bodies(),
                settings.proxies(),
                UnfinishedRequests.within(Runtime.getRuntime().maxMemory()));
        this.routing = new ExchangeRouting(handler, settings.refusals());
        this.web = web(settings, routing, connections);
    }

    private static void quietHelidon() {
        if (HELIDON_LOG.getLevel() == null) {
            HELIDON_LOG.setLevel(Level.WARNING);
        }
    }

    /**
     * Opens the port and serves.
     *
     * @throws UncheckedIOException if the address cannot be bound
     */
    public void start() {
        var version = HelidonVersion.running();
        if (version != null && !version.equals(HelidonVersion.REVIEWED)) {
            LOG.log(
                    System.Logger.Level.WARNING,
                    "Helidon {0}: the protections of this server are reviewed for {1} only",
                    version,
                    HelidonVersion.REVIEWED);
        }
        checkFree(settings.address());
        web.start();
        if (!web.isRunning()) {
            connections.close();
            throw new UncheckedIOException(new IOException(settings.address() + ": cannot be bound"));
        }
    }

    /** Closes the listening socket at once, then waits for the connections. {@link Connections#startDraining} was called before. */
    public void stop() {
        endAccepting();
        web.stop();
    }

    /** Drops the handler, after {@link #stop} and the end of all connections: Helidon never lets go of a server that has stopped. */
    public void release() {
        routing.release();
    }

    /**
     * Has the accepting thread leave {@code accept} by a connection to itself, as far as clients have not done it. Helidon closes the
     * listening socket and interrupts that thread. If it is then accepting a connection, Java 25 neither returns the socket nor closes
     * it, and the client waits until the end of the process.
     */
    private void endAccepting() {
        InetAddress bound = settings.address().getAddress();
        InetAddress own = bound.isAnyLocalAddress() ? InetAddress.getLoopbackAddress() : bound;
        try (var waking = new Socket()) {
            waking.connect(new InetSocketAddress(own, port()), (int) WAKING.toMillis());
            if (!connections.awaitNoneAccepted(WAKING)) {
                LOG.log(System.Logger.Level.DEBUG, "{0}: accepts connections until it is closed", own);
            }
        } catch (IOException unreachable) {
            LOG.log(System.Logger.Level.DEBUG, "no connection to {0}: {1}", own, unreachable);
        } catch (InterruptedException impatient) {
            Thread.currentThread().interrupt();
        }
    }

    /** The port that is bound. */
    public int port() {
        return web.port();
    }

    /** The open connections. */
    public Connections connections() {
        return connections;
    }

    /** Helidon logs a failure to bind, and returns as if nothing had happened. */
    private static void checkFree(InetSocketAddress address) {
        try (var socket = new ServerSocket()) {
            socket.setReuseAddress(true);
            socket.bind(address);
        } catch (IOException e) {
            throw new UncheckedIOException(address + ": " + e.getMessage(), e);
        }
    }

    private static WebServer web(Settings settings, ExchangeRouting door, Connections connections) {
        var problems = DirectHandlers.builder();
        for (var type : EventType.values()) {
            problems.addHandler(type, new EarlyProblems(settings.headerBytes(), door::refused, settings.standing()));
        }
        var web = WebServerConfig.builder()
                // As fast as channels, half the memory for each connection; and with channels and TLS, Helidon asks the
                // name service for the name of each client before it shakes hands.
                .useNio(false)
                .bindAddress(settings.address())
                .addConnectionSelector(new Protocols(connections, door, http1(settings), http2(settings)))
                .connectionOptions(new AcceptedSockets(connections::accepted))
                .maxTcpConnections(settings.connections())
                .directHandlers(problems.build())
                // Passes the problem on to EarlyProblems, which words the answer.
                .errorHandling(ErrorHandling.builder().includeEntity(true).build())
                // Events are written in one piece already, and a buffer for each stream would be idle most of the time.
                .writeBufferSize(0)
                .shutdownHook(false)
                .shutdownGracePeriod(HELIDON_GRACE)
                .protocolsDiscoverServices(false)
                .featuresDiscoverServices(false)
                .concurrencyLimitDiscoverServices(false)
                .mediaContext(MediaContext.builder()
                        .mediaSupportsDiscoverServices(false)
                        .registerDefaults(false)
                        .build())
                .contentEncoding(new Uncompressed());
        if (settings.tls() != null) {
            web.tls(Tls.builder()
                    .sslContext(settings.tls().apply(connections::awaitHandshake))
                    .build());
        }
        return web.build();
    }

    private static Http1Config http1(Settings settings) {
        return Http1Config.builder()
                .maxPrologueLength(settings.requestLineBytes())
                .maxHeadersSize(settings.headerBytes())
                // RequestTarget does it.
                .validatePath(false)
                .validatePrologue(false)
                .sendKeepAliveHeader(false)
                .log(quiet())
                .build();
    }

    private static Http2Config http2(Settings settings) {
        return Http2Config.builder()
                .maxHeaderListSize(settings.headerBytes())
                .maxConcurrentStreams(Http2Streams.MOST)
                // In 10 s: a client, or a proxy in front of many, may give up all its calls at once without losing the
                // connection. Those that go on so are bounded by Http2Streams.
                .maxRapidResets(Http2Streams.MOST)
                .initialWindowSize(HTTP2_WINDOW)
                .flowControlTimeout(Duration.ofNanos(settings.patience().write()))
                // RequestTarget does it; here it would cost the whole connection and a stack trace in the log.
                .validatePath(false)
                .log(quiet())
                .build();
    }

    private static HttpLogConfig quiet() {
        return HttpLogConfig.builder().receiveLog(false).sendLog(false).build();
    }
}
