package dev.parley.client.calls;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.parley.client.spi.ClientException;
import dev.parley.client.spi.ClientException.Problem;
import dev.parley.client.wire.AttemptFailure;
import dev.parley.client.wire.HttpWire;
import dev.parley.client.wire.HttpWire.Opening;
import dev.parley.client.wire.HttpWire.Request;
import dev.parley.outbound.http.SseParser;
import dev.parley.outbound.http.StreamBody;
import dev.parley.outbound.http.StreamBody.Piece;
import dev.parley.outbound.http.StreamBody.Pieces;
import dev.parley.outbound.http.StreamBody.Whole;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.Feed;
import java.net.http.HttpHeaders;
import java.net.http.HttpResponse;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The elements of a stream that one connection brings. It hands over its next piece only when asked, so the queue holds one piece and
 * how it ended.
 */
final class HttpElements<E> implements Feed<E> {
    /** Reads an element; null for one that says nothing. */
    interface Element<E> {
        @Nullable
        E of(SseParser.Frame frame, @Nullable String mediaType);
    }

    private static final String EVENT_STREAM = "text/event-stream";

    /** Reads the answer that came instead of a stream. */
    interface Refusing {
        A2AException of(int status, @Nullable String mediaType, byte[] body);
    }

    private final Calls calls;
    private final HttpWire wire;
    private final Element<E> element;
    private final SseParser parser;
    private final Duration silence;
    private final BlockingQueue<Piece> pieces;
    private final long exchange;
    private final Pieces feed;
    private final @Nullable String position;
    private final List<E> ready = new ArrayList<>();
    private @Nullable RuntimeException failure;
    private boolean hungry = true;
    private long heard = System.nanoTime();
    private volatile boolean closed;

    private HttpElements(
            Calls calls,
            Set<String> types,
            Element<E> element,
            BlockingQueue<Piece> pieces,
            long exchange,
            Pieces feed,
            @Nullable String position) {
        this.calls = calls;
        this.wire = calls.means().wire();
        this.element = element;
        this.parser = new SseParser(calls.means().settings().maxEventBytes(), types);
        this.silence = calls.means().settings().streamSilence();
        this.pieces = pieces;
        this.exchange = exchange;
        this.feed = feed;
        this.position = position;
    }

    /**
     * Opens the stream in one attempt.
     *
     * @param types of events that are elements beside those without a name
     * @throws A2AException if the agent refuses it
     * @throws AttemptFailure the same, if another attempt may help
     */
    static <E> Feed<E> open(
            Calls calls,
            Request request,
            Duration left,
            Function<HttpHeaders, @Nullable String> position,
            Set<String> types,
            Element<E> element,
            Refusing refusal)
            throws AttemptFailure, InterruptedException {
        var pieces = new LinkedBlockingQueue<Piece>();
        HttpWire wire = calls.means().wire();
        long end = System.nanoTime() + left.toNanos();
        Opening opening = wire.open(request, pieces::add);
        HttpResponse<StreamBody> response = wire.await(opening, left);
        Request moved = wire.begun(opening, response, true);
        if (moved != null) {
            opening = wire.open(moved, pieces::add);
            response = wire.await(opening, Duration.ofNanos(end - System.nanoTime()));
            var unused = wire.begun(opening, response, false);
        }
        return switch (response.body()) {
            case Whole(var bytes) -> {
                String type = response.headers().firstValue("Content-Type").orElse(null);
                A2AException problem;
                try {
                    E only = isResult(response)
                            ? element.of(new SseParser.Frame(null, new String(bytes, UTF_8)), type)
                            : null;
                    if (only != null) {
                        yield Feed.of(List.of(only));
                    }
                    problem = refusal.of(response.statusCode(), type, bytes);
                } catch (A2AException refused) {
                    problem = refused;
                }
                calls.distrustAfter(problem);
                throw calls.refusal(request, response.statusCode(), response.headers(), problem);
            }
            case Pieces feed ->
                new HttpElements<>(
                        calls, types, element, pieces, opening.exchange(), feed, position.apply(response.headers()));
        };
    }

    /** Some agents answer a request for a stream with its only element. */
    private static boolean isResult(HttpResponse<?> response) {
        String type = response.headers().firstValue("Content-Type").orElse("").toLowerCase(Locale.ROOT);
        return response.statusCode() == 200 && type.contains("json");
    }

    @Override
    public @Nullable String position() {
        return position;
    }

    @Override
    public @Nullable Duration retry() {
        return parser.retry();
    }

    @Override
    public @Nullable List<E> next(Duration patience) throws InterruptedException {
        long until = System.nanoTime() + patience.toNanos();
        while (ready.isEmpty()) {
            if (failure != null) {
                throw failure;
            }
            if (closed) {
                return null;
            }
            if (hungry) {
                hungry = false;
                feed.more();
            }
            long now = System.nanoTime();
            long silent = heard + silence.toNanos() - now;
            Piece piece = pieces.poll(Math.min(until - now, silent), TimeUnit.NANOSECONDS);
            if (piece != null) {
                read(piece);
            } else if (System.nanoTime() - heard >= silence.toNanos()) {
                throw lost("nothing came for " + silence, null);
            }
            if (failure == null && !closed && System.nanoTime() - until >= 0) {
                break; // also within pieces without elements, such as a flood of comments
            }
        }
        List<E> elements = List.copyOf(ready);
        ready.clear();
        return elements;
    }

    private void read(Piece piece) {
        heard = System.nanoTime();
        switch (piece) {
            case Piece.Bytes(var buffers) -> {
                hungry = true;
                for (ByteBuffer buffer : buffers) {
                    read(buffer);
                }
            }
            case Piece.End end -> closed = true;
            case Piece.Broken(var cause) -> failure = lost(String.valueOf(cause.getMessage()), cause);
        }
    }

    private void read(ByteBuffer buffer) {
        try {
            parser.read(buffer, frame -> {
                wire.listen(exchange, frame);
                E next = element.of(frame, EVENT_STREAM);
                if (next != null) {
                    ready.add(next);
                }
            });
        } catch (SseParser.TooLarge e) {
            failure = new ClientException(Problem.ANSWER_TOO_LARGE, String.valueOf(e.getMessage()), e);
        } catch (A2AException answer) {
            failure = answer; // after the elements that came before it
            calls.distrustAfter(answer);
        }
    }

    private static ClientException lost(String why, @Nullable Throwable cause) {
        return new ClientException(Problem.LOST, "the stream broke: " + why, cause);
    }

    @Override
    public void close() {
        closed = true;
        feed.cancel();
        pieces.add(new Piece.End());
    }
}
