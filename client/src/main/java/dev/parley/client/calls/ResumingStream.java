package dev.parley.client.calls;

import static java.util.Objects.requireNonNull;
import static java.util.Objects.requireNonNullElse;

import dev.parley.client.http.SseParser;
import dev.parley.client.http.StreamBody;
import dev.parley.client.http.StreamBody.Piece;
import dev.parley.client.http.StreamBody.Pieces;
import dev.parley.client.http.StreamBody.Whole;
import dev.parley.client.spi.ClientException;
import dev.parley.client.spi.ClientException.Problem;
import dev.parley.client.wire.ClientSettings;
import dev.parley.client.wire.HttpWire;
import dev.parley.client.wire.HttpWire.Opening;
import dev.parley.client.wire.Place;
import dev.parley.client.wire.Trouble;
import dev.parley.protocol.A2AError;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.AgentEndpoint;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.Feed;
import dev.parley.protocol.LoggedEvent;
import dev.parley.protocol.Message;
import dev.parley.protocol.Operation;
import dev.parley.protocol.Operation.SubscribeToTask;
import dev.parley.protocol.Task;
import dev.parley.protocol.TaskArtifactUpdateEvent;
import dev.parley.protocol.TaskEvent;
import dev.parley.protocol.TaskState;
import dev.parley.protocol.TaskStatus;
import dev.parley.protocol.TaskStatusUpdateEvent;
import java.net.http.HttpResponse;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * A stream of events that outlives its connections.
 *
 * <p>Everything happens on the reader's thread: what comes over the network is queued, and the reader works it off while
 * it waits. A connection hands over its next piece only when asked, so the queue holds one piece and a few signals.
 *
 * <p>How a stream goes on after its connection has ended:
 *
 * <ul>
 *   <li>The task has ended, or the answer was a message: it is over.
 *   <li>The server closed it in good order while the task waits for its caller: it is over too, some servers do that.
 *   <li>Else it was cut, and the task is subscribed to from behind the last number seen. A server that ignores that
 *       begins with a snapshot, which is then the next event. One that refuses because the task has ended meanwhile, or
 *       that breaks off at once, is asked for the task, and if it has ended that is the last event.
 * </ul>
 */
public final class ResumingStream implements Feed<LoggedEvent> {
    /** How servers refuse to resume the stream of a task that has ended. */
    private static final Set<A2AError> ENDED =
            Set.of(A2AError.UNSUPPORTED_OPERATION, A2AError.METHOD_NOT_FOUND, A2AError.INVALID_PARAMS);

    /** Signal for a waiting reader. Signals of an abandoned connection carry an old number. */
    private sealed interface Signal {
        record Answered(int connection, Opening opening, HttpResponse<StreamBody> response) implements Signal {}

        record Came(int connection, Piece piece) implements Signal {}

        record Closed() implements Signal {}
    }

    /** The wait that ends at {@link #wakeAt}. */
    private enum Phase {
        READING,
        WAITING,
        CONNECTING
    }

    private final Calls calls;
    private final AgentEndpoint endpoint;
    private final ClientSettings settings;
    private final HttpWire wire;
    private final CallContext context;
    private final Operation.TaskWatch operation;
    private final BlockingQueue<Signal> signals = new LinkedBlockingQueue<>();
    private final AtomicReference<@Nullable Runnable> hangUp = new AtomicReference<>();
    private volatile boolean closed;

    private Place.ByHttp place;
    private final List<LoggedEvent> ready = new ArrayList<>();
    private @Nullable RuntimeException failure;
    private boolean over;

    private Phase phase = Phase.CONNECTING;
    private long wakeAt;
    private int connection;
    private long exchange;
    private @Nullable Pieces feed;
    private boolean hungry;
    private SseParser parser;
    private int failures;

    private @Nullable String taskId;
    private @Nullable TaskState state;
    private boolean answered;
    private boolean begun;
    private long last;
    private long resumedBehind;

