package dev.parley.server;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What a proxy before this server might understand in another way than the server does. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class MalformedRequestTest {
    private Server server;

    @BeforeAll
    void start() {
        server = TestServer.builder()
                .maxRequestLineBytes(1000)
                .maxHeaderBytes(2000)
                .start();
    }

    @AfterAll
    void stop() {
        server.close();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "POST /echo HTTP/1.1\nHost: x\nContent-Length: 5\nTransfer-Encoding: chunked\n\n0\n\n",
                "POST /echo HTTP/1.1\nHost: x\nContent-Length: 5\nContent-Length: 6\n\nhello",
                "POST /echo HTTP/1.1\nHost: x\nContent-Length: 5\nContent-Length: 5\n\nhello",
                "POST /echo HTTP/1.1\nHost: x\nContent-Length: 5, 5\n\nhello",
                "POST /echo HTTP/1.1\nHost: x\nContent-Length: +5\n\nhello",
                "POST /echo HTTP/1.1\nHost: x\nContent-Length: -1\n\n",
                "POST /echo HTTP/1.1\nHost: x\nContent-Length: 99999999999999999999\n\n",
                "POST /echo HTTP/1.1\nHost: x\nTransfer-Encoding: chunked, identity\n\n0\n\n",
                "POST /echo HTTP/1.1\nHost: x\nTransfer-Encoding: chunked\nTransfer-Encoding: chunked\n\n0\n\n",
                "POST /echo HTTP/1.1\nHost: x\nTransfer-Encoding : chunked\n\n0\n\n",
                "GET /echo HTTP/1.1\nHost: x\nX-Test: a\n b\n\n",
                "GET /echo HTTP/1.1\nHost: x\nHost: y\n\n",
                "GET /echo HTTP/1.1\n\n",
                "GET /echo HTTP/1.1\nHost: x\nX-Test: a\u0000b\n\n",
                "GET  /echo HTTP/1.1\nHost: x\n\n",
                "GET /echo\n\n",
                "GE( /echo HTTP/1.1\nHost: x\n\n",
                "\u0001ET /echo HTTP/1.1\nHost: x\n\n",
                " GET /echo HTTP/1.1\nHost: x\n\n",
                "\nGET /echo HTTP/1.1\nHost: x\n\n",
                "POST /echo HTTP/1.1\nHost: x\nTransfer-Encoding: chunked\n\nzz\nhello\n0\n\n",
                "POST /echo HTTP/1.1\nHost: x\nTransfer-Encoding: chunked\n\n-5\nhello\n0\n\n",
                "POST /echo HTTP/1.1\nHost: x\nTransfer-Encoding: chunked\n\n+5\nhello\n0\n\n",
                "POST /echo HTTP/1.1\nHost: x\nTransfer-Encoding: chunked\n\n5\nhello\n-0\n\n",
                "POST /echo HTTP/1.1\nHost: x\nTransfer-Encoding: chunked\n\n 5\nhello\n0\n\n",
                "GET /echo HTTP/1.1\nHost: x\n: y\n\n",
                "GET /echo HTTP/1.1\n: y\nHost: x\n\n",
                "POST /echo HTTP/1.1\nHost: x\nTransfer-Encoding: chunked\n\n5\nhelloXX0\n\n",
                "POST /echo HTTP/1.1\nHost: x\nTransfer-Encoding: chunked\n\n5\nhello\n0\nX-Test: y\n\n",
            })
    void ambiguousRequestsAreRefusedAndTheConnectionClosed(String request) throws IOException {
        try (var client = RawClient.to(server)) {
            client.send(request);

            var answer = client.answer();

            assertThat(answer.status()).isEqualTo(400);
            assertThat(answer.headers())
                    .containsEntry("connection", "close")
                    .containsEntry("content-type", "application/json")
                    .containsEntry("x-content-type-options", "nosniff");
            assertThat(answer.body()).isEqualTo("""
                    {"error":{"code":400,"status":"INVALID_ARGUMENT","message":"Bad Request"}}""");
            assertThat(client.isClosedByServer()).isTrue();
        }
    }

    @Test
    void aMethodThatIsNoTokenIsRefusedInTheSecondRequestToo() throws IOException {
        try (var client = RawClient.to(server)) {
            client.send("GET /echo HTTP/1.1\nHost: x\n\n");
            assertThat(client.answer().status()).isEqualTo(200);

            client.send("GE( /echo HTTP/1.1\nHost: x\n\n");

            assertThat(client.answer().status()).isEqualTo(400);
            assertThat(client.isClosedByServer()).isTrue();
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "GET /echo HTTP/1.1\nHost: x\n\n",
                "GET /echo HTTP/1.1\r\nHost: x\nX-Test: y\r\n\r\n",
                "POST /echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n5\nhello\r\n0\r\n\r\n",
                "GET /echo HTTP/1.1\rHost: x\r\r",
            })
    void lineBreaksAreBothCharacters(String request) throws IOException {
        try (var client = RawClient.to(server)) {
            client.sendExactly(request);

            assertThat(client.answer().status()).isEqualTo(400);
            assertThat(client.isClosedByServer()).isTrue();
        }
    }

    @Test
    void aRequestBehindABadOneIsNotServed() throws IOException {
        try (var client = RawClient.to(server)) {
            client.send("""
                    POST /echo HTTP/1.1
                    Host: x
                    Content-Length: 5
                    Transfer-Encoding: chunked

                    0

                    GET /health HTTP/1.1
                    Host: x

                    """);

            assertThat(client.answer().status()).isEqualTo(400);
            assertThat(client.isClosedByServer()).isTrue();
        }
    }

    @Test
    void longRequestLinesAreNotReadToTheEnd() throws IOException {
        try (var client = RawClient.to(server)) {
            client.send("GET /" + "x".repeat(2000));

            assertThat(client.answer().status()).isEqualTo(414);
            assertThat(client.isClosedByServer()).isTrue();
        }
    }

    @Test
    void longHeadersAreNotReadToTheEnd() throws IOException {
        try (var client = RawClient.to(server)) {
            client.send("GET /echo HTTP/1.1\nHost: x\nX-Test: " + "x".repeat(3000));

            var answer = client.answer();

            assertThat(answer.status()).isEqualTo(431);
            assertThat(answer.body()).contains("Request Header Fields Too Large (expected: at most 2000 bytes)");
            assertThat(client.isClosedByServer()).isTrue();
        }
    }

    @Test
    void oldVersionsAreNamedAsSuch() throws IOException {
        try (var client = RawClient.to(server)) {
            client.send("GET /echo HTTP/1.0\n\n");

            assertThat(client.answer().status()).isEqualTo(505);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "HTTP2-Settings: ???\n", "HTTP2-Settings: AAMAAABQAtAP__\n"})
    void aWrongRequestForHttp2IsOneForHttp1(String settings) throws IOException {
        try (var client = RawClient.to(server)) {
            client.send("GET /health HTTP/1.1\nHost: x\nConnection: Upgrade\nUpgrade: h2c\n" + settings + "\n");

            assertThat(client.answer().status()).isEqualTo(200);
        }
    }

    @Test
    void requestsMayCloselyFollowEachOther() throws IOException {
        try (var client = RawClient.to(server)) {
            client.send("""
                    POST /echo HTTP/1.1
                    Host: x
                    Transfer-Encoding: chunked

                    2
                    ab
                    3
                    cde
                    0

                    GET /health HTTP/1.1
                    Host: x

                    """);

            assertThat(client.answer().body()).endsWith(" abcde");
            assertThat(client.answer().body()).isEqualTo("{\"status\":\"up\"}");
        }
    }

    @Test
    void theLastRequestOfAConnectionIsTheOneThatSaysSo() throws IOException {
        try (var client = RawClient.to(server)) {
            client.send("GET /health HTTP/1.1\nHost: x\nConnection: close\n\n");

            assertThat(client.answer().headers()).containsEntry("connection", "close");
            assertThat(client.isClosedByServer()).isTrue();
        }
    }
}
