package dev.parley.client.calls;

import dev.parley.client.http.SseParser;
import dev.parley.client.http.StreamBody;
import dev.parley.client.http.StreamBody.Piece;
import dev.parley.client.http.StreamBody.Pieces;
import dev.parley.client.http.StreamBody.Whole;
import dev.parley.client.spi.ClientException;
import dev.parley.client.spi.ClientException.Problem;
import dev.parley.client.wire.HttpWire;
import dev.parley.client.wire.HttpWire.Opening;
import dev.parley.client.wire.HttpWire.Request;
import dev.parley.client.wire.Trouble;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.Feed;
import java.net.http.HttpHeaders;
import java.net.http.HttpResponse;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.BiFunction;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The elements of a stream that one connection brings. It hands over its next piece only when asked, so the queue holds one piece and
 * how it ended.
 */
final class HttpElements<E> implements Feed<E> {
    private final HttpWire wire;
    private final Function<SseParser.Frame, E> element;
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
            Function<SseParser.Frame, E> element,
            BlockingQueue<Piece> pieces,
            long exchange,
            Pieces feed,
            @Nullable String position) {
        this.wire = calls.means().wire();
        this.element = element;
        this.parser = new SseParser(calls.means().settings().maxEventBytes());
        this.silence = calls.means().settings().streamSilence();
        this.pieces = pieces;
        this.exchange = exchange;
        this.feed = feed;
        this.position = position;
    }

    /**
     * Opens the stream in one attempt.
     *
     * @throws A2AException if the agent refuses it
     * @throws Trouble the same, if another attempt may help
     */
    static <E> HttpElements<E> open(
            Calls calls,
            Request request,
            Duration left,
            Function<HttpHeaders, @Nullable String> position,
            Function<SseParser.Frame, E> element,
            BiFunction<Integer, byte[], A2AException> refusal)
            throws Trouble, InterruptedException {
        var pieces = new LinkedBlockingQueue<Piece>();
        HttpWire wire = calls.means().wire();
        Opening opening = wire.open(request, pieces::add);
        HttpResponse<StreamBody> response = wire.await(opening, left);
        wire.begun(opening, response);
        return switch (response.body()) {
            case Whole(var bytes) -> {
                A2AException problem = refusal.apply(response.statusCode(), bytes);
                throw calls.refusal(request, response.statusCode(), response.headers(), problem);
            }
            case Pieces feed ->
                new HttpElements<>(
                        calls, element, pieces, opening.exchange(), feed, position.apply(response.headers()));
        };
    }

    @Override
    public @Nullable String position() {
        return position;
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
                ready.add(element.apply(frame));
            });
        } catch (SseParser.TooLarge e) {
            failure = new ClientException(Problem.ANSWER_TOO_LARGE, String.valueOf(e.getMessage()), e);
        } catch (A2AException answer) {
            failure = answer; // behind the elements that came before it
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