    private ResumingStream(
            Calls calls,
            AgentEndpoint endpoint,
            Place.ByHttp place,
            CallContext context,
            Operation.TaskWatch operation) {
        this.calls = calls;
        this.endpoint = endpoint;
        this.settings = calls.means().settings();
        this.wire = calls.means().wire();
        this.context = context;
        this.operation = operation;
        this.place = place;
        this.parser = new SseParser(settings.maxEventBytes());
        if (operation instanceof SubscribeToTask subscribe) {
            taskId = subscribe.id();
            last = requireNonNullElse(subscribe.after(), 0L);
            begun = subscribe.after() != null; // who goes on somewhere has the task already
            resumedBehind = last;
        }
    }

    /**
     * Opens a stream in one attempt.
     *
     * @param endpoint the agent, which is asked for the task that has ended meanwhile
     * @throws A2AException if the agent refuses it
     * @throws ClientException if there is no answer
     * @throws Trouble if another attempt may help, here or elsewhere
     */
    public static ResumingStream open(
            Calls calls,
            AgentEndpoint endpoint,
            Place.ByHttp place,
            CallContext context,
            Operation.TaskWatch operation,
            Duration left)
            throws Trouble, InterruptedException {
        var stream = new ResumingStream(calls, endpoint, place, context, operation);
        Opening opening = stream.send(operation, left);
        stream.begin(opening, stream.wire.await(opening, left));
        return stream;
    }

    private Opening send(Operation.TaskWatch watch, Duration left) throws Trouble, InterruptedException {
        int number = ++connection;
        Opening opening = wire.open(
                calls.request(place, watch, context, left), piece -> signals.add(new Signal.Came(number, piece)));
        hangUp.set(() -> opening.response().cancel(true));
        return opening;
    }

    /**
     * Begins to read.
     *
     * @throws A2AException if the answer is no stream
     * @throws Trouble the same, if another attempt may help
     */
    private void begin(Opening opening, HttpResponse<StreamBody> response) throws Trouble {
        wire.begun(opening, response);
        switch (response.body()) {
            case Whole(var bytes) -> {
                A2AException problem = place.binding().refusal(response.statusCode(), bytes);
                throw calls.refusal(opening.request(), response.statusCode(), response.headers(), problem);
            }
            case Pieces open -> {
                hangUp.set(open::cancel);
                if (closed) {
                    open.cancel(); // close() may have looked before this connection was there
                }
                feed = open;
                exchange = opening.exchange();
                parser = new SseParser(settings.maxEventBytes());
                hungry = true;
                wait(Phase.READING, settings.streamSilence());
            }
        }
    }

    @Override
    public @Nullable List<LoggedEvent> next(Duration patience) throws InterruptedException {
        long until = System.nanoTime() + patience.toNanos();
        while (ready.isEmpty()) {
            if (closed || over) {
                RuntimeException problem = failure;
                failure = null;
                if (problem != null && !closed) {
                    throw problem;
                }
                return null;
            }
            if (hungry && feed != null) {
                hungry = false;
                feed.more();
            }
            long now = System.nanoTime();
            Signal signal = signals.poll(Math.min(until - now, wakeAt - now), TimeUnit.NANOSECONDS);
            if (signal != null) {
                handle(signal);
            } else if (System.nanoTime() - wakeAt >= 0) {
                wake();
            } else if (System.nanoTime() - until >= 0) {
                return List.of();
            }
        }
        List<LoggedEvent> events = List.copyOf(ready);
        ready.clear();
        return events;
    }

    private void handle(Signal signal) throws InterruptedException {
        switch (signal) {
            case Signal.Answered(var number, var opening, var response)
            when number == connection -> resume(opening, response);
            case Signal.Came(var number, var piece) when number == connection -> read(piece);
            case Signal.Answered old -> {
                if (old.response().body() instanceof Pieces unwanted) {
                    unwanted.cancel();
                }
            }
            case Signal.Came old -> {}
            case Signal.Closed close -> {}
        }
    }

