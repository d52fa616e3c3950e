package dev.parley.dialect.wire;

import dev.parley.dialect.spi.WireRequest;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.Artifact;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.LoggedEvent;
import dev.parley.protocol.Message;
import dev.parley.protocol.Operation;
import dev.parley.protocol.Part;
import dev.parley.protocol.Task;
import dev.parley.protocol.TaskArtifactUpdateEvent;
import dev.parley.protocol.TaskStatus;
import dev.parley.protocol.TaskStatusUpdateEvent;
import dev.parley.protocol.support.FairPool;
import java.time.Duration;
import java.util.Collection;
import java.util.Map;
import java.util.OptionalInt;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Platform threads, shared by the groups, on which large requests are parsed and large answers and events are written. On a
 * virtual thread such work would hold the carrier for about 2 ms per MiB. Small bodies are handled on the thread of the call.
 */
public final class LargeBodies {
    /** Bytes that are parsed or written in about half a millisecond. */
    public static final int LARGE = 256 << 10;

    /** Estimated bytes around a value in JSON or protobuf, so that many small values count as a large body. */
    private static final int AROUND = 16;

    /** Large requests and answers of one group that wait; the memory of all bodies is limited as well. */
    private static final int MAX_WAITING = 64;

    private static final Duration PATIENCE = Duration.ofSeconds(30);
    private static final Duration LATER = Duration.ofSeconds(1);

    /** Of the process, as processors are. Its threads end when they are idle. */
    private static final FairPool POOL =
            new FairPool("json", Math.max(2, Runtime.getRuntime().availableProcessors()), MAX_WAITING);

    private LargeBodies() {}

    /**
     * Does work that takes as long as the body of a request is large.
     *
     * @throws A2AException UNAVAILABLE if too much work of the group waits, or the caller has gone
     */
    public static <T> T compute(WireRequest request, CallContext caller, Supplier<T> work) {
        return compute(request.body().length, caller.scope().group(), work);
    }

    /**
     * Does work that takes as long as so many bytes are read.
     *
     * @param group whose work it is; the address of a client whose group is not known yet
     * @throws A2AException UNAVAILABLE if too much work of the group waits, or the caller has gone
     */
    public static <T> T compute(int bytes, String group, Supplier<T> work) {
        return bytes < LARGE ? work.get() : compute(group, work);
    }

    /**
     * Does work that takes as long as {@code value} is written.
     *
     * @param value of the model, or free data; values of other types count as small
     * @throws A2AException UNAVAILABLE if too much work of the group waits, or the caller has gone
     */
    public static <T> T encode(@Nullable Object value, CallContext caller, Supplier<T> work) {
        return left(value, LARGE) > 0 ? work.get() : compute(caller.scope().group(), work);
    }

    /**
     * {@link #encode(Object, CallContext, Supplier)} for an event. If the log has encoded it, the length of these bytes decides,
     * without an estimate: encodings in other dialects have about the same length.
     *
     * @throws A2AException UNAVAILABLE if too much work of the group waits, or the caller has gone
     */
    public static <T> T encode(LoggedEvent event, CallContext caller, Supplier<T> work) {
        OptionalInt length = event.encodedLength();
        return length.isPresent()
                ? compute(length.getAsInt(), caller.scope().group(), work)
                : encode(event.event(), caller, work);
    }

    private static <T> T compute(String group, Supplier<T> work) {
        try {
            return POOL.call(group, PATIENCE, work);
        } catch (RejectedExecutionException | TimeoutException busy) {
            throw A2AException.unavailable("Too many large requests", LATER);
        } catch (InterruptedException stopped) {
            Thread.currentThread().interrupt();
            throw A2AException.unavailable("The request was given up", LATER);
        }
    }

    /** Returns {@code bytes} less the estimated size of a value, at least 0; stops measuring at 0. */
    private static int left(@Nullable Object value, int bytes) {
        int left = bytes - AROUND;
        if (left <= 0) {
            return 0;
        }
        return switch (value) {
            case null -> left;
            case String text -> left - text.length();
            case byte[] raw -> left - raw.length;
            case Collection<?> values -> leftBehindAll(values, left);
            case Map<?, ?> map -> leftBehindAll(map.keySet(), leftBehindAll(map.values(), left));
            case Part.Text part -> left(part.text(), left(part.metadata(), left));
            case Part.Raw part -> left(part.raw(), left(part.metadata(), left));
            case Part.Data part -> left(part.data(), left(part.metadata(), left));
            case Part.Url part -> left(part.url(), left(part.metadata(), left));
            case Message message -> left(message.parts(), left(message.metadata(), left));
            case Artifact artifact -> left(artifact.parts(), left(artifact.metadata(), left));
            case TaskStatus status -> left(status.message(), left);
            case Task task ->
                left(task.artifacts(), left(task.history(), left(task.status(), left(task.metadata(), left))));
            case TaskStatusUpdateEvent event -> left(event.status(), left(event.metadata(), left));
            case TaskArtifactUpdateEvent event -> left(event.artifact(), left(event.metadata(), left));
            case Operation.TaskPage page -> left(page.tasks(), left);
            default -> left;
        };
    }

    private static int leftBehindAll(Collection<?> values, int bytes) {
        int left = bytes;
        for (Object value : values) {
            left = left(value, left);
            if (left <= 0) {
                return 0;
            }
        }
        return left;
    }
}
