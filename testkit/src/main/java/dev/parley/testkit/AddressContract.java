package dev.parley.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.ServerSocket;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Contract test of a part that sends requests to addresses that others choose. A subclass has the part send one. */
@Timeout(60)
public abstract class AddressContract {
    private static final String REFUSAL = "(expected: a public host, or one that the operator allows by ";
    private static final List<String> OF_NETWORKS = List.of(
            "10.0.0.1",
            "172.16.0.1",
            "192.168.1.1",
            "169.254.169.254",
            "100.64.0.1",
            "0.0.0.0",
            "[fd00::1]",
            "[fe80::1]",
            "[::ffff:10.0.0.1]",
            "[64:ff9b::a00:1]",
            "[2002:a00:1::]");

    private final AtomicInteger connections = new AtomicInteger();
    private ServerSocket server;

    @BeforeEach
    final void listen() throws IOException {
        server = new ServerSocket(0); // at all addresses of this machine
        Thread.ofVirtual().name("target").start(() -> {
            while (!server.isClosed()) {
                try (var connection = server.accept()) {
                    connections.incrementAndGet();
                } catch (IOException closed) {
                    // ends, or the next one
                }
            }
        });
    }

    @AfterEach
    final void end() throws IOException {
        server.close();
    }

    /**
     * Has the part send a request, whose answer is an end of the connection.
     *
     * @param allowed hosts that the operator allows
     * @return the failure as the part reports it, unless it throws
     */
    protected abstract String call(String url, List<String> allowed) throws Exception;

    /** Scheme of the addresses. */
    protected String scheme() {
        return "http";
    }

    /** Hosts of this machine that the part refuses unless they are allowed. */
    protected List<String> ofThisMachine() {
        return List.of("127.0.0.1", "127.1", "2130706433", "localhost", "[::1]", "[::ffff:127.0.0.1]");
    }

    private String outcome(String host, List<String> allowed) {
        var outcome = new StringBuilder();
        try {
            outcome.append(call(scheme() + "://" + host + ":" + server.getLocalPort() + "/x", allowed));
        } catch (Exception failure) {
            for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
                outcome.append(cause.getMessage()).append('\n');
            }
        }
        return outcome.toString();
    }

    @Test
    void addressesOfNetworksAreRefused() {
        for (String host : OF_NETWORKS) {
            assertThat(outcome(host, List.of())).as(host).contains(REFUSAL);
        }
    }

    @Test
    void addressesOfThisMachineAreRefusedAndNothingIsSent() {
        for (String host : ofThisMachine()) {
            assertThat(outcome(host, List.of())).as(host).contains(REFUSAL);
        }
        assertThat(connections).hasValue(0);
    }

    @Test
    void anAllowedHostIsCalled() {
        assertThat(outcome("127.0.0.1", List.of("127.0.0.1"))).doesNotContain(REFUSAL);
        assertThat(connections).hasPositiveValue();
    }
}
