package dev.parley.server;

import dev.parley.dialect.Dialects;
import dev.parley.dialect.ServedAgent;
import java.time.Duration;
import java.util.Collection;

/**
 * A running HTTP server for a changing set of agents.
 *
 * <p>An agent answers below {@code /agents/{name}}, the default agent at the root as well. Besides there are {@code
 * /agents} (the list), {@code /health}, {@code /ready} and what the builder was given. Safe for any thread.
 */
public interface Server extends AutoCloseable {
    /** Returns a builder whose {@link ServerBuilder#start()} opens the port. */
    static ServerBuilder builder(Dialects dialects) {
        return new ServerBuilder(dialects);
    }

    /**
     * Loads the classes of a server, on the calling thread, so that the next {@link ServerBuilder#start()} takes less time. Has
     * no other effect.
     */
    static void prepare() {
        HttpServer.prepare();
    }

    /** The port that was bound. */
    int port();

    /** The address by which clients reach this server, without a slash at its end. */
    String url();

    /** Host and port by which clients reach this server, as the interfaces of gRPC in cards have it. */
    String authority();

    /** The address of the agent of that name, whether it is served yet or not. */
    String agentUrl(String name);

    /**
     * Serves an agent from now on, in place of the one that had its name before.
     *
     * @throws IllegalArgumentException if its name cannot be a segment of a path
     */
    void add(ServedAgent agent);

    /** Stops serving an agent; its running requests go on. Returns false if there was none. */
    boolean remove(String name);

    /** The agents served now, ordered by name. */
    Collection<ServedAgent> agents();

    /**
     * Stops accepting connections, ends all streams, refuses new requests, waits at most {@code grace} for the running
     * ones, then interrupts and disconnects whatever is left. Blocks until done. Idempotent: later calls wait for the
     * first.
     */
    void drain(Duration grace);

    /** {@linkplain #drain Drains} for as long as the builder said. */
    @Override
    void close();
}
