package dev.parley.outbound.http;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandler;
import java.net.http.HttpResponse.BodyHandlers;
import java.net.http.HttpResponse.BodySubscriber;
import java.net.http.HttpResponse.BodySubscribers;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Flow.Subscription;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Calls whose answers their readers cannot take, or do not take. */
final class Http1ClientTest {
    private static final Duration PATIENCE = Duration.ofSeconds(60);

    private final LimitedClient client = Http1Client.of(Duration.ofSeconds(10), null);
    private HttpServer server;
    private HttpRequest request;

    @BeforeEach
    void start() throws IOException {
        server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.createContext("/", exchange -> {
            exchange.sendResponseHeaders(200, 2);
            exchange.getResponseBody().write("hi".getBytes(UTF_8));
            exchange.close();
        });
        server.start();
        request = HttpRequest.newBuilder(
                        URI.create("http://127.0.0.1:" + server.getAddress().getPort() + "/"))
                .timeout(PATIENCE)
                .build();
    }

    @AfterEach
    void stop() {
        client.close();
        server.stop(0);
    }

    static Stream<Arguments> failures() {
        return Stream.of(
                        new IllegalStateException("unreadable"),
                        new StackOverflowError(),
                        new OutOfMemoryError("made up"))
                .flatMap(failure -> Stream.of(
                        Arguments.of("head", failure, (BodyHandler<String>) head -> {
                            throw thrown(failure);
                        }),
                        Arguments.of("body", failure, (BodyHandler<String>) head -> new Failing(failure))));
    }

    @ParameterizedTest(name = "{0}: {1}")
    @MethodSource("failures")
    void anErrorOfAReaderEndsItsCall(String place, Throwable failure, BodyHandler<String> handler) throws Exception {
        CompletableFuture<HttpResponse<String>> answer = client.sendAsync(request, handler);

        assertThatThrownBy(() -> answer.get(PATIENCE.toSeconds() / 2, TimeUnit.SECONDS))
                .isInstanceOf(ExecutionException.class)
                .hasRootCause(failure);
        assertThat(client.send(request, BodyHandlers.ofString()).body()).isEqualTo("hi");
    }

    /** Subscriber of a stream without a reader; {@code ended} counts its end. */
    private record Abandoned(BodySubscriber<InputStream> stream, CountDownLatch ended)
            implements BodySubscriber<InputStream> {
        Abandoned() {
            this(BodySubscribers.ofInputStream(), new CountDownLatch(1));
        }

        @Override
        public CompletionStage<InputStream> getBody() {
            return stream.getBody();
        }

        @Override
        public void onSubscribe(Subscription subscription) {
            stream.onSubscribe(subscription);
        }

        @Override
        public void onNext(List<ByteBuffer> pieces) {
            stream.onNext(pieces);
        }

        @Override
        public void onError(Throwable problem) {
            stream.onError(problem);
            ended.countDown();
        }

        @Override
        public void onComplete() {
            stream.onComplete();
            ended.countDown();
        }

        void assertEnded() throws InterruptedException {
            assertThat(ended.await(PATIENCE.toSeconds() / 2, TimeUnit.SECONDS)).isTrue();
        }
    }

    @Test
    void aStreamThatNobodyReadsEndsWithItsClient() throws Exception {
        var body = new Abandoned();
        client.send(request, head -> body);

        client.close();

        body.assertEnded();
    }

    @Test
    void aStreamThatIsClosedEnds() throws Exception {
        var body = new Abandoned();

        client.send(request, head -> body).body().close();

        body.assertEnded();
    }

    @Test
    void anInterruptedCallEndsAlsoIfItsAnswerComesJustThen() throws Exception {
        var body = new Abandoned();
        var isInterrupted = new CountDownLatch(1);
        Thread caller = Thread.ofVirtual().unstarted(() -> {
            Thread self = Thread.currentThread();
            try {
                client.send(request, head -> {
                    self.interrupt();
                    awaited(isInterrupted);
                    return body;
                });
            } catch (InterruptedException expected) {
                isInterrupted.countDown();
            } catch (IOException failure) {
                throw new UncheckedIOException(failure);
            }
        });
        caller.start();
        caller.join();

        body.assertEnded();
    }

    private static void awaited(CountDownLatch latch) {
        try {
            assertThat(latch.await(PATIENCE.toSeconds() / 2, TimeUnit.SECONDS)).isTrue();
        } catch (InterruptedException stop) {
            Thread.currentThread().interrupt();
        }
    }

    private static RuntimeException thrown(Throwable failure) {
        if (failure instanceof Error error) {
            throw error;
        }
        return (RuntimeException) failure;
    }

    /** Fails at the first bytes. */
    private static final class Failing implements BodySubscriber<String> {
        private final BodySubscriber<String> text = BodySubscribers.ofString(UTF_8);
        private final Throwable failure;

        Failing(Throwable failure) {
            this.failure = failure;
        }

        @Override
        public CompletionStage<String> getBody() {
            return text.getBody();
        }

        @Override
        public void onSubscribe(Subscription subscription) {
            text.onSubscribe(subscription);
        }

        @Override
        public void onNext(List<ByteBuffer> pieces) {
            throw thrown(failure);
        }

        @Override
        public void onError(Throwable problem) {
            text.onError(problem);
        }

        @Override
        public void onComplete() {
            text.onComplete();
        }
    }
}