    private void read(Piece piece) throws InterruptedException {
        try {
            switch (piece) {
                case Piece.Bytes(var buffers) -> {
                    for (ByteBuffer buffer : buffers) {
                        parser.read(buffer, this::read);
                    }
                    hungry = true;
                    wait(Phase.READING, settings.silence(isDone()));
                }
                case Piece.End end -> {
                    if (state != null && state.isInterrupted()) {
                        end(null);
                    } else {
                        lost(new ClientException(Problem.LOST, "the agent closed the stream"));
                    }
                }
                case Piece.Broken(var cause) -> lost(cause);
            }
        } catch (SseParser.TooLarge e) {
            end(new ClientException(Problem.ANSWER_TOO_LARGE, place.url().origin() + ": " + e.getMessage(), e));
        } catch (A2AException e) {
            if (taskId != null && (e.error() == A2AError.UNAVAILABLE || e.error() == A2AError.RATE_LIMITED)) {
                cut(e.retryAfter(), e);
            } else if (failures > 0) {
                refused(e); // told within the stream that was resumed
            } else {
                end(e);
            }
        }
    }

    /** Servers that find out too late that the task has ended break off a stream that was resumed, without an event. */
    private void lost(Throwable cause) throws InterruptedException {
        if (failures > 0 && feed != null) {
            readOutcome(() -> cut(null, cause));
        } else {
            cut(null, cause);
        }
    }

    private void read(SseParser.Frame frame) {
        wire.listen(exchange, frame);
        LoggedEvent event = place.binding().event(frame.id(), frame.data());
        if (isDone()) {
            return; // before 1.0, the end of a task that was shown whole is repeated
        }
        switch (event.event()) {
            case Task task -> {
                begun = true;
                taskId = task.id();
                state = task.state();
                last = event.sequence(); // a snapshot: numbers go on from here, even if they are other ones than before
                resumedBehind = 0;
            }
            case Message message -> answered = true;
            case TaskStatusUpdateEvent update -> {
                taskId = update.taskId();
                state = update.status().state();
            }
            case TaskArtifactUpdateEvent update -> taskId = update.taskId();
        }
        if (!begun && !answered) {
            begun = true;
            ready.add(beginning(event.event()));
        }
        failures = 0;
        if (event.sequence() != 0) {
            if (event.sequence() <= resumedBehind) {
                return; // seen before the cut
            }
            last = event.sequence();
        }
        ready.add(event);
    }

    /** The task that streams of 0.1 and its like, and of some servers, do not begin with, though every reader needs one. */
    static LoggedEvent beginning(TaskEvent first) {
        String contextId = first instanceof TaskStatusUpdateEvent update
                ? update.contextId()
                : first instanceof TaskArtifactUpdateEvent update ? update.contextId() : "";
        String id = first instanceof TaskStatusUpdateEvent update
                ? update.taskId()
                : first instanceof TaskArtifactUpdateEvent update ? update.taskId() : "";
        var submitted = new TaskStatus(TaskState.SUBMITTED, null, null);
        return new LoggedEvent(0, new Task(id, contextId, submitted, List.of(), List.of(), Map.of()));
    }

    /** True if nothing can come any more, except a last snapshot. */
    private boolean isDone() {
        return answered || (state != null && state.isTerminal());
    }

    private void wake() throws InterruptedException {
        switch (phase) {
            case READING ->
                cut(null, new ClientException(Problem.LOST, "nothing came for " + settings.streamSilence()));
            case CONNECTING -> cut(null, new ClientException(Problem.TIMED_OUT, "no answer in time"));
            case WAITING -> reconnect();
        }
    }

