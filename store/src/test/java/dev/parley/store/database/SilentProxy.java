package dev.parley.store.database;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;

/**
 * Passes bytes on to a server, and fails as networks do: it loses bytes without closing anything, holds them back, cuts
 * connections, or leads new ones to another server.
 */
public final class SilentProxy implements AutoCloseable {
    private static final int NOWHERE = -1;

    private final ServerSocket accepting = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
    private final List<Pair> pairs = new CopyOnWriteArrayList<>();
    private volatile int target;
    private volatile int cuts;
    private volatile CountDownLatch flow = new CountDownLatch(0);
    private volatile CountDownLatch answers = new CountDownLatch(0);

    /** @param target the port of the server on this machine */
    public SilentProxy(int target) throws IOException {
        this.target = target;
        Thread.startVirtualThread(this::accept);
    }

    /** Returns the port on which the proxy listens. */
    public int port() {
        return accepting.getLocalPort();
    }

    /** Leads new connections to another server. Open ones stay where they are. */
    public void lead(int port) {
        target = port;
    }

    /** Closes new connections at once. Open ones stay as they are. */
    public void refuse() {
        target = NOWHERE;
    }

    /** Closes all open connections, on both sides. */
    public synchronized void cut() {
        cuts++;
        pairs.forEach(Pair::close);
        pairs.clear();
    }

    /** Holds back the bytes of all connections, new ones too, and closes nothing until {@link #release()}. */
    public synchronized void hold() {
        if (flow.getCount() == 0) {
            flow = new CountDownLatch(1);
        }
    }

    /** Holds back the answers of all connections, new ones too, while requests reach the server, until {@link #release()}. */
    public synchronized void holdAnswers() {
        if (answers.getCount() == 0) {
            answers = new CountDownLatch(1);
        }
    }

    /** Passes on what was held back, and what comes later. */
    public synchronized void release() {
        flow.countDown();
        answers.countDown();
    }

    /** Loses further answers of the open connections whose ports at the side of the server are these. */
    public void loseAnswers(Collection<Integer> ports) {
        for (Pair pair : pairs) {
            if (ports.contains(pair.server.getLocalPort())) {
                pair.answers = false;
            }
        }
    }

    /**
     * Loses further answers of the open connections. New ones are not concerned.
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
                Socket client = accepting.accept();
                Thread.startVirtualThread(() -> connect(client));
            }
        } catch (IOException closed) {
            // by close()
        }
    }

    private void connect(Socket client) {
        try {
            flow.await();
            int before = cuts;
            int port = target;
            if (port == NOWHERE) {
                throw new IOException("refused");
            }
            var pair = new Pair(client, new Socket(InetAddress.getLoopbackAddress(), port));
            synchronized (this) {
                if (cuts != before) {
                    pair.close();
                    return;
                }
                pairs.add(pair);
            }
            Thread.startVirtualThread(() -> pass(pair, true));
            Thread.startVirtualThread(() -> pass(pair, false));
        } catch (IOException | InterruptedException unreachable) {
            close(client);
        }
    }

    private void pass(Pair pair, boolean isRequest) {
        try {
            copy(pair, isRequest);
            end(pair);
        } catch (InterruptedException impossible) {
            throw new IllegalStateException(impossible);
        }
    }

    /** Copies bytes of one direction until one of the sides ends. */
    private void copy(Pair pair, boolean isRequest) throws InterruptedException {
        byte[] bytes = new byte[8_192];
        try {
            InputStream in = (isRequest ? pair.client : pair.server).getInputStream();
            OutputStream out = (isRequest ? pair.server : pair.client).getOutputStream();
            for (int read = in.read(bytes); read >= 0; read = in.read(bytes)) {
                flow.await();
                if (!isRequest) {
                    answers.await();
                }
                if (isRequest ? pair.requests : pair.answers) {
                    out.write(bytes, 0, read);
                }
            }
        } catch (IOException broken) {
            // an end as well
        }
    }

    /** Tells the end of one side to the other, unless there is silence. */
    private void end(Pair pair) throws InterruptedException {
        flow.await();
        if (pair.answers) {
            pair.close();
            pairs.remove(pair);
        }
    }

    private static void close(Socket socket) {
        try {
            socket.close();
        } catch (IOException broken) {
            // it is of no use any more
        }
    }

    @Override
    public void close() throws IOException {
        accepting.close();
        release();
        cut();
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

        void close() {
            SilentProxy.close(client);
            SilentProxy.close(server);
        }
    }
}
