package dev.parley.server;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.DataInputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.HexFormat;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What a client of HTTP/2 gives up costs it nothing else on the same connection. */
@Timeout(60)
class ResetStreamTest {
    private static final int HEADERS = 1;
    private static final int RST_STREAM = 3;
    private static final int GO_AWAY = 7;
    private static final int END_STREAM = 0x1;

    private final Semaphore entered = new Semaphore(0);
    private final CountDownLatch mayGo = new CountDownLatch(1);
    private Server server;
    private Http2Client client;

    @BeforeEach
    void start() throws IOException {
        server = TestServer.builder()
                .handler("/wait", (request, body) -> {
                    entered.release();
                    try {
                        mayGo.await();
                    } catch (InterruptedException e) {
                        Thread.currentThread().interrupt();
                    }
                    return TestServer.text("waited");
                })
                .start();
        client = new Http2Client(new Socket(InetAddress.getLoopbackAddress(), server.port()));
    }

    @AfterEach
    void stop() throws IOException {
        mayGo.countDown();
        client.close();
        server.close();
    }

    @Test
    void aResetMayCrossTheAnswer() throws Exception {
        client.get(1, "/echo");
        client.awaitEnd(1);
        client.get(3, "/wait");
        entered.acquire();

        client.reset(1);

        client.get(5, "/echo");
        client.awaitEnd(5);
        mayGo.countDown();
        client.awaitEnd(3);
    }

    @Test
    void aStreamMayBeResetAgainAndAgain() throws Exception {
        client.get(1, "/wait");
        entered.acquire();
        client.get(3, "/wait");
        entered.acquire();

        for (int i = 0; i < 5; i++) {
            client.reset(1);
            client.get(5 + 2 * i, "/echo");
            client.awaitEnd(5 + 2 * i);
        }

        mayGo.countDown();
        client.awaitEnd(3);
    }

    @Test
    void aRequestThatIsGivenUpHalfwayIsOver() throws Exception {
        client.post(1, "/echo");
        client.get(3, "/wait");
        entered.acquire();

        client.reset(1);
        mayGo.countDown();
        client.awaitEnd(3);

        var drain = Thread.ofVirtual().start(() -> server.drain(Duration.ofDays(1)));
        assertThat(drain.join(Duration.ofSeconds(20))).isTrue();
    }

    @Test
    void aStreamThatNeverWasCannotBeReset() throws Exception {
        client.get(1, "/echo");
        client.awaitEnd(1);

        client.reset(3);

        assertThat(client.next().type()).isEqualTo(GO_AWAY);
    }

    /** Writes and reads frames, each as it is. */
    private static final class Http2Client implements AutoCloseable {
        private static final String SETTINGS = "000000 04 00 00000000";

        record Frame(int type, int flags, int stream) {}

        private final Socket socket;
        private final DataInputStream in;

        Http2Client(Socket socket) throws IOException {
            this.socket = socket;
            socket.setTcpNoDelay(true);
            in = new DataInputStream(socket.getInputStream());
            socket.getOutputStream().write("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".getBytes(StandardCharsets.US_ASCII));
            send(SETTINGS);
        }

        /** Asks for something, in one frame. */
        void get(int stream, String path) throws IOException {
            request(stream, "82", path, 0x5);
        }

        /** Begins to send something. */
        void post(int stream, String path) throws IOException {
            request(stream, "83", path, 0x4);
        }

        private void request(int stream, String method, String path, int flags) throws IOException {
            var block = "%s 86 01 01 78 04 %02x %s"
                    .formatted(
                            method, path.length(), HexFormat.of().formatHex(path.getBytes(StandardCharsets.US_ASCII)));
            int length = block.replace(" ", "").length() / 2;
            send("%06x %02x %02x %08x %s".formatted(length, HEADERS, flags, stream, block));
        }

        void reset(int stream) throws IOException {
            send("000004 %02x 00 %08x 00000008".formatted(RST_STREAM, stream));
        }

        /** Reads until a stream has ended. */
        void awaitEnd(int stream) throws IOException {
            Frame frame;
            do {
                frame = next();
                assertThat(frame.type()).isNotEqualTo(GO_AWAY);
            } while (frame.stream() != stream || (frame.flags() & END_STREAM) == 0);
        }

        /** Reads the next frame that is about an answer or ends the connection. */
        Frame next() throws IOException {
            while (true) {
                int first = in.readInt();
                var frame = new Frame(first & 0xff, in.readUnsignedByte(), in.readInt());
                in.readFully(new byte[first >>> 8]);
                if (frame.stream() != 0 || frame.type() == GO_AWAY) {
                    return frame;
                }
            }
        }

        private void send(String frame) throws IOException {
            socket.getOutputStream().write(HexFormat.of().parseHex(frame.replace(" ", "")));
        }

        @Override
        public void close() throws IOException {
            socket.close();
        }
    }
}
