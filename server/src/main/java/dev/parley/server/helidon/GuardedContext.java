package dev.parley.server.helidon;

import io.helidon.common.buffers.DataReader;
import io.helidon.common.buffers.DataWriter;
import io.helidon.common.socket.HelidonSocket;
import io.helidon.common.socket.PeerInfo;
import io.helidon.webserver.ConnectionContext;
import io.helidon.webserver.ListenerContext;
import io.helidon.webserver.ProxyProtocolData;
import io.helidon.webserver.Router;
import io.helidon.webserver.Routing;
import io.helidon.webserver.http.HttpRouting;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ExecutorService;

/** A connection as Helidon's protocols see it: all bytes in and out pass what watches over it. */
final class GuardedContext implements ConnectionContext {
    private final ConnectionContext original;
    private final ClientConnection connection;
    private final Router router;
    private final Session session;
    private final Inbound inbound;
    private final StrictReader reader;
    private final DataWriter writer;
    private final StreamThreads threads;

    GuardedContext(ConnectionContext original, ClientConnection connection, HttpRouting door, Protocols protocols) {
        this.original = original;
        this.connection = connection;
        this.router = new OneDoor(door);
        this.inbound = new Inbound(original.serverSocket(), connection);
        this.reader = new StrictReader(inbound, connection);
        this.writer = new GuardedWriter(original.dataWriter(), connection);
        this.threads = new StreamThreads(
                original.executor(),
                2 * Http2Streams.MOST,
                connection.all().streamThreads(),
                connection::awaitShare,
                connection.all()::ends);
        connection.starts(inbound, threads);
        this.session = new Session(connection, this, protocols);
    }

    ClientConnection connection() {
        return connection;
    }

    Session session() {
        return session;
    }

    Inbound inbound() {
        return inbound;
    }

    @Override
    public DataReader dataReader() {
        return reader;
    }

    @Override
    public DataWriter dataWriter() {
        return writer;
    }

    @Override
    public ListenerContext listenerContext() {
        return original.listenerContext();
    }

    @Override
    public ExecutorService executor() {
        return threads;
    }

    @Override
    public Router router() {
        return router;
    }

    @Override
    public Optional<ProxyProtocolData> proxyProtocolData() {
        return original.proxyProtocolData();
    }

    @Override
    public HelidonSocket serverSocket() {
        return original.serverSocket();
    }

    @Override
    public PeerInfo remotePeer() {
        return original.remotePeer();
    }

    @Override
    public PeerInfo localPeer() {
        return original.localPeer();
    }

    @Override
    public boolean isSecure() {
        return original.isSecure();
    }

    @Override
    public String socketId() {
        return original.socketId();
    }

    @Override
    public String childSocketId() {
        return original.childSocketId();
    }

    /**
     * Sends every request to the same place. Helidon's own router, if it is given a routing that is not Helidon's, adds an
     * empty one of the same type, and chance says which of the two is found.
     */
    private record OneDoor(HttpRouting door) implements Router {
        @Override
        public <T extends Routing> T routing(Class<T> type, T other) {
            return type.isInstance(door) ? type.cast(door) : other;
        }

        @Override
        public List<HttpRouting> routings() {
            return List.of(door);
        }

        @Override
        public void beforeStart() {}

        @Override
        public void afterStop() {}
    }
}
