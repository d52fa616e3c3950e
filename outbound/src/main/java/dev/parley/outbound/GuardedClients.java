package dev.parley.outbound;

import static java.util.Objects.requireNonNull;

import dev.parley.outbound.http.Http1Client;
import java.net.http.HttpClient;
import java.time.Duration;

/**
 * HTTP clients for URLs that callers chose, under the rule of addresses. A host is looked up once for a connection, and the addresses
 * that the rule has passed are dialled; the resolver of {@link HttpClient} looks up again, and may get others. HTTP/1.1, no
 * redirects, no proxy, no cookies. Safe for any thread.
 */
public final class GuardedClients implements AutoCloseable {
    private static final Duration CONNECT = Duration.ofSeconds(5);

    /** Longest wait for bytes, which are rare on a stream. */
    private static final Duration SILENCE = Duration.ofHours(1);

    private static final int CONNECTIONS_PER_HOST = 1_000;

    private final GuardedHttp http;

    public GuardedClients(AddressRule rule) {
        this.http = new GuardedHttp(rule, CONNECT, SILENCE, CONNECTIONS_PER_HOST);
    }

    /**
     * A client. All share their connections; {@link HttpClient#shutdownNow} and {@code close} give up its own requests. A
     * request to an address that the rule refuses ends with {@link RefusedAddressException}; nothing is sent.
     *
     * @param group whose share of look-ups it uses
     */
    public HttpClient of(String group) {
        requireNonNull(group, "group");
        return new Http1Client(
                (target, call, lane, limit) -> {
                    try {
                        return http.open(group, target, call, lane, limit);
                    } catch (AddressRule.RefusedHost refused) {
                        throw new RefusedAddressException(requireNonNull(refused.getMessage()), refused);
                    }
                },
                CONNECT,
                () -> {});
    }

    /** Cancels running requests. Idempotent. */
    @Override
    public void close() {
        http.close();
    }
}
