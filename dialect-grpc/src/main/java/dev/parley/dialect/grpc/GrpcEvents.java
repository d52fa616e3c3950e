package dev.parley.dialect.grpc;

import com.google.protobuf.Message;
import dev.parley.dialect.Transport.Broken;
import dev.parley.protocol.EventStream;
import dev.parley.protocol.InvalidField;
import dev.parley.protocol.LoggedEvent;
import dev.parley.protocol.TaskEvent;
import io.grpc.ClientCall;
import io.grpc.Metadata;
import io.grpc.Status;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The events that a call brings. The next one is asked for when the last has been taken, so that at most one waits here
 * and the rest with the agent.
 */
final class GrpcEvents<A extends Message> implements EventStream {
    private sealed interface Signal<A> {
        record Came<A>(A message) implements Signal<A> {}

        record Ended<A>(Status status, @Nullable Metadata trailers) implements Signal<A> {}
    }

    private final ClientCall<?, A> call;
    private final Function<A, TaskEvent> result;
    private final BlockingQueue<Signal<A>> signals = new LinkedBlockingQueue<>();
    private @Nullable List<LoggedEvent> first;
    private boolean over;
    private volatile boolean closed;

    private GrpcEvents(ClientCall<?, A> call, Function<A, TaskEvent> result) {
        this.call = call;
        this.result = result;
    }

    /** Sends the request, and waits for the first event, for by then it is known that the agent does not refuse. */
    static <Q extends Message, A extends Message> GrpcEvents<A> open(
            ClientCall<Q, A> call, Metadata metadata, Q request, Function<A, TaskEvent> result, Duration patience) {
        var events = new GrpcEvents<>(call, result);
        boolean opened = false;
        try {
            call.start(events.new Listener(), metadata);
            call.sendMessage(request);
            call.halfClose();
            call.request(1);
            events.first = events.next(patience);
            if (events.first != null && events.first.isEmpty()) {
                throw new Broken(Broken.Kind.TIMED_OUT, "no event came within " + patience, null);
            }
            opened = true;
            return events;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new Broken(Broken.Kind.INTERRUPTED, "interrupted while waiting for an answer", e);
        } finally {
            if (!opened) {
                events.close();
            }
        }
    }

    private final class Listener extends ClientCall.Listener<A> {
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
    public @Nullable List<LoggedEvent> next(Duration patience) throws InterruptedException {
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
            case Signal.Came<A> came -> {
                call.request(1);
                yield List.of(read(came.message()));
            }
            case Signal.Ended<A> ended -> {
                over = true;
                if (closed || ended.status().isOk()) {
                    yield null;
                }
                throw Refusal.of(ended.status(), ended.trailers());
            }
        };
    }

    private LoggedEvent read(A message) {
        try {
            return new LoggedEvent(0, result.apply(message));
        } catch (InvalidField e) {
            close();
            throw GrpcRemote.invalid(e);
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
