package dev.parley.dialect.grpc;

import com.google.protobuf.Message;
import dev.parley.dialect.spi.Transport.Broken;
import dev.parley.protocol.A2AError;
import dev.parley.protocol.ErrorKind;
import dev.parley.protocol.Feed;
import dev.parley.protocol.InvalidField;
import io.grpc.ClientCall;
import io.grpc.Metadata;
import io.grpc.Status;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Incoming messages of a call. The next one is requested when the last has been taken, so that at most one waits here
 * and the rest with the agent.
 */
final class GrpcFeed<A extends Message, E> implements Feed<E> {
    private sealed interface Signal<A> {
        record Began<A>(Metadata headers) implements Signal<A> {}

        record Came<A>(A message) implements Signal<A> {}

        record Ended<A>(Status status, @Nullable Metadata trailers) implements Signal<A> {}
    }

    private final ClientCall<?, A> call;
    private final Function<A, E> result;
    private List<ErrorKind> errors = List.of();
    private final BlockingQueue<Signal<A>> signals = new LinkedBlockingQueue<>();
    private @Nullable List<E> first;
    private @Nullable String position;
    private boolean over;
    private volatile boolean closed;

    private GrpcFeed(ClientCall<?, A> call, Function<A, E> result) {
        this.call = call;
        this.result = result;
    }

    /** Sends the request, and waits for the first event, for by then it is known that the agent does not refuse. */
    static <Q extends Message, A extends Message, E> GrpcFeed<A, E> open(
            ClientCall<Q, A> call, Metadata metadata, Q request, Function<A, E> result, Duration patience) {
        return open(call, metadata, request, result, patience, feed -> {
            feed.first = feed.next(patience);
            return feed.first == null || !feed.first.isEmpty();
        });
    }

    /** Sends the request, and waits for the headers of the answer: it may be long before something happens. */
    static <Q extends Message, A extends Message, E> GrpcFeed<A, E> openQuiet(
            ClientCall<Q, A> call,
            Metadata metadata,
            Q request,
            Function<A, E> result,
            Duration patience,
            String positionHeader,
            List<ErrorKind> errors) {
        return open(call, metadata, request, result, patience, feed -> {
            feed.errors = errors;
            Signal<A> signal = feed.signals.poll(patience.toNanos(), TimeUnit.NANOSECONDS);
            if (signal instanceof Signal.Ended<A> ended && !ended.status().isOk()) {
                throw feed.refusal(ended);
            }
            feed.over = signal instanceof Signal.Ended<A>;
            feed.position = signal instanceof Signal.Began<A>(Metadata headers)
                    ? headers.get(
                            Metadata.Key.of(positionHeader.toLowerCase(Locale.ROOT), Metadata.ASCII_STRING_MARSHALLER))
                    : null;
            return signal != null;
        });
    }

    /** Sends the request, and waits for nothing: some servers keep even the headers until something happens. */
    static <Q extends Message, A extends Message, E> GrpcFeed<A, E> openUnheard(
            ClientCall<Q, A> call, Metadata metadata, Q request, Function<A, E> result) {
        return open(call, metadata, request, result, Duration.ZERO, feed -> true);
    }

    private interface Beginning<A extends Message, E> {
        boolean came(GrpcFeed<A, E> feed) throws InterruptedException;
    }

    private static <Q extends Message, A extends Message, E> GrpcFeed<A, E> open(
            ClientCall<Q, A> call,
            Metadata metadata,
            Q request,
            Function<A, E> result,
            Duration patience,
            Beginning<A, E> beginning) {
        var feed = new GrpcFeed<>(call, result);
        boolean opened = false;
        try {
            call.start(feed.new Listener(), metadata);
            call.sendMessage(request);
            call.halfClose();
            call.request(1);
            if (!beginning.came(feed)) {
                throw new Broken(Broken.Kind.TIMED_OUT, "no event came within " + patience, null);
            }
            opened = true;
            return feed;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new Broken(Broken.Kind.INTERRUPTED, "interrupted while waiting for an answer", e);
        } finally {
            if (!opened) {
                feed.close();
            }
        }
    }

    private final class Listener extends ClientCall.Listener<A> {
        @Override
        public void onHeaders(Metadata headers) {
            signals.add(new Signal.Began<>(headers));
        }

        @Override
        public void onMessage(A message) {
            signals.add(new Signal.Came<>(message));
        }

        @Override
        public void onClose(Status status, Metadata trailers) {
            signals.add(new Signal.Ended<>(status, trailers));
        }
    }

    @Override
    public @Nullable List<E> next(Duration patience) throws InterruptedException {
        if (first != null) {
            var events = first;
            first = null;
            return events;
        }
        if (over || closed) {
            return null;
        }
        return switch (signals.poll(patience.toNanos(), TimeUnit.NANOSECONDS)) {
            case null -> List.of();
            case Signal.Began<A> began -> next(patience);
            case Signal.Came<A> came -> {
                call.request(1);
                yield List.of(read(came.message()));
            }
            case Signal.Ended<A> ended -> {
                over = true;
                if (closed || ended.status().isOk()) {
                    yield null;
                }
                throw refusal(ended);
            }
        };
    }

    private RuntimeException refusal(Signal.Ended<A> ended) {
        return Refusal.of(ended.status(), ended.trailers(), A2AError.UNSUPPORTED_OPERATION, errors);
    }

    /** The position in the headers, which only a feed that was opened quietly has read. */
    @Override
    public @Nullable String position() {
        return position;
    }

    private E read(A message) {
        try {
            return result.apply(message);
        } catch (InvalidField e) {
            close();
            throw GrpcRemote.invalid(e, null);
        }
    }

    @Override
    public void close() {
        if (!closed) {
            closed = true;
            call.cancel("no longer wanted", null);
        }
    }
}
