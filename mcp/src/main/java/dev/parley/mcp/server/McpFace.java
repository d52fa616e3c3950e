package dev.parley.mcp.server;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.parley.dialect.spi.Headers;
import dev.parley.dialect.spi.WireAnswer;
import dev.parley.dialect.spi.WireCall;
import dev.parley.dialect.spi.WireFace;
import dev.parley.dialect.spi.WireRequest;
import dev.parley.mcp.McpException;
import dev.parley.mcp.wire.McpMessage;
import dev.parley.protocol.A2AError;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.AgentCard;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.Feed;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * MCP over HTTP: makes an {@link McpExchange} of each request, and one JSON object or server-sent events of its answer. Stateless.
 *
 * <p>An answer that comes at once, alone, is JSON. Otherwise the stream begins, and its end by the client is noticed.
 */
public final class McpFace implements WireFace {
    private static final Duration AT_ONCE = Duration.ofMillis(50);
    private static final Duration LONG = Duration.ofSeconds(30);

    @Override
    public WireCall read(WireRequest request, AgentCard card, CallContext caller) {
        if (!request.path().isEmpty()) {
            throw A2AException.of(A2AError.METHOD_NOT_FOUND, "There is nothing at this address");
        }
        switch (request.method()) {
            case "POST" -> {
                String type = request.header("Content-Type");
                if (type == null || !type.replaceFirst(";.*", "").strip().equalsIgnoreCase(Headers.JSON)) {
                    throw A2AException.of(
                            A2AError.CONTENT_TYPE_NOT_SUPPORTED, "Content-Type: (expected: " + Headers.JSON + ")");
                }
            }
            case "GET", "DELETE" -> {}
            default -> throw A2AException.notAllowed(request.method(), "POST, GET, DELETE");
        }
        McpExchange exchange = McpExchange.of(request);
        return WireCall.of(exchange, feed -> answer(exchange, feed));
    }

    private static WireAnswer answer(McpExchange exchange, Feed<HttpReply> feed) {
        boolean takesEvents = exchange.takesEvents();
        var first = new ArrayList<HttpReply>();
        try {
            while (first.isEmpty() || !first.getLast().isLast()) {
                List<HttpReply> next = feed.next(takesEvents ? AT_ONCE : LONG);
                if (next == null) {
                    break;
                }
                first.addAll(next);
                if (takesEvents && (next.isEmpty() || !next.getLast().isLast() || first.size() > 1)) {
                    return events(exchange, first, feed);
                }
            }
            feed.close();
            return first.isEmpty() ? new WireAnswer.Whole(202, Map.of(), new byte[0]) : whole(first.getLast());
        } catch (InterruptedException stopped) {
            Thread.currentThread().interrupt();
            feed.close();
            throw A2AException.unavailable("The request was given up", Duration.ofSeconds(1));
        } catch (RuntimeException failed) {
            feed.close();
            throw failed;
        }
    }

    private static WireAnswer.Whole whole(HttpReply reply) {
        McpMessage message = reply.message();
        if (message == null) {
            return new WireAnswer.Whole(reply.status(), reply.headers(), new byte[0]);
        }
        var headers = new LinkedHashMap<>(reply.headers());
        headers.put("Content-Type", Headers.JSON);
        return new WireAnswer.Whole(reply.status(), headers, message.bytes());
    }

    private static WireAnswer events(McpExchange exchange, List<HttpReply> first, Feed<HttpReply> rest) {
        return new WireAnswer.Events(
                Map.of(),
                new Joined(List.copyOf(first), rest).as(reply -> frame(reply.message())),
                problem -> frame(new McpMessage.Failure(
                        exchange.message() instanceof McpMessage.Request request ? request.id() : null,
                        problem(problem))));
    }

    /** Replies, and those of a feed after them. */
    private static final class Joined implements Feed<HttpReply> {
        private @Nullable List<HttpReply> first;
        private final Feed<HttpReply> rest;

        Joined(List<HttpReply> first, Feed<HttpReply> rest) {
            this.first = first.isEmpty() ? null : first;
            this.rest = rest;
        }

        @Override
        public @Nullable List<HttpReply> next(Duration patience) throws InterruptedException {
            List<HttpReply> next = first;
            first = null;
            return next == null ? rest.next(patience) : next;
        }

        @Override
        public void close() {
            rest.close();
        }
    }

    private static byte[] frame(@Nullable McpMessage message) {
        return message == null
                ? new byte[0]
                : ("event: message\ndata: " + new String(message.bytes(), UTF_8) + "\n\n").getBytes(UTF_8);
    }

    @Override
    public WireAnswer.Whole error(WireRequest request, A2AException problem) {
        var headers = new LinkedHashMap<>(problem.headers());
        headers.put("Content-Type", Headers.JSON);
        int status = problem.error() == A2AError.CONTENT_TYPE_NOT_SUPPORTED
                ? 415
                : problem.error().httpStatus();
        McpMessage read = McpMessage.read(request.body());
        Object id = read instanceof McpMessage.Request call ? call.id() : null;
        return new WireAnswer.Whole(status, headers, new McpMessage.Failure(id, problem(problem)).bytes());
    }

    /** Codes of A2A have no meaning in MCP. */
    private static McpException problem(A2AException problem) {
        int code = problem.error().code();
        return new McpException(
                code <= -32000 && code > -32100 ? McpException.INTERNAL_ERROR : code,
                String.valueOf(problem.getMessage()));
    }
}
