import io.a2a.spec.Message;
import io.a2a.spec.StreamingEventKind;
import io.a2a.spec.TaskStatusUpdateEvent;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/** Waits for the end of a stream: the SDK reads it on threads of its own, and tells nobody that it has ended. */
final class Arrival implements Consumer<StreamingEventKind> {
    private final Consumer<StreamingEventKind> events;
    private final CompletableFuture<Void> end = new CompletableFuture<>();

    Arrival(Consumer<StreamingEventKind> events) {
        this.events = events;
    }

    @Override
    public void accept(StreamingEventKind event) {
        try {
            events.accept(event);
        } catch (RuntimeException | Error failure) {
            end.completeExceptionally(failure);
        }
        if (event instanceof Message || event instanceof TaskStatusUpdateEvent update && update.isFinal()) {
            end.complete(null);
        }
    }

    void failed(Throwable failure) {
        end.completeExceptionally(failure);
    }

    void await() throws Exception {
        try {
            end.get(Main.SECONDS_PER_OPERATION, TimeUnit.SECONDS);
        } catch (ExecutionException failure) {
            if (failure.getCause() instanceof Exception cause) {
                throw cause;
            }
            throw failure;
        }
    }
}
