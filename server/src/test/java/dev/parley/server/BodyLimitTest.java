package dev.parley.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.server.limits.BodyBudget;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandlers;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class BodyLimitTest {
    private static final int LIMIT = 100_000;

    private static final int FORM = 16 * 1024;

    private Server server;

    @BeforeAll
    void start() {
        server = TestServer.builder()
                .maxBodyBytes(LIMIT)
                .handler("/page", (request, body) -> TestServer.text("page"))
                .handler("/form", (request, body) -> TestServer.text("form of " + body.read(FORM).length))
                .start();
    }

    @AfterAll
    void stop() {
        server.close();
    }

    @Test
    void aBodyThatIsAnnouncedTooLargeIsRefusedUnread() throws IOException {
        try (var client = RawClient.to(server)) {
            client.send("POST /echo HTTP/1.1\nHost: x\nContent-Length: " + (LIMIT + 1) + "\n\n");

            var answer = client.answer();

            assertThat(answer.status()).isEqualTo(413);
            assertThat(answer.body()).contains("Request too large");
            assertThat(answer.headers()).containsEntry("connection", "close");
            assertThat(client.isClosedByServer()).isTrue();
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"Content-Length: 99999\n\nx", "Transfer-Encoding: chunked\n\n1869f\nx"})
    void whoWantsNoBodyDoesNotWaitForOne(String body) throws IOException {
        try (var client = RawClient.to(server)) {
            client.send("POST /page HTTP/1.1\nHost: x\n" + body);

            assertThat(client.answer().body()).isEqualTo("page");
            assertThat(client.isClosedByServer()).isTrue();
        }
    }

    @Test
    void aHandlerMaySetALowerLimit() throws IOException {
        try (var client = RawClient.to(server)) {
            client.send("POST /form HTTP/1.1\nHost: x\nContent-Length: " + FORM + "\n\n" + "x".repeat(FORM));
            assertThat(client.answer().body()).isEqualTo("form of " + FORM);

            client.send("POST /form HTTP/1.1\nHost: x\nContent-Length: " + (FORM + 1) + "\n\n");
            assertThat(client.answer().status()).isEqualTo(413);
        }
    }

    @Test
    void aSmallBodyIsNotCountedWithLargeOnesHoweverItIsCutInPieces() throws IOException {
        try (var client = RawClient.to(server)) {
            client.send("POST /form HTTP/1.1\nHost: x\nTransfer-Encoding: chunked\n\n" + "30000\n"
                    + "x".repeat(2 * (int) BodyBudget.FREE));

            assertThat(client.answer().status()).isEqualTo(413);
        }
    }

    @Test
    void aCompressedBodyIsRefusedUnread() throws IOException {
        try (var client = RawClient.to(server)) {
            client.send("POST /echo HTTP/1.1\nHost: x\nContent-Encoding: gzip\nContent-Length: 5\n\n");

            assertThat(client.answer().status()).isEqualTo(415);
            assertThat(client.isClosedByServer()).isTrue();
        }
    }

    @Test
    void aClientThatAsksFirstIsSparedTheSending() throws IOException {
        try (var client = RawClient.to(server)) {
            client.send("POST /echo HTTP/1.1\nHost: x\nExpect: 100-continue\nContent-Length: " + (LIMIT + 1) + "\n\n");

            assertThat(client.answer().status()).isEqualTo(413);
        }
    }

    @Test
    void aClientThatAsksFirstIsToldToGoOn() throws IOException {
        try (var client = RawClient.to(server)) {
            client.send("POST /echo HTTP/1.1\nHost: x\nExpect: 100-continue\nContent-Length: 5\n\n");

            assertThat(client.head().status()).isEqualTo(100);

            client.sendExactly("hello");

            assertThat(client.answer().body()).endsWith(" hello");
        }
    }

    @Test
    void chunksThatBecomeTooMuchAreRefused() throws IOException {
        try (var client = RawClient.to(server)) {
            client.send("POST /echo HTTP/1.1\nHost: x\nTransfer-Encoding: chunked\n\n");
            for (var sent = 0; sent <= LIMIT; sent += 1000) {
                client.send("3e8\n" + "x".repeat(1000) + "\n");
            }

            assertThat(client.answer().status()).isEqualTo(413);
            assertThat(client.isClosedByServer()).isTrue();
        }
    }

    @Test
    void aHugeChunkIsRefusedBeforeItIsRead() throws IOException {
        try (var client = RawClient.to(server)) {
            // In one write: the server may hang up as soon as it has seen the length.
            client.send(
                    "POST /echo HTTP/1.1\nHost: x\nTransfer-Encoding: chunked\n\n7fffffff\n" + "x".repeat(4 * LIMIT));

            assertThat(client.answer().status()).isEqualTo(413);
        }
    }

    @Test
    void theLengthOfAChunkCannotBeEndless() throws IOException {
        try (var client = RawClient.to(server)) {
            client.send("POST /echo HTTP/1.1\nHost: x\nTransfer-Encoding: chunked\n\n" + "0".repeat(4 * LIMIT));

            assertThat(client.answer().status()).isEqualTo(413);
        }
    }

    @ParameterizedTest
    @EnumSource(HttpClient.Version.class)
    void theRefusalReachesAClientThatIsStillSending(HttpClient.Version version) throws Exception {
        try (var http = HttpClient.newBuilder().version(version).build()) {
            var health = URI.create("http://127.0.0.1:" + server.port() + "/health");
            http.send(HttpRequest.newBuilder(health).build(), BodyHandlers.discarding());
            var body = BodyPublishers.ofByteArray(new byte[5 * LIMIT]);

            var answer = http.send(
                    HttpRequest.newBuilder(health.resolve("/echo")).POST(body).build(), BodyHandlers.ofString());

            assertThat(answer.version()).isEqualTo(version);
            assertThat(answer.statusCode()).isEqualTo(413);
        }
    }

    @ParameterizedTest
    @EnumSource(HttpClient.Version.class)
    void theLargestBodyThereMayBeIsServed(HttpClient.Version version) throws Exception {
        try (var http = HttpClient.newBuilder().version(version).build()) {
            var health = URI.create("http://127.0.0.1:" + server.port() + "/health");
            http.send(HttpRequest.newBuilder(health).build(), BodyHandlers.discarding());
            var body = BodyPublishers.ofString("x".repeat(LIMIT));

            var answer = http.send(
                    HttpRequest.newBuilder(health.resolve("/echo")).POST(body).build(), BodyHandlers.ofString());

            assertThat(answer.body()).endsWith("x".repeat(LIMIT));
        }
    }

    @Test
    void largeBodiesTogetherHaveALimitToo() {
        var budget = new BodyBudget(100, 240);

        assertThat(budget.take("a", 200)).isTrue();
        assertThat(budget.take("a", 20)).isFalse();

        budget.giveBack("a", 60);

        assertThat(budget.take("a", 60)).isTrue();
        assertThat(budget.taken()).isEqualTo(200);
    }

    @Test
    void largeBodiesOfAGroupLeaveRoomToAnother() {
        var budget = new BodyBudget(100, 800);
        int own = 0;
        while (budget.take("hostile", 50)) {
            own++;
        }

        assertThat(own).isEqualTo(14);
        assertThat(budget.take("ordinary", 80)).isTrue();
        assertThat(budget.take("third", 80)).isFalse();
    }
}
