package dev.parley.server.limits;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.security.SecureRandom;
import java.util.function.Consumer;
import java.util.function.Supplier;
import javax.net.ssl.KeyManager;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLContextSpi;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLServerSocketFactory;
import javax.net.ssl.SSLSessionContext;
import javax.net.ssl.SSLSocket;
import javax.net.ssl.SSLSocketFactory;
import javax.net.ssl.TrustManager;
import org.jspecify.annotations.Nullable;

/**
 * TLS context of the server's sockets: handshakes begin when their processors are shared out, and may ask clients for a
 * certificate, which Helidon does not for the kind of sockets used here.
 *
 * <p>A handshake computes for 1 to 2 ms on the virtual thread of its connection, most of it as the answer to the first message of
 * the client. So that message is read before the share is entered: a client that sends it slowly holds no share.
 */
public final class HandshakeContext extends SSLContextSpi {
    private static final int HANDSHAKE = 22;
    private static final int RECORD_HEADER = 5;
    private static final int MESSAGE_HEADER = 4;
    private static final int LONGEST_HELLO = 64 * 1024;

    private final Supplier<SSLContext> context;
    private final boolean asking;
    private final Consumer<Socket> share;

    private HandshakeContext(Supplier<SSLContext> context, boolean asking, Consumer<Socket> share) {
        this.context = context;
        this.asking = asking;
        this.share = share;
    }

    /**
     * Returns the context.
     *
     * @param context supplies the one for the next connection
     * @param asking whether clients are asked for a certificate
     * @param share waits for a share of the processors for the handshake on an accepted socket
     */
    public static SSLContext of(Supplier<SSLContext> context, boolean asking, Consumer<Socket> share) {
        var first = context.get();
        return new SSLContext(
                new HandshakeContext(context, asking, share), first.getProvider(), first.getProtocol()) {};
    }

    /**
     * Reads the records that hold the first message of a client. Other bytes are left to the handshake, which refuses them.
     *
     * <p>Source: RFC 8446, sections 4 and 5.1.
     */
    public static byte[] hello(InputStream in) throws IOException {
        var bytes = new ByteArrayOutputStream(512);
        var message = new byte[MESSAGE_HEADER];
        int known = 0;
        int left = MESSAGE_HEADER;
        while (left > 0 && bytes.size() < LONGEST_HELLO) {
            byte[] header = in.readNBytes(1);
            bytes.writeBytes(header);
            if (header.length == 0 || header[0] != HANDSHAKE) {
                break;
            }
            byte[] rest = in.readNBytes(RECORD_HEADER - 1);
            bytes.writeBytes(rest);
            if (rest.length < RECORD_HEADER - 1) {
                break;
            }
            byte[] fragment = in.readNBytes((rest[2] & 0xff) << 8 | rest[3] & 0xff);
            bytes.writeBytes(fragment);
            if (fragment.length == 0) {
                break;
            }
            for (int i = 0; i < fragment.length && known < MESSAGE_HEADER; i++) {
                message[known++] = fragment[i];
                if (known == MESSAGE_HEADER) {
                    left += (message[1] & 0xff) << 16 | (message[2] & 0xff) << 8 | message[3] & 0xff;
                }
            }
            left -= fragment.length;
        }
        return bytes.toByteArray();
    }

    @Override
    protected SSLSocketFactory engineGetSocketFactory() {
        return new Sockets(context.get().getSocketFactory(), asking, share);
    }

    @Override
    protected void engineInit(
            KeyManager @Nullable [] keys, TrustManager @Nullable [] trusted, @Nullable SecureRandom random) {
        throw new UnsupportedOperationException("it is ready");
    }

    @Override
    protected SSLServerSocketFactory engineGetServerSocketFactory() {
        return context.get().getServerSocketFactory();
    }

    @Override
    protected SSLEngine engineCreateSSLEngine() {
        return context.get().createSSLEngine();
    }

    @Override
    protected SSLEngine engineCreateSSLEngine(String host, int port) {
        return context.get().createSSLEngine(host, port);
    }

    @Override
    protected SSLSessionContext engineGetServerSessionContext() {
        return context.get().getServerSessionContext();
    }

    @Override
    protected SSLSessionContext engineGetClientSessionContext() {
        return context.get().getClientSessionContext();
    }

    private static final class Sockets extends SSLSocketFactory {
        private final SSLSocketFactory factory;
        private final boolean asking;
        private final Consumer<Socket> share;

        Sockets(SSLSocketFactory factory, boolean asking, Consumer<Socket> share) {
            this.factory = factory;
            this.asking = asking;
            this.share = share;
        }

        @Override
        public Socket createSocket(Socket accepted, @Nullable InputStream consumed, boolean autoClose)
                throws IOException {
            byte[] hello = hello(accepted.getInputStream());
            share.accept(accepted);
            var socket = (SSLSocket) factory.createSocket(accepted, new ByteArrayInputStream(hello), autoClose);
            if (asking) {
                socket.setWantClientAuth(true);
            }
            return socket;
        }

        @Override
        public String[] getDefaultCipherSuites() {
            return factory.getDefaultCipherSuites();
        }

        @Override
        public String[] getSupportedCipherSuites() {
            return factory.getSupportedCipherSuites();
        }

        @Override
        public Socket createSocket(Socket socket, String host, int port, boolean autoClose) throws IOException {
            return factory.createSocket(socket, host, port, autoClose);
        }

        @Override
        public Socket createSocket(String host, int port) throws IOException {
            return factory.createSocket(host, port);
        }

        @Override
        public Socket createSocket(String host, int port, InetAddress local, int localPort) throws IOException {
            return factory.createSocket(host, port, local, localPort);
        }

        @Override
        public Socket createSocket(InetAddress host, int port) throws IOException {
            return factory.createSocket(host, port);
        }

        @Override
        public Socket createSocket(InetAddress host, int port, InetAddress local, int localPort) throws IOException {
            return factory.createSocket(host, port, local, localPort);
        }
    }
}
