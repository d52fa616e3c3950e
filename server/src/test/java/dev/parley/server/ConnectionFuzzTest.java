package dev.parley.server;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.assertj.core.api.Assertions.assertThat;

import com.code_intelligence.jazzer.api.BugDetectors;
import com.code_intelligence.jazzer.api.SilentCloseable;
import com.code_intelligence.jazzer.junit.FuzzTest;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.net.SocketException;
import java.util.HexFormat;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.logging.Handler;
import java.util.logging.Level;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.params.provider.MethodSource;

/** Whatever bytes come on a connection, they are answered in HTTP or not at all, and the log hears nothing of it. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
final class ConnectionFuzzTest {
    private static final String PREFACE = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
    private static final int PATIENCE_MS = 20_000;

    private final Complaints complaints = new Complaints();
    private Server server;

    @BeforeAll
    void start() {
        Logger.getLogger("").addHandler(complaints);
        server = TestServer.builder().start();
    }

    @AfterAll
    void stop() {
        server.close();
        Logger.getLogger("").removeHandler(complaints);
    }

    static Stream<byte[]> examples() {
        return Stream.concat(
                Stream.of(
                                "GET /echo?a=%20 HTTP/1.1\nHost: x\nX-Test: y\n\n",
                                "POST /echo HTTP/1.1\nHost: x\nContent-Length: 5\n\nhelloGET /health HTTP/1.1\nHost: x\n\n",
                                "POST /echo HTTP/1.1\nHost: x\nTransfer-Encoding: chunked\n\n5;a=b\nhello\n0\n\n",
                                "PRI * HTTP/3.0\n\nSM\n\n",
                                "POST /echo HTTP/1.1\nHost: x\nExpect: 100-continue\nContent-Length: 1\n\nx",
                                "GET /health HTTP/1.1\nHost: x\nConnection: Upgrade, HTTP2-Settings\nUpgrade: h2c\nHTTP2-Settings: AAMAAABkAAQAAP__\n\n")
                        .map(text -> text.replace("\n", "\r\n").getBytes(ISO_8859_1)),
                Stream.of(
                                "000006 04 00 00000000 000300000064",
                                "00000d 01 05 00000001 82 86 010178 04072f6865616c7468",
                                "00000d 01 04 00000001 83 86 010178 04052f6563686f 000005 00 01 00000001 68656c6c6f",
                                "000008 06 00 00000000 0102030405060708 000004 08 00 00000000 00000001",
                                "000003 01 00 00000001 828601 00000a 09 04 00000001 017804072f6865616c7468",
                                "000004 03 00 00000001 00000008 000008 07 00 00000000 0000000000000000",
                                "000000 07 00 00000000",
                                "000006 01 05 00000001 82 86 84 00 00 00",
                                "00000d 01 04 00000001 2b 78 0104 6505 0186 2f63686f 00")
                        .map(frames -> http2("000000 04 00 00000000" + frames)));
    }

    private static byte[] http2(String frames) {
        byte[] after = HexFormat.of().parseHex(frames.replace(" ", ""));
        return (PREFACE + new String(after, ISO_8859_1)).getBytes(ISO_8859_1);
    }

    @MethodSource("examples")
    @FuzzTest(maxDuration = "2m")
    void connections(byte[] bytes) throws IOException {
        String answer;
        try (SilentCloseable allowed = BugDetectors.allowNetworkConnections();
                var socket = new Socket(InetAddress.getLoopbackAddress(), server.port())) {
            socket.setSoTimeout(PATIENCE_MS);
            answer = answer(socket, bytes);
        }
        if (new String(bytes, ISO_8859_1).startsWith("PRI ")) {
            assertThat(answer).doesNotContain("dev.parley", "Exception");
        } else if (!answer.isEmpty()) {
            assertThat(answer).startsWith("HTTP/1.1 ").doesNotContain("HTTP/1.1 500", "dev.parley", "Exception");
        }
        assertThat(complaints.all).isEmpty();
    }

    private static String answer(Socket socket, byte[] bytes) throws IOException {
        try {
            socket.getOutputStream().write(bytes);
            socket.shutdownOutput();
            return new String(socket.getInputStream().readAllBytes(), ISO_8859_1);
        } catch (SocketException closed) {
            return "";
        }
    }

    /** What operators would be told. */
    private static final class Complaints extends Handler {
        private final Queue<String> all = new ConcurrentLinkedQueue<>();

        @Override
        public void publish(LogRecord message) {
            if (message.getLevel().intValue() >= Level.WARNING.intValue()) {
                all.add(message.getLoggerName() + ": " + message.getMessage() + " " + message.getThrown());
            }
        }

        @Override
        public void flush() {}

        @Override
        public void close() {}
    }
}
