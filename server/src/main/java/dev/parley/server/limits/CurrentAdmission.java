package dev.parley.server.limits;

import dev.parley.dialect.wire.AuthenticationResult;
import dev.parley.protocol.A2AError;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.Feed;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/** Admission of a request, the last one if there are several, as on a stream of gRPC. Belongs to one thread. */
public final class CurrentAdmission {
    private static final long OFTEN = TimeUnit.SECONDS.toNanos(1);

    private @Nullable AuthenticationResult admission;
    private boolean wasAdmitted;

    /** Takes the place of the admission before, if there is one. */
    public void admitted(AuthenticationResult next) {
        leave();
        admission = next;
        wasAdmitted = true;
    }

    /** Whether there is an admission, or was one. */
    public boolean wasAdmitted() {
        return wasAdmitted;
    }

    /** The group of the caller; empty before the request is admitted. */
    public String group() {
        return admission == null ? "" : admission.caller().scope().group();
    }

    /** Headers of any answer to the request. */
    public Map<String, String> headers() {
        return admission == null ? Map.of() : admission.headers();
    }

    /**
     * Returns the stream with an error at its end once the credentials of its caller are no longer valid. They are checked when an
     * event or a keep-alive is due, at most once a second.
     */
    public <E> Feed<E> whileValid(Feed<E> stream) {
        return admission == null ? stream : new AdmittedFeed<>(stream, admission.stands());
    }

    /** Ends the admission. */
    public void leave() {
        if (admission != null) {
            admission.leave().run();
            admission = null;
        }
    }

    private static final class AdmittedFeed<E> implements Feed<E> {
        private final Feed<E> stream;
        private final BooleanSupplier stands;
        private long looked = System.nanoTime(); // it has just been let in

        AdmittedFeed(Feed<E> stream, BooleanSupplier stands) {
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
}
