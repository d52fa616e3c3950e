package dev.parley.server;

import dev.parley.dialect.DialectSettings;
import dev.parley.dialect.Dialects;
import dev.parley.dialect.grpc.GrpcDialect;
import dev.parley.server.helidon.Connections;
import dev.parley.server.helidon.Exchange;
import dev.parley.server.helidon.HelidonServer;
import dev.parley.server.limits.BodyBudget;
import dev.parley.server.wire.Cors;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.FutureTask;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** The server, on Helidon. */
final class HttpServer extends AgentSite implements Server {
    private static final System.Logger LOG = System.getLogger("dev.parley.server");
    private static final long STOP_SECONDS = 2;

    private final ServerBuilder settings;
    private final InetSocketAddress address;
    private final HelidonServer web;
    private final @Nullable FutureTask<GrpcDialect> grpc;
    private final @Nullable AutoCloseable certificateFiles;
    private final AtomicBoolean drainStarted = new AtomicBoolean();
    private final CountDownLatch drained = new CountDownLatch(1);

    private HttpServer(ServerBuilder settings, InetSocketAddress address) {
        super(settings.defaultAgent, settings.maxStreams, settings.gracePeriod);
        this.settings = settings;
        this.address = address;
        var routes = settings.routes(agents, () -> connections().draining());
        FutureTask<GrpcDialect> dialect = settings.grpc == null ? null : grpc(settings.grpc, settings, routes);
        this.grpc = dialect;
        var cors = new Cors(settings.corsOrigins);
        var browsers = settings.browsers(
                cors, address.isUnresolved() || !address.getAddress().isLoopbackAddress());
        var gate = new Gate(routes, browsers, streams, false);
        Consumer<Exchange> calls = dialect == null ? null : exchange -> call(dialect, gate, browsers, exchange);
        this.web = new HelidonServer(
                foundation(settings, address), new RequestEntry(gate, cors, settings.keepAlive, calls));
        this.certificateFiles = settings.tls == null ? null : watched(settings.tls);
    }

    private FutureTask<GrpcDialect> grpc(DialectSettings dialects, ServerBuilder settings, RequestRouter routes) {
        return new FutureTask<>(() -> new GrpcDialect(
                dialects,
                tenant -> tenant.isEmpty() ? agents.defaultAgent() : agents.get(tenant),
                settings.absent,
                routes::isReady));
    }

    private void call(Future<GrpcDialect> grpc, Gate gate, BrowserRule browsers, Exchange exchange) {
        new GrpcCall(
                        await(grpc, exchange),
                        browsers,
                        settings.authenticator,
                        streams,
                        gate,
                        settings.refusals,
                        exchange)
                .run();
    }

    /** Returns the dialect, which the server makes in the background when it has started. */
    private static GrpcDialect await(Future<GrpcDialect> grpc, Exchange exchange) {
        try {
            return grpc.get();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw exchange.broken("interrupted");
        } catch (ExecutionException e) {
            throw new IllegalStateException("gRPC", e.getCause());
        }
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
        var settings = Server.builder(new Dialects(DialectSettings.DEFAULTS));
        new HttpServer(settings, new InetSocketAddress(settings.bindAddress, 0))
                .connections()
                .close();
    }

    static Server start(ServerBuilder settings) {
        var server = new HttpServer(settings, new InetSocketAddress(settings.bindAddress, settings.port));
        server.web.start();
        if (server.grpc != null) {
            // Its classes are a tenth of a start, and few of the first calls need them.
            Thread.ofPlatform().daemon().name("parley-grpc").start(server.grpc);
        }
        return server;
    }

    Connections connections() {
        return web.connections();
    }

    @Override
    public int port() {
        return web.port();
    }

    @Override
    public void endStreams() {
        super.endStreams();
        connections().watches().endAll();
    }

    @Override
    public void drain(Duration grace) {
        try {
            if (drainStarted.compareAndSet(false, true)) {
                connections().startDraining();
                // Closes the listening socket at once, then waits for the connections().
                var stop = Thread.ofVirtual().name("parley-stop").start(web::stop);
                endStreams();
                connections().drain(grace.toNanos());
                stop.join(Duration.ofSeconds(STOP_SECONDS));
                connections().close();
                web.release();
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
    public String url() {
        if (settings.publicUrl != null) {
            return settings.publicUrl;
        }
        var scheme = settings.tls == null ? "http" : "https";
        return scheme + "://" + host() + ":" + port();
    }

    /** Host name for clients on this machine. The names under which others reach it are unknown. */
    private String host() {
        if (address.getAddress().isAnyLocalAddress()) {
            return "localhost";
        }
        String bindAddress = settings.bindAddress;
        return bindAddress.contains(":") ? "[" + bindAddress + "]" : bindAddress;
    }

    private static HelidonServer.Settings foundation(ServerBuilder settings, InetSocketAddress address) {
        var tls = settings.tls;
        return new HelidonServer.Settings(
                address,
                settings.maxRequestLineBytes,
                settings.maxHeaderBytes,
                settings.maxConnections,
                new Connections.Patience(
                        settings.headerTimeout.toNanos(),
                        settings.bodyTimeout.toNanos(),
                        settings.idleTimeout.toNanos(),
                        settings.writeTimeout.toNanos()),
                BodyBudget.of(settings.maxBodyBytes),
                settings.proxies,
                AnswerWriter.FOR_BROWSERS,
                settings.refusals,
                tls == null ? null : share -> tls.context(settings.clientAuthorities, share));
    }
}
