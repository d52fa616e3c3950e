package dev.parley.load;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.EOFException;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(20)
class LoadConnectionTest {
    private final StringBuilder body = new StringBuilder();
    private int status;
    private boolean events;

    private final LoadConnection.Reader reader = new LoadConnection.Reader() {
        @Override
        public void head(int code, boolean isEvents) {
            status = code;
            events = isEvents;
        }

        @Override
        public void body(ByteBuffer piece) {
            body.append(StandardCharsets.UTF_8.decode(piece));
        }
    };

    /** Gives {@code answer} to whoever connects, in pieces of so many bytes, and closes. */
    private static ServerSocket answering(String answer, int pieces) throws IOException {
        var server = new ServerSocket(0, 5, InetAddress.getLoopbackAddress());
        Thread.ofVirtual().start(() -> {
            byte[] bytes = answer.getBytes(StandardCharsets.UTF_8);
            try (Socket client = server.accept()) {
                client.setTcpNoDelay(true);
                for (int at = 0; at < bytes.length; at += pieces) {
                    client.getOutputStream().write(bytes, at, Math.min(pieces, bytes.length - at));
                }
            } catch (IOException done) {
                // the test has seen enough
            }
        });
        return server;
    }

    private boolean receive(String answer, int pieces) throws IOException {
        try (ServerSocket server = answering(answer, pieces);
                LoadConnection connection = LoadConnection.open("127.0.0.1", server.getLocalPort(), null, 256)) {
            connection.receive(reader);
            assertThat(connection.received()).isLessThanOrEqualTo(answer.length());
            return connection.isReusable();
        }
    }

    @Test
    void anAnswerOfKnownLengthIsReadAndTheConnectionKept() throws IOException {
        boolean reusable = receive("HTTP/1.1 200 OK\r\nX-Odd: a:b\r\nCONTENT-LENGTH: 5\r\n\r\nhelloHTTP/1.1", 1_000);

        assertThat(status).isEqualTo(200);
        assertThat(body).hasToString("hello");
        assertThat(reusable).isTrue();
    }

    @Test
    void anAnswerThatComesByteByByteIsReadToo() throws IOException {
        receive("HTTP/1.1 404 Not Found\r\ncontent-length:5\r\n\r\nhello", 1);

        assertThat(status).isEqualTo(404);
        assertThat(body).hasToString("hello");
    }

    @Test
    void chunksAreJoinedAndTrailersSkipped() throws IOException {
        String head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n";
        String chunks = "5;note=x\r\nhello\r\nC\r\n, my friend!\r\n0\r\nX-Trailer: 1\r\n\r\n";

        boolean reusable = receive(head + chunks, 3);

        assertThat(events).isTrue();
        assertThat(body).hasToString("hello, my friend!");
        assertThat(reusable).isTrue();
    }

    @Test
    void aBodyLargerThanTheBufferComesInPieces() throws IOException {
        String large = "0123456789".repeat(500);

        receive("HTTP/1.1 200 OK\r\nContent-Length: 5000\r\n\r\n" + large, 5_000);

        assertThat(body).hasToString(large);
    }

    @Test
    void aBodyWithoutLengthEndsWithTheConnection() throws IOException {
        boolean reusable = receive("HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\nhello", 1_000);

        assertThat(body).hasToString("hello");
        assertThat(reusable).isFalse();
    }

    @Test
    void aConnectionThatTheServerWillCloseIsNotUsedAgain() throws IOException {
        boolean reusable = receive("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok", 1_000);

        assertThat(reusable).isFalse();
    }

    @Test
    void anInterimAnswerIsSkipped() throws IOException {
        receive("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", 1_000);

        assertThat(status).isEqualTo(200);
        assertThat(body).hasToString("ok");
    }

    @Test
    void anAnswerThatBreaksOffIsAnError() {
        assertThatThrownBy(() -> receive("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhel", 1_000))
                .isInstanceOf(EOFException.class);
    }

    @Test
    void whatIsNotHttpIsAnError() {
        assertThatThrownBy(() -> receive("SSH-2.0-OpenSSH_9.6 and some more\r\n\r\n", 1_000))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("not HTTP/1.1");
    }

    @Test
    void aHeadWithoutEndIsAnError() {
        assertThatThrownBy(() -> receive("HTTP/1.1 200 OK\r\nX: " + "y".repeat(1_000), 1_000))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("more than 256 bytes");
    }
}
