package dev.parley.server.limits;

import dev.parley.protocol.A2AError;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.Feed;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Stream that ends with an error once its caller's credentials are no longer valid. They are checked when an event or a
 * keep-alive is due, at most once a second.
 */
public final class AdmittedFeed<E> implements Feed<E> {
    private static final long OFTEN = TimeUnit.SECONDS.toNanos(1);

    private final Feed<E> stream;
    private final BooleanSupplier stands;
    private long looked = System.nanoTime(); // it has just been let in

    /** Creates the stream; {@code stands} tells whether the credentials are still valid. */
    public AdmittedFeed(Feed<E> stream, BooleanSupplier stands) {
        this.stream = stream;
        this.stands = stands;
    }

    @Override
    public @Nullable List<E> next(Duration patience) throws InterruptedException {
        List<E> next = stream.next(patience);
        long now = System.nanoTime();
        if (next != null && now - looked >= OFTEN) {
            looked = now;
            if (!stands.getAsBoolean()) {
                throw A2AException.of(A2AError.UNAUTHENTICATED, "The credential of this stream is no longer good");
            }
        }
        return next;
    }

    @Override
    public void close() {
        stream.close();
    }
}
