package dev.parley.server;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Streams of HTTP/2 that are given up, or whose requests are not read, cost the client nothing else on the connection. */
@Timeout(60)
class ResetStreamTest {
    private final Semaphore entered = new Semaphore(0);
    private final CountDownLatch mayGo = new CountDownLatch(1);
    private Server server;
    private RawHttp2Client client;

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
        client = RawHttp2Client.to(server);
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
    void theBodyOfARequestThatWasResetIsDropped() throws Exception {
        client.post(1, "/echo");
        client.get(3, "/wait");
        entered.acquire();

        client.reset(1);
        client.data(1, new byte[1_000], false);
        client.data(1, new byte[1_000], true);

        client.get(5, "/echo");
        client.awaitEnd(5);
        mayGo.countDown();
        client.awaitEnd(3);
    }

    @Test
    void theWindowOfABodyThatIsNotReadIsReturned() throws Exception {
        client.socket().setSoTimeout(10_000);
        client.post(1, "/wait");
        client.data(1, new byte[200_000], true);
        client.get(3, "/echo");
        client.awaitEnd(3);
        int before = client.windowOfConnection();

        mayGo.countDown();

        client.awaitWindowOfConnection(before + 128 * 1024);
    }

    @Test
    void aStreamThatNeverWasCannotBeReset() throws Exception {
        client.get(1, "/echo");
        client.awaitEnd(1);

        client.reset(3);

        assertThat(client.next().type()).isEqualTo(RawHttp2Client.GO_AWAY);
    }
}
