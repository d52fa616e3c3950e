package dev.parley.server.helidon;

import io.helidon.common.buffers.BufferData;
import io.helidon.http.HeaderName;
import io.helidon.http.HeaderNames;
import io.helidon.http.HttpPrologue;
import io.helidon.http.WritableHeaders;
import io.helidon.http.http2.Http2Exception;
import io.helidon.webserver.ConnectionContext;
import io.helidon.webserver.http.HttpRouting;
import io.helidon.webserver.http1.Http1Config;
import io.helidon.webserver.http1.Http1ConnectionSelector;
import io.helidon.webserver.http1.spi.Http1Upgrader;
import io.helidon.webserver.http2.Http2Config;
import io.helidon.webserver.http2.Http2ConnectionSelector;
import io.helidon.webserver.http2.Http2Upgrader;
import io.helidon.webserver.spi.ServerConnection;
import io.helidon.webserver.spi.ServerConnectionSelector;
import java.nio.charset.StandardCharsets;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Chooses between HTTP/1.1 and HTTP/2. The only selector that Helidon gets, so that it hands over every connection as
 * soon as there is one; its own choice waits for the first bytes where no timeout reaches.
 */
final class Protocols implements ServerConnectionSelector {
    /** Beginning of the preface of HTTP/2, which begins no request of HTTP/1.1. Source: RFC 9113, section 3.4. */
    private static final byte[] PREFACE = "PRI ".getBytes(StandardCharsets.US_ASCII);

    private final Connections connections;
    private final HttpRouting door;
    private final Http1ConnectionSelector http1;
    private final Http2ConnectionSelector http2;

    Protocols(Connections connections, HttpRouting door, Http1Config http1, Http2Config http2) {
        this.connections = connections;
        this.door = door;
        this.http1 = Http1ConnectionSelector.builder()
                .config(http1)
                .addUpgrader(new Upgrade(Http2Upgrader.create(http2)))
                .build();
        this.http2 = Http2ConnectionSelector.builder().http2Config(http2).build();
    }

    @Override
    public int bytesToIdentifyConnection() {
        return 0;
    }

    @Override
    public Support supports(BufferData data) {
        return Support.SUPPORTED;
    }

    @Override
    public Set<String> supportedApplicationProtocols() {
        return Set.of("h2", "http/1.1");
    }

    @Override
    public ServerConnection connection(ConnectionContext context) {
        var peers = new Connections.Peers(
                context.remotePeer().address(), context.localPeer().address());
        return new GuardedContext(context, connections.between(peers), door, this).session();
    }

    /** Waits for the first bytes of a connection and returns the handler of its protocol. */
    ServerConnection choose(GuardedContext context) {
        var reader = context.dataReader();
        if (reader.lookup() == PREFACE[0] && reader.startsWith(PREFACE)) {
            var unused = startHttp2(context);
            return http2.connection(context);
        }
        return http1.connection(context);
    }

    private static Http2Streams startHttp2(GuardedContext context) {
        var reader = context.dataReader();
        var ahead = new byte[reader.available()];
        if (ahead.length > 0) {
            reader.readBuffer(ahead.length).read(ahead);
        }
        var streams = context.connection().becomesHttp2();
        context.inbound().readHttp2(streams, ahead);
        return streams;
    }

    /** From HTTP/1.1 to HTTP/2 in the middle of a connection; clients that ask wrongly stay with HTTP/1.1. */
    private record Upgrade(Http2Upgrader upgrader) implements Http1Upgrader {
        private static final HeaderName SETTINGS = HeaderNames.create("HTTP2-Settings");

        @Override
        public String supportedProtocol() {
            return upgrader.supportedProtocol();
        }

        @Override
        public @Nullable ServerConnection upgrade(
                ConnectionContext context, HttpPrologue prologue, WritableHeaders<?> headers) {
            if (context.isSecure() || !headers.contains(SETTINGS)) {
                return null;
            }
            try {
                var upgraded = upgrader.upgrade(context, prologue, headers);
                // The request that asked for it came whole, and is the first stream.
                var streams = startHttp2((GuardedContext) context);
                streams.headers(1, true);
                streams.window(0); // until the client repeats what it has said of it in a header
                return upgraded;
            } catch (IllegalArgumentException | Http2Exception e) {
                return null;
            }
        }
    }
}
