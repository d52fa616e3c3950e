package dev.parley.server;

import dev.parley.dialect.DialectSettings;
import dev.parley.dialect.Dialects;
import dev.parley.dialect.ServedAgent;
import dev.parley.dialect.grpc.GrpcDialect;
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
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.time.Duration;
import java.util.Collection;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.logging.Level;
import java.util.logging.Logger;
import org.jspecify.annotations.Nullable;

/** The server, on Helidon. */
final class HttpServer implements Server {
    // A strong reference: the JDK forgets the level of a logger that is garbage-collected.
    private static final System.Logger LOG = System.getLogger("dev.parley.server");
    private static final Logger HELIDON_LOG = Logger.getLogger("io.helidon");

    /** Longer than any grace period: when to give up on a connection, {@link Connections} decides. */
    private static final Duration HELIDON_GRACE = Duration.ofDays(1);

    private static final long STOP_SECONDS = 2;
    static final int HTTP2_STREAMS = 1024;
    private static final int HTTP2_WINDOW = 256 * 1024;

    private final Duration gracePeriod;
    private final AgentDirectory agents;
    private final Connections connections;
    private final OpenStreams streams;
    private final WebServer web;
    private final @Nullable FutureTask<GrpcDialect> grpc;
    private final @Nullable AutoCloseable certificateFiles;
    private final AtomicBoolean drainStarted = new AtomicBoolean();
    private final CountDownLatch drained = new CountDownLatch(1);

    private HttpServer(ServerBuilder settings, InetSocketAddress address) {
        this.gracePeriod = settings.gracePeriod;
        this.connections = new Connections(
                new Connections.Patience(
                        settings.headerTimeout.toNanos(),
                        settings.bodyTimeout.toNanos(),
                        settings.idleTimeout.toNanos(),
                        settings.writeTimeout.toNanos()),
                // A quarter of the heap: a body is held twice while it is parsed, and there is other work too.
                new BodyBudget(settings.maxBodyBytes, Runtime.getRuntime().maxMemory() / 4),
                UnfinishedRequests.within(Runtime.getRuntime().maxMemory()));
        this.streams = new OpenStreams(settings.maxStreams);
        this.agents = new AgentDirectory(() -> url(settings), settings.defaultAgent);
        var routes = new Routes(
                settings.dialects,
                agents,
                settings.authenticator,
                settings.protectCards,
                settings.handlers,
                settings.home,
                settings.obstacle,
                settings.readinessTest,
                connections::draining,
                settings.refusals);
        this.grpc = settings.grpc == null ? null : grpc(settings.grpc, routes);
        var cors = new Cors(settings.corsOrigins);
        var browsers = new BrowserRule(settings, cors);
        var door = new Door(
                routes, cors, browsers, streams, settings.keepAlive, grpc, settings.authenticator, settings.refusals);
        this.web = web(settings, address, door, connections);
        this.certificateFiles = settings.tls == null ? null : watched(settings.tls);
    }

    private FutureTask<GrpcDialect> grpc(DialectSettings settings, Routes routes) {
        return new FutureTask<>(() -> new GrpcDialect(
                settings, tenant -> tenant.isEmpty() ? agents.defaultAgent() : agents.get(tenant), routes::isReady));
    }

    private static AutoCloseable watched(TlsIdentity tls) {
        try {
            return tls.watch();
        } catch (IOException e) {
            throw new UncheckedIOException("the files of the certificate cannot be watched", e);
        }
    }

    /** Makes a server that is never started. */
    static void prepare() {
        quietHelidon();
        var settings = Server.builder(new Dialects(DialectSettings.DEFAULTS));
        new HttpServer(settings, new InetSocketAddress(settings.bindAddress, 0)).connections.close();
    }

    private static void quietHelidon() {
        if (HELIDON_LOG.getLevel() == null) {
            HELIDON_LOG.setLevel(Level.WARNING);
        }
    }

    static Server start(ServerBuilder settings) {
        quietHelidon();
        var address = new InetSocketAddress(settings.bindAddress, settings.port);
        checkFree(address);
        var server = new HttpServer(settings, address);
        server.web.start();
        if (!server.web.isRunning()) {
            server.connections.close();
            throw new UncheckedIOException(new IOException(address + ": cannot be bound"));
        }
        if (server.grpc != null) {
            // Its classes are a tenth of a start, and few of the first calls need them.
            Thread.ofPlatform().daemon().name("parley-grpc").start(server.grpc);
        }
        return server;
    }

