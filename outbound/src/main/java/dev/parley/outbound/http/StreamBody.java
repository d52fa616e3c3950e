package dev.parley.outbound.http;

import java.net.http.HttpResponse.BodyHandler;
import java.net.http.HttpResponse.BodySubscriber;
import java.net.http.HttpResponse.BodySubscribers;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Flow.Subscription;
import java.util.function.Consumer;

/** Body of the answer to a request for a stream. */
public sealed interface StreamBody {
    /** No stream: all of it. */
    record Whole(byte[] bytes) implements StreamBody {}

    /** A piece of a stream, or how it ended. */
    sealed interface Piece {
        record Bytes(List<ByteBuffer> buffers) implements Piece {}

        record End() implements Piece {}

        record Broken(Throwable cause) implements Piece {}
    }

    /**
     * A stream: its pieces go to a consumer, one for each {@link #more}, so that a slow reader slows the sender and fills
     * no memory.
     */
    final class Pieces implements StreamBody, BodySubscriber<StreamBody> {
        private final Consumer<Piece> consumer;
        private final CompletableFuture<Subscription> subscription = new CompletableFuture<>();

        Pieces(Consumer<Piece> consumer) {
            this.consumer = consumer;
        }

        public void more() {
            var ignored = subscription.thenAccept(open -> open.request(1));
        }

        /** Gives up the connection. Idempotent; from any thread. */
        public void cancel() {
            var ignored = subscription.thenAccept(Subscription::cancel);
        }

        @Override
        public CompletionStage<StreamBody> getBody() {
            return CompletableFuture.completedStage(this);
        }

        @Override
        public void onSubscribe(Subscription open) {
            subscription.complete(open);
        }

        @Override
        public void onNext(List<ByteBuffer> buffers) {
            consumer.accept(new Piece.Bytes(buffers));
        }

        @Override
        public void onError(Throwable problem) {
            consumer.accept(new Piece.Broken(problem));
        }

        @Override
        public void onComplete() {
            consumer.accept(new Piece.End());
        }
    }

    /** Feeds {@code consumer} if the answer is a stream of events, else reads all of it, up to a limit. */
    static BodyHandler<StreamBody> handler(Consumer<Piece> consumer, int maxBytes) {
        return head -> {
            String type = head.headers().firstValue("Content-Type").orElse("");
            boolean events = head.statusCode() == 200 && type.regionMatches(true, 0, "text/event-stream", 0, 17);
            return events ? new Pieces(consumer) : BodySubscribers.mapping(new LimitedBytes(maxBytes), Whole::new);
        };
    }
}
