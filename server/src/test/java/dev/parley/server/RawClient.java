package dev.parley.server;

import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;

/** A client that sends just the bytes it is told to, for what a client library would be too polite to do. */
final class RawClient implements AutoCloseable {
    private static final int DEADLINE_MILLIS = 20_000;

    /** What came back; header names in lower case. */
    record Answer(int status, Map<String, String> headers, String body) {}

    private final Socket socket;
    private final InputStream in;

    RawClient(Socket socket) throws IOException {
        this.socket = socket;
        socket.setSoTimeout(DEADLINE_MILLIS);
        socket.setTcpNoDelay(true);
        this.in = new BufferedInputStream(socket.getInputStream());
    }

    static RawClient to(Server server) throws IOException {
        return new RawClient(new Socket(InetAddress.getLoopbackAddress(), server.port()));
    }

    /** Sends text as it is, after a line feed in the source has become a line break of HTTP. */
    RawClient send(String text) throws IOException {
        return sendExactly(text.replace("\n", "\r\n"));
    }

    RawClient sendExactly(String text) throws IOException {
        socket.getOutputStream().write(text.getBytes(StandardCharsets.ISO_8859_1));
        return this;
    }

    /** Reads an answer whose length its headers tell. */
    Answer answer() throws IOException {
        var head = head();
        var length = Integer.parseInt(head.headers().getOrDefault("content-length", "0"));
        var body = new String(in.readNBytes(length), StandardCharsets.UTF_8);
        return new Answer(head.status(), head.headers(), body);
    }

    /** Reads the first line and the headers of an answer. */
    Answer head() throws IOException {
        var status = Integer.parseInt(line().substring("HTTP/1.1 ".length()).substring(0, 3));
        var headers = new LinkedHashMap<String, String>();
        for (var line = line(); !line.isEmpty(); line = line()) {
            var colon = line.indexOf(':');
            headers.put(
                    line.substring(0, colon).toLowerCase(Locale.ROOT),
                    line.substring(colon + 1).strip());
        }
        return new Answer(status, headers, "");
    }

    /** Reads the next piece of a body in pieces; empty at its end. */
    String chunk() throws IOException {
        var size = Integer.parseInt(line(), 16);
        var chunk = new String(in.readNBytes(size), StandardCharsets.UTF_8);
        line();
        return chunk;
    }

    String line() throws IOException {
        var line = new ByteArrayOutputStream();
        for (var octet = in.read(); octet != '\n'; octet = in.read()) {
            if (octet < 0) {
                throw new IOException("closed after \"" + line + "\"");
            }
            line.write(octet);
        }
        return line.toString(StandardCharsets.UTF_8).strip();
    }

    /** Waits until the server has closed the connection, and returns whether it sent nothing before that. */
    boolean isClosedByServer() throws IOException {
        try {
            return in.read() < 0;
        } catch (SocketTimeoutException e) {
            return false;
        } catch (SocketException e) {
            return true;
        }
    }

    /** Waits until the server has closed the connection, whatever it sends before that. */
    boolean isClosedInTheEnd() throws IOException {
        try {
            in.transferTo(OutputStream.nullOutputStream());
            return true;
        } catch (SocketTimeoutException e) {
            return false;
        } catch (SocketException e) {
            return true;
        }
    }

    @Override
    public void close() throws IOException {
        socket.close();
    }
}
