package dev.parley.server.helidon;

import io.helidon.common.socket.SocketOptions;
import java.net.SocketOption;
import java.net.StandardSocketOptions;
import java.nio.channels.SocketChannel;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;
import jdk.net.ExtendedSocketOptions;

/** Sets the options of accepted sockets, and passes each socket to a listener afterwards. Helidon reads the first two components only. */
record AcceptedSockets(
        Map<SocketOption<?>, Object> socketOptions,
        Consumer<SocketChannel> accepted,
        boolean tcpNoDelay,
        boolean socketKeepAlive,
        boolean socketReuseAddress,
        Optional<Integer> socketSendBufferSize,
        Optional<Integer> socketReceiveBufferSize,
        Duration connectTimeout,
        Duration readTimeout)
        implements SocketOptions {
    // Limit of kernel memory for a client that does not read; the default grows to several megabytes.
    private static final int SEND_BUFFER = 256 * 1024;

    private static final Map<SocketOption<?>, Object> OPTIONS = Map.of(
            // Without it, small frames of HTTP/2 and events wait 40 ms until the peer confirms the ones before.
            StandardSocketOptions.TCP_NODELAY,
            true,
            StandardSocketOptions.SO_SNDBUF,
            SEND_BUFFER,
            StandardSocketOptions.SO_REUSEADDR,
            true,
            StandardSocketOptions.SO_KEEPALIVE,
            true,
            // A machine that has vanished is noticed in two minutes, not in the two hours of the kernel's defaults.
            ExtendedSocketOptions.TCP_KEEPIDLE,
            60,
            ExtendedSocketOptions.TCP_KEEPINTERVAL,
            15,
            ExtendedSocketOptions.TCP_KEEPCOUNT,
            4);

    AcceptedSockets(Consumer<SocketChannel> accepted) {
        this(
                OPTIONS,
                accepted,
                true,
                true,
                true,
                Optional.of(SEND_BUFFER),
                Optional.empty(),
                Duration.ZERO,
                Duration.ZERO);
    }

    @Override
    public void configureSocket(SocketChannel socket) {
        SocketOptions.super.configureSocket(socket);
        accepted.accept(socket);
    }
}
