package dev.parley.interop;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.io.Reader;
import java.io.UncheckedIOException;
import java.io.Writer;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;

/** An nginx in the foreground, with its files in a directory. */
public final class Nginx implements AutoCloseable {
    private static final String GLOBAL = """
        daemon off;
        pid nginx.pid;
        error_log stderr notice;
        events {}
        http {
        access_log off;
        client_body_temp_path body;
        proxy_temp_path proxy;
        fastcgi_temp_path fastcgi;
        uwsgi_temp_path uwsgi;
        scgi_temp_path scgi;
        """;

    private final Process process;

    private Nginx(Process process) {
        this.process = process;
    }

    /**
     * Starts nginx, and waits until it serves. It ends when its input does, so also should this process die.
     *
     * @param servers contents of the block {@code http}
     * @throws IOException if it is not installed, or does not start
     */
    public static Nginx start(Path directory, String servers) throws IOException {
        Files.writeString(directory.resolve("nginx.conf"), GLOBAL + servers + "}\n");
        String command = "nginx -p \"$PWD\" -c \"$PWD/nginx.conf\" -e stderr & trap \"kill $!\" EXIT; cat";
        Process process = new ProcessBuilder("sh", "-c", command)
                .directory(directory.toFile())
                .start();
        var log = new StringBuilder();
        var errors = process.errorReader(UTF_8);
        for (String line = errors.readLine(); line != null; line = errors.readLine()) {
            if (line.contains("start worker process ")) {
                Thread.startVirtualThread(() -> drain(errors));
                return new Nginx(process);
            }
            log.append(line).append('\n');
        }
        throw new IOException("nginx did not start: " + log);
    }

    /** Keeps nginx from waiting for a reader of its log. */
    private static void drain(Reader rest) {
        try (rest) {
            rest.transferTo(Writer.nullWriter());
        } catch (IOException ended) {
            // with nginx
        }
    }

    public static int freePort() throws IOException {
        try (var socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            return socket.getLocalPort();
        }
    }

    @Override
    public void close() {
        try {
            process.getOutputStream().close();
        } catch (IOException failure) {
            throw new UncheckedIOException(failure);
        }
        process.onExit().join();
    }
}
