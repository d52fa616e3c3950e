package dev.parley.gateway.upstream;

import dev.parley.client.AgentClient;
import dev.parley.client.spi.ClientException;
import dev.parley.client.spi.ClientException.Problem;
import dev.parley.gateway.upstream.UpstreamSettings.Address;
import dev.parley.protocol.support.Sha256;
import java.time.Duration;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** One replica: its client, load and breaker. Safe for any thread. */
final class Replica {
    /** Length of ids in hexadecimal digits. */
    private static final int ID_LENGTH = 12;

    private static final Duration SOON = Duration.ofSeconds(1);

    final Load load = new Load();
    final Breaker breaker = new Breaker();

    private final String id;
    private final ReentrantLock connecting = new ReentrantLock();
    private volatile @Nullable AgentClient client;
    private volatile Address address;
    private volatile long busyUntil = Long.MIN_VALUE;
    private volatile boolean retired;
    private volatile boolean closed;

    Replica(Address address) {
        this.id = id(address.url());
        this.address = address;
    }

    /** Id of the replica at an address; it stays the same while the address does. */
    static String id(String url) {
        String bare = url.replaceFirst("/+$", "");
        return Sha256.hex(bare).substring(0, ID_LENGTH);
    }

    String id() {
        return id;
    }

    Address address() {
        return address;
    }

    void use(Address other) {
        address = other;
    }

    /** Keeps calls without affinity away for a time that the replica has asked for. */
    void busy(Duration pause, long now) {
        busyUntil = now + pause.toNanos();
    }

    boolean isBusy(long now) {
        return busyUntil != Long.MIN_VALUE && now - busyUntil < 0;
    }

    /** The client, which is connected when it is first needed; only callers of this replica wait for that. */
    AgentClient client(Function<Address, AgentClient> connector) throws InterruptedException {
        AgentClient connected = client;
        if (connected != null) {
            return connected;
        }
        connecting.lockInterruptibly();
        try {
            connected = client;
            if (connected == null && !closed) {
                connected = connector.apply(address);
                client = connected;
            }
            if (connected == null || closed) {
                close(); // also the connection that has just been made, of which an earlier call did not know
                throw new ClientException(Problem.CLOSED, "the route has been removed");
            }
            return connected;
        } finally {
            connecting.unlock();
        }
    }

    /** Expected wait of another call, in parts of its weight. */
    double cost(long now) {
        return load.cost(now, address.weight());
    }

    /** Time after which another call may be tried. */
    Duration untilNext(long now) {
        if (breaker.state() != Breaker.State.CLOSED) {
            return breaker.left(now);
        }
        return isBusy(now) ? Duration.ofNanos(busyUntil - now) : SOON;
    }

    /** Gives back the place of a call or stream. */
    void end() {
        load.end();
        if (retired && load.outstanding() == 0) {
            close();
        }
    }

    /** Ends this when its calls and streams have ended. */
    void retire() {
        retired = true;
        if (load.outstanding() == 0) {
            close();
        }
    }

    /** Gives up calls and streams, without waiting for a connection that is being made. Idempotent. */
    void close() {
        closed = true;
        AgentClient connected = client;
        if (connected != null) {
            connected.close();
        }
    }
}
