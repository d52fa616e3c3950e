/**
 * One port for any set of agents: HTTP/1.1, HTTP/2, server-sent events and TLS around the dialects.
 *
 * <p>Knows nothing of what answers behind a {@link dev.parley.dialect.served.ServedAgent}:
 *
 * <pre>{@code
 * try (Server server = Server.builder(dialects).port(7420).defaultAgent("hello").start()) {
 *     server.add(new ServedAgent("hello", endpoint, cardFor(server.agentUrl("hello"))));
 *     ...
 * }
 * }</pre>
 */
@NullMarked
package dev.parley.server;

import org.jspecify.annotations.NullMarked;
