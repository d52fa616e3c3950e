package dev.parley.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.parley.client.RawServer.Connection;
import dev.parley.outbound.AddressRule;
import dev.parley.outbound.GuardedClients;
import dev.parley.outbound.http.LimitedClient;
import dev.parley.outbound.http.UnreadBytes;
import java.net.URI;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@Timeout(30)
class KeptConnectionTest {
    private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
    private final GuardedClients clients = new GuardedClients(AddressRule.allowing(List.of("127.0.0.1")));
    private final LimitedClient client = clients.of("g");

    @AfterEach
    void close() {
        clients.close();
        threads.close();
    }

    private String get(RawServer server, @Nullable Object partition) throws Exception {
        var request = HttpRequest.newBuilder(URI.create(server.url("/"))).build();
        return threads.submit(() -> client.send(request, BodyHandlers.ofString(), partition, Duration.ofSeconds(20))
                        .body())
                .get();
    }

    /** Answers each request with the number of its connection, and what {@code more} writes then. */
    private static RawServer numbering(RawServer.Talk more) throws Exception {
        return new RawServer(connection -> {
            while (connection.request() != null) {
                connection.answer(200, String.valueOf(connection.number));
                more.on(connection);
            }
        });
    }

    @Test
    void aConnectionWithoutUnreadBytesIsKept() throws Exception {
        try (RawServer server = numbering(connection -> {})) {
            assertThat(List.of(get(server, null), get(server, null), get(server, null)))
                    .containsExactly("1", "1", "1");
        }
    }

    @Test
    void connectionsAreKeptWithinALane() throws Exception {
        try (RawServer server = numbering(connection -> {})) {
            assertThat(List.of(get(server, "a"), get(server, "b"), get(server, "a"), get(server, "b")))
                    .containsExactly("1", "2", "1", "2");
        }
    }

    @ParameterizedTest
    @DisplayName("T4: a connection with unread bytes is not used again, whatever they are")
    @ValueSource(
            strings = {
                "HTTP/1.1 200 OK\nContent-Length: 5\n\nextra",
                "H",
                "\n",
                "HTTP/1.1 100 Continue\n\n",
                "HTTP/1.1 408 Request Timeout\nConnection: close\nContent-Length: 0\n\n",
                "0\n\n"
            })
    void aConnectionWithUnreadBytesIsNotUsedAgain(String unread) throws Exception {
        try (RawServer server = new RawServer(connection -> {
            while (connection.request() != null) {
                String number = String.valueOf(connection.number);
                connection.write("HTTP/1.1 200 OK\nContent-Length: " + number.length() + "\n\n" + number + unread);
            }
        })) {
            assertThat(List.of(get(server, null), get(server, null), get(server, null)))
                    .containsExactly("1", "2", "3");
        }
    }

    @Test
    void bytesThatComeLaterAreUnreadToo() throws Exception {
        var written = new CopyOnWriteArrayList<CountDownLatch>();
        try (RawServer server = new RawServer(connection -> {
            while (connection.request() != null) {
                var done = new CountDownLatch(1);
                written.add(done);
                connection.answer(200, String.valueOf(connection.number));
                connection.write("HTTP/1.1 200 OK\nContent-Length: 5\n\nextra");
                done.countDown();
            }
        })) {
            for (int i = 1; i <= 5; i++) {
                assertThat(get(server, null)).isEqualTo(String.valueOf(i));
                written.getLast().await();
            }
        }
    }

    @Test
    @DisplayName("an answer that arrives before the first request is not accepted")
    void anAnswerBeforeTheRequestIsNone() throws Exception {
        var early = new CountDownLatch(1);
        try (RawServer server = new RawServer(connection -> {
            connection.write("HTTP/1.1 200 OK\nContent-Length: 5\n\nearly");
            early.countDown();
            hold(connection);
        })) {
            // The bytes may come after the request; then they cannot be told from its answer.
            try {
                assertThat(get(server, null)).isEqualTo("early");
            } catch (ExecutionException refused) {
                assertThat(refused).hasCauseInstanceOf(UnreadBytes.class);
            }
            early.await();
        }
    }

    private static void hold(Connection connection) {
        connection.awaitClose();
    }

    @ParameterizedTest
    @ValueSource(strings = {"100 Continue", "102 Processing", "103 Early Hints"})
    @DisplayName("S118: a flood of interim answers ends the exchange")
    void interimAnswersAreBounded(String interim) throws Exception {
        try (RawServer server = new RawServer(connection -> {
            connection.request();
            for (int i = 0; i < 200_000; i++) {
                connection.write("HTTP/1.1 " + interim + "\n\n");
            }
            connection.answer(200, "late");
        })) {
            assertThatThrownBy(() -> get(server, null)).hasRootCauseMessage("more than 16 interim answers");
        }
    }

    @Test
    void someInterimAnswersAreReadOver() throws Exception {
        try (RawServer server = new RawServer(connection -> {
            connection.request();
            for (int i = 0; i < 10; i++) {
                connection.write("HTTP/1.1 103 Early Hints\n\n");
            }
            connection.answer(200, "answer");
        })) {
            assertThat(get(server, null)).isEqualTo("answer");
        }
    }
}
