package dev.parley.server;

import dev.parley.protocol.support.Loopback;
import dev.parley.server.limits.BodyBudget;
import dev.parley.server.limits.Proxies;
import dev.parley.server.wire.Cors;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/** A site in a container. */
final class MountedSite extends AgentSite implements Mount {
    private final String url;
    private final Gate gate;
    private final BodyBudget bodies;
    private final Proxies proxies;
    private final Duration keepAlive;
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition ended = lock.newCondition();
    private int running;
    private volatile boolean draining;

    MountedSite(ServerBuilder settings) {
        super(settings.defaultAgent, settings.maxStreams, settings.gracePeriod);
        if (settings.publicUrl == null) {
            throw new IllegalArgumentException("public URL: none (expected: the URL at which the container serves)");
        }
        this.url = settings.publicUrl;
        this.bodies = BodyBudget.of(settings.maxBodyBytes);
        this.keepAlive = settings.keepAlive;
        this.proxies = settings.proxies;
        var routes = settings.routes(agents, () -> draining);
        String host = settings.publicHost();
        var browsers = settings.browsers(new Cors(settings.corsOrigins), host != null && !Loopback.is(host));
        this.gate = new Gate(routes, browsers, streams, settings.forThisMachine);
    }

    @Override
    public void handle(HttpExchange exchange) throws IOException {
        change(1);
        try (var call = new MountedCall(exchange, bodies, proxies)) {
            call.answer(gate, keepAlive, () -> draining || gate.isEnded());
        } catch (UncheckedIOException broken) {
            throw broken.getCause();
        } finally {
            change(-1);
        }
    }

    private void change(int by) {
        lock.lock();
        try {
            running += by;
            ended.signalAll();
        } finally {
            lock.unlock();
        }
    }

    @Override
    public String url() {
        return url;
    }

    @Override
    public void drain(Duration grace) {
        draining = true;
        endStreams();
        lock.lock();
        try {
            for (long left = grace.toNanos(); running > 0 && left > 0; ) {
                left = ended.awaitNanos(left);
            }
        } catch (InterruptedException impatient) {
            Thread.currentThread().interrupt();
        } finally {
            lock.unlock();
        }
    }
}
