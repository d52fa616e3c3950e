package dev.parley.server;

import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.security.SecureRandom;
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

/** A TLS context whose connections ask clients for a certificate: Helidon does not, for the kind of sockets used here. */
final class AskingContext extends SSLContextSpi {
    private final SSLContext context;

    private AskingContext(SSLContext context) {
        this.context = context;
    }

    static SSLContext of(SSLContext context) {
        return new SSLContext(new AskingContext(context), context.getProvider(), context.getProtocol()) {};
    }

    private static Socket asking(Socket socket) {
        ((SSLSocket) socket).setWantClientAuth(true);
        return socket;
    }

    @Override
    protected SSLSocketFactory engineGetSocketFactory() {
        return new Sockets(context.getSocketFactory());
    }

    @Override
    protected void engineInit(
            KeyManager @Nullable [] keys, TrustManager @Nullable [] trusted, @Nullable SecureRandom random) {
        throw new UnsupportedOperationException("it is ready");
    }

    @Override
    protected SSLServerSocketFactory engineGetServerSocketFactory() {
        return context.getServerSocketFactory();
    }

    @Override
    protected SSLEngine engineCreateSSLEngine() {
        return context.createSSLEngine();
    }

    @Override
    protected SSLEngine engineCreateSSLEngine(String host, int port) {
        return context.createSSLEngine(host, port);
    }

    @Override
    protected SSLSessionContext engineGetServerSessionContext() {
        return context.getServerSessionContext();
    }

    @Override
    protected SSLSessionContext engineGetClientSessionContext() {
        return context.getClientSessionContext();
    }

    private static final class Sockets extends SSLSocketFactory {
        private final SSLSocketFactory factory;

        Sockets(SSLSocketFactory factory) {
            this.factory = factory;
        }

        @Override
        public Socket createSocket(Socket accepted, InputStream consumed, boolean autoClose) throws IOException {
            return asking(factory.createSocket(accepted, consumed, autoClose));
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
