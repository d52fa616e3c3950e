package dev.parley.server.helidon;

import io.helidon.common.socket.SocketOptions;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.SocketOption;
import java.nio.channels.SocketChannel;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;
import jdk.net.ExtendedSocketOptions;

/** Sets the options of accepted sockets, and passes each socket to a listener afterwards. */
record AcceptedSockets(SocketOptions options, Consumer<SocketChannel> accepted) implements SocketOptions {
    // Limit of kernel memory for a client that does not read; the default grows to several megabytes.
    private static final int SEND_BUFFER = 256 * 1024;

    // A machine that has vanished is noticed in two minutes, not in the two hours of the kernel's defaults.
    private static final Map<SocketOption<Integer>, Integer> KEEP_ALIVE = Map.of(
            ExtendedSocketOptions.TCP_KEEPIDLE, 60,
            ExtendedSocketOptions.TCP_KEEPINTERVAL, 15,
            ExtendedSocketOptions.TCP_KEEPCOUNT, 4);

    static AcceptedSockets shownTo(Consumer<SocketChannel> accepted) {
        // Without it, small frames of HTTP/2 and events wait 40 ms until the peer confirms the ones before.
        var options = SocketOptions.builder()
                .tcpNoDelay(true)
                .socketKeepAlive(true)
                .socketSendBufferSize(SEND_BUFFER)
                .buildPrototype();
        return new AcceptedSockets(options, accepted);
    }

    @Override
    public void configureSocket(SocketChannel socket) {
        options.configureSocket(socket);
        KEEP_ALIVE.forEach((option, value) -> set(socket, option, value));
        accepted.accept(socket);
    }

    private static void set(SocketChannel socket, SocketOption<Integer> option, int value) {
        if (socket.supportedOptions().contains(option)) {
            try {
                socket.setOption(option, value);
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
    }

    @Override
    public Map<SocketOption<?>, Object> socketOptions() {
        return options.socketOptions();
    }

    @Override
    public Duration connectTimeout() {
        return options.connectTimeout();
    }

    @Override
    public Duration readTimeout() {
        return options.readTimeout();
    }

    @Override
    public Optional<Integer> socketReceiveBufferSize() {
        return options.socketReceiveBufferSize();
    }

    @Override
    public Optional<Integer> socketSendBufferSize() {
        return options.socketSendBufferSize();
    }

    @Override
    public boolean socketReuseAddress() {
        return options.socketReuseAddress();
    }

    @Override
    public boolean socketKeepAlive() {
        return options.socketKeepAlive();
    }

    @Override
    public boolean tcpNoDelay() {
        return options.tcpNoDelay();
    }
}
