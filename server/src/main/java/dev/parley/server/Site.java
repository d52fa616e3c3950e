package dev.parley.server;

import dev.parley.dialect.served.ServedAgent;
import java.time.Duration;
import java.util.Collection;

/**
 * A changing set of agents at an address: a {@link Server} with a port of its own, or a {@link Mount} in a container.
 *
 * <p>An agent answers below {@code /agents/{name}}, the default agent at the root as well. Besides there are {@code
 * /agents} (the list), {@code /health}, {@code /ready} and what the builder was given. Safe for any thread.
 */
public interface Site extends AutoCloseable {
    /** The address by which clients reach this site, without a slash at its end. */
    String url();

    /** Host and port by which clients reach this site, as the interfaces of gRPC in cards have it. */
    String authority();

    /** The address of the agent of that name, whether it is served yet or not. */
    String agentUrl(String name);

    /**
     * Serves an agent from now on, in place of the previous agent of its name.
     *
     * @throws IllegalArgumentException if its name cannot be a segment of a path
     */
    void add(ServedAgent agent);

    /** Stops serving an agent; its running requests go on. Returns false if there was none. */
    boolean remove(String name);

    /** The agents served now, ordered by name. */
    Collection<ServedAgent> agents();

    /** Ends all streams, and each that begins later: with an error that has clients call again if the server drains or has ended. */
    void endStreams();

    /**
     * Ends all streams, refuses new requests, and waits at most {@code grace} for the running ones. A server also stops accepting
     * connections, and then interrupts and disconnects the clients that are left. Idempotent: later calls wait for the first.
     */
    void drain(Duration grace);

    /** {@linkplain #drain Drains} for as long as the builder said. */
    @Override
    void close();
}