    Connections connections() {
        return connections;
    }

    /** How many event streams are open. */
    int openStreams() {
        return streams.count();
    }

    @Override
    public int port() {
        return web.port();
    }

    @Override
    public String url() {
        return agents.url();
    }

    @Override
    public String agentUrl(String name) {
        return agents.urlOf(name);
    }

    @Override
    public String authority() {
        var url = URI.create(url());
        int port = url.getPort() >= 0 ? url.getPort() : url.getScheme().equalsIgnoreCase("https") ? 443 : 80;
        return url.getHost() + ":" + port;
    }

    @Override
    public void add(ServedAgent agent) {
        agents.add(agent);
    }

    @Override
    public boolean remove(String name) {
        return agents.remove(name);
    }

    @Override
    public Collection<ServedAgent> agents() {
        return agents.all();
    }

    @Override
    public void drain(Duration grace) {
        try {
            if (drainStarted.compareAndSet(false, true)) {
                connections.startDraining();
                // Closes the listening socket at once, then waits for the connections.
                var stop = Thread.ofVirtual().name("parley-stop").start(web::stop);
                streams.endAll();
                connections.watches().endAll();
                connections.drain(grace.toNanos());
                stop.join(Duration.ofSeconds(STOP_SECONDS));
                connections.close();
                closeFiles();
                drained.countDown();
            } else {
                drained.await();
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private void closeFiles() {
        if (certificateFiles != null) {
            try {
                certificateFiles.close();
            } catch (Exception e) { // AutoCloseable says no more of it
                LOG.log(System.Logger.Level.DEBUG, "the files of the certificate", e);
            }
        }
    }

    @Override
    public void close() {
        drain(gracePeriod);
    }

    private String url(ServerBuilder settings) {
        if (settings.publicUrl != null) {
            return settings.publicUrl;
        }
        var scheme = settings.tls == null ? "http" : "https";
        return scheme + "://" + host(settings.bindAddress) + ":" + port();
    }

    /** Host name for clients on this machine. The names under which others reach it are unknown. */
    private static String host(String bindAddress) {
        if (new InetSocketAddress(bindAddress, 0).getAddress().isAnyLocalAddress()) {
            return "localhost";
        }
        return bindAddress.contains(":") ? "[" + bindAddress + "]" : bindAddress;
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

    private static WebServer web(
            ServerBuilder settings, InetSocketAddress address, Door door, Connections connections) {
        var problems = DirectHandlers.builder();
        for (var type : EventType.values()) {
            problems.addHandler(type, new EarlyProblems(settings.maxHeaderBytes, settings.refusals));
        }
        var web = WebServerConfig.builder()
                // As fast as channels, half the memory for each connection; and with channels and TLS, Helidon asks the
                // name service for the name of each client before it shakes hands.
                .useNio(false)
                .bindAddress(address)
                .addConnectionSelector(new Protocols(connections, door, http1(settings), http2(settings)))
                .connectionOptions(AcceptedSockets.shownTo(connections::accepted))
                .maxTcpConnections(settings.maxConnections)
                .directHandlers(problems.build())
                // Passes the problem to the handlers above, which write the answer.
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
        if (settings.tls != null) {
            web.tls(Tls.builder()
                    .sslContext(settings.tls.context(settings.clientAuthorities, connections::awaitHandshake))
                    .build());
        }
        return web.build();
    }

    private static Http1Config http1(ServerBuilder settings) {
        return Http1Config.builder()
                .maxPrologueLength(settings.maxRequestLineBytes)
                .maxHeadersSize(settings.maxHeaderBytes)
                // RequestTarget does it.
                .validatePath(false)
                .validatePrologue(false)
                .sendKeepAliveHeader(false)
                .log(quiet())
                .build();
    }

    private static Http2Config http2(ServerBuilder settings) {
        return Http2Config.builder()
                .maxHeaderListSize(settings.maxHeaderBytes)
                .maxConcurrentStreams(HTTP2_STREAMS)
                .initialWindowSize(HTTP2_WINDOW)
                .flowControlTimeout(settings.writeTimeout)
                // RequestTarget does it; here it would cost the whole connection and a stack trace in the log.
                .validatePath(false)
                .log(quiet())
                .build();
    }

    private static HttpLogConfig quiet() {
        return HttpLogConfig.builder().receiveLog(false).sendLog(false).build();
    }
}