    private void cut(@Nullable Duration retryAfter, Throwable cause) {
        drop();
        if (isDone() || wire.isClosed()) {
            end(null);
        } else if (taskId == null) {
            end(new ClientException(
                    Problem.LOST,
                    "the stream from " + place.url().origin()
                            + " broke before the agent named a task; whether there is one is unknown",
                    cause));
        } else if (failures >= settings.reconnects()) {
            end(new ClientException(
                    Problem.STREAM_CUT,
                    "the stream of task " + taskId + " broke and could not be resumed in " + failures + " attempts: "
                            + cause.getMessage(),
                    cause));
        } else {
            failures++;
            Duration wait = settings.backoff().after(failures, retryAfter);
            settings.listener().retrying("the stream of task " + taskId + " was cut: " + cause.getMessage(), wait);
            wait(Phase.WAITING, wait);
        }
    }

    private void reconnect() throws InterruptedException {
        if (calls.place() instanceof Place.ByHttp now) {
            place = now; // the card may have been read again
        }
        resumedBehind = last;
        wait(Phase.CONNECTING, settings.callTimeout());
        try {
            Opening opening = send(
                    new SubscribeToTask(operation.tenant(), requireNonNull(taskId), last == 0 ? null : last),
                    settings.callTimeout());
            int number = connection;
            var ignored = opening.response().whenComplete((response, problem) -> {
                signals.add(
                        problem == null
                                ? new Signal.Answered(number, opening, response)
                                : new Signal.Came(number, new Piece.Broken(problem)));
            });
        } catch (Trouble noToken) {
            cut(noToken.retryAfter(), noToken.verdict());
        } catch (ClientException e) {
            end(wire.isClosed() ? null : e);
        }
    }

    private void resume(Opening opening, HttpResponse<StreamBody> response) throws InterruptedException {
        try {
            begin(opening, response);
        } catch (Trouble trouble) {
            if (trouble.isMendable(true)) {
                cut(trouble.retryAfter(), trouble.verdict());
            } else {
                refused(trouble.verdict());
            }
        } catch (A2AException e) {
            refused(e);
        } catch (ClientException e) {
            end(e);
        }
    }

    private void refused(RuntimeException refusal) throws InterruptedException {
        if (mayHaveEnded(refusal)) {
            readOutcome(() -> end(refusal));
        } else {
            end(refusal);
        }
    }

    /** Whether a server may refuse to resume for no other reason than that the task has ended. */
    static boolean mayHaveEnded(RuntimeException refusal) {
        return refusal instanceof A2AException e && ENDED.contains(e.error());
    }

    /** The task has probably ended while the stream was disconnected, and this server cannot resume it. */
    private void readOutcome(Runnable otherwise) throws InterruptedException {
        try {
            Task task = endpoint.call(new Operation.GetTask(operation.tenant(), requireNonNull(taskId), null), context);
            if (task.state().isTerminal()) {
                ready.add(new LoggedEvent(0, task));
                end(null);
                return;
            }
        } catch (ClientException e) {
            if (e.problem() == Problem.INTERRUPTED && Thread.interrupted()) {
                wait(Phase.WAITING, Duration.ZERO);
                throw new InterruptedException();
            }
        } catch (A2AException e) {
            if (e.error() == A2AError.TASK_NOT_FOUND) {
                end(e);
                return;
            }
        }
        otherwise.run(); // what led here says more than that the task could not be read
    }

    private void wait(Phase next, Duration atMost) {
        phase = next;
        wakeAt = System.nanoTime() + atMost.toNanos();
    }

    private void end(@Nullable RuntimeException problem) {
        drop();
        over = true;
        failure = problem;
    }

    private void drop() {
        connection++;
        feed = null;
        Runnable open = hangUp.getAndSet(null);
        if (open != null) {
            open.run();
        }
    }

    @Override
    public void close() {
        closed = true;
        Runnable open = hangUp.getAndSet(null);
        if (open != null) {
            open.run();
        }
        signals.add(new Signal.Closed());
    }
}
