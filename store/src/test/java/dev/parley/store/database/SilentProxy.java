package dev.parley.store.database;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

/** Passes bytes on to a server until it is told to pass on no more, as a network does that fails without closing anything. */
final class SilentProxy implements AutoCloseable {
    private final ServerSocket accepting = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
    private final int target;
    private final List<Pair> pairs = new CopyOnWriteArrayList<>();

    SilentProxy(int target) throws IOException {
        this.target = target;
        Thread.startVirtualThread(this::accept);
    }

    int port() {
        return accepting.getLocalPort();
    }

    /**
     * Passes on no more answers by the connections that there are. New ones are not concerned.
     *
     * @param requests whether requests still reach the server
     */
    void silence(boolean requests) {
        for (Pair pair : pairs) {
            pair.answers = false;
            pair.requests = requests;
        }
    }

    private void accept() {
        try {
            while (true) {
                var pair = new Pair(accepting.accept(), new Socket(InetAddress.getLoopbackAddress(), target));
                pairs.add(pair);
                Thread.startVirtualThread(() -> pair.pass(true));
                Thread.startVirtualThread(() -> pair.pass(false));
            }
        } catch (IOException closed) {
            // by close()
        }
    }

    @Override
    public void close() throws IOException {
        accepting.close();
        for (Pair pair : pairs) {
            pair.client.close();
            pair.server.close();
        }
    }

    private static final class Pair {
        private final Socket client;
        private final Socket server;
        private volatile boolean answers = true;
        private volatile boolean requests = true;

        Pair(Socket client, Socket server) {
            this.client = client;
            this.server = server;
        }

        /** Copies bytes of one direction. The end of one connection is not told to the other once there is silence. */
        void pass(boolean isRequest) {
            byte[] bytes = new byte[8_192];
            try {
                InputStream in = (isRequest ? client : server).getInputStream();
                OutputStream out = (isRequest ? server : client).getOutputStream();
                for (int read = in.read(bytes); read >= 0; read = in.read(bytes)) {
                    if (isRequest ? requests : answers) {
                        out.write(bytes, 0, read);
                    }
                }
                if (answers) {
                    out.close();
                }
            } catch (IOException broken) {
                // one of them was closed
            }
        }
    }
}
