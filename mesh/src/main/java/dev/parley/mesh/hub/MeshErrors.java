package dev.parley.mesh.hub;

import static java.util.Objects.requireNonNull;
import static java.util.Objects.requireNonNullElse;

import dev.parley.dialect.Json;
import dev.parley.dialect.spi.RequestHead;
import dev.parley.mesh.Envelope;
import dev.parley.mesh.Envelope.Handling;
import dev.parley.mesh.Envelope.Party;
import dev.parley.mesh.EnvelopeModel;
import dev.parley.mesh.MeshContent.Failure;
import dev.parley.mesh.MeshError;
import dev.parley.mesh.MeshProtocol;
import dev.parley.mesh.MessageType;
import dev.parley.protocol.A2AError;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.A2AException.Violation;
import dev.parley.protocol.ErrorKind;
import dev.parley.protocol.Operation;
import dev.parley.protocol.support.Ids;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Errors of A2A as errors of the mesh. */
final class MeshErrors {
    /** Metadata of an error about a request of HTTP, not about its content. */
    static final String OF_HTTP = "http";

    private static final String CHALLENGE = "challenge";

    /** An error on the wire: its code, its HTTP status, and whether a repetition may succeed. */
    private record Row(MeshError code, int status, boolean retryable) {
        static Row of(MeshError code) {
            return new Row(code, code.httpStatus(), code.isRetryable());
        }
    }

    private MeshErrors() {}

    /** An error about a member of a message. */
    static A2AException invalid(String path, String problem) {
        return A2AException.of(
                MeshError.INVALID_MESSAGE,
                "Invalid message: " + path + ": " + problem,
                Map.of(),
                List.of(new Violation(path, problem)),
                null);
    }

    private static Row row(A2AException problem) {
        ErrorKind error = problem.error();
        if (error instanceof MeshError own) {
            return Row.of(own);
        }
        if (!(error instanceof A2AError known)) {
            return new Row(MeshError.TASK_REJECTED, error.httpStatus(), problem.retryAfter() != null);
        }
        return switch (known) {
            case METHOD_NOT_FOUND -> Row.of(MeshError.AGENT_NOT_FOUND);
            case TASK_NOT_FOUND -> new Row(MeshError.INVALID_MESSAGE, 404, false);
            case PARSE_ERROR, INVALID_REQUEST, INVALID_PARAMS, VERSION_NOT_SUPPORTED ->
                Row.of(MeshError.INVALID_MESSAGE);
            case METHOD_NOT_ALLOWED, PAYLOAD_TOO_LARGE -> new Row(MeshError.INVALID_MESSAGE, known.httpStatus(), false);
            case CONTENT_TYPE_NOT_SUPPORTED ->
                problem.metadata().containsKey(OF_HTTP)
                        ? new Row(MeshError.INVALID_MESSAGE, 415, false)
                        : Row.of(MeshError.CAPABILITY_MISMATCH);
            case PERMISSION_DENIED -> new Row(MeshError.CAPABILITY_MISMATCH, known.httpStatus(), false);
            case UNAUTHENTICATED, QUOTA_EXCEEDED -> new Row(MeshError.TASK_REJECTED, known.httpStatus(), false);
            case RATE_LIMITED, UNAVAILABLE -> new Row(MeshError.TASK_REJECTED, known.httpStatus(), true);
            case UNSUPPORTED_OPERATION,
                    TASK_NOT_CANCELABLE,
                    PUSH_NOTIFICATION_NOT_SUPPORTED,
                    EXTENSION_SUPPORT_REQUIRED,
                    EXTENDED_AGENT_CARD_NOT_CONFIGURED -> Row.of(MeshError.TASK_REJECTED);
            case INVALID_AGENT_RESPONSE, INTERNAL -> Row.of(MeshError.INTERNAL_ERROR);
        };
    }

    static int status(A2AException problem) {
        return row(problem).status();
    }

    static Failure content(A2AException problem) {
        Row row = row(problem);
        var details = new LinkedHashMap<String, @Nullable Object>(problem.metadata());
        details.remove(OF_HTTP);
        details.remove(CHALLENGE);
        List<Violation> violations = problem.violations();
        if (!violations.isEmpty()) {
            details.put("path", violations.getFirst().field());
            details.put(
                    "violations",
                    violations.stream()
                            .map(each -> Map.of("path", each.field(), "problem", each.description()))
                            .toList());
        }
        return new Failure(row.code().word(), requireNonNull(problem.getMessage()), details, row.retryable());
    }

    /**
     * The error answer to a request, of whose body is used as much as can be read.
     *
     * @param body may be missing
     */
    static Envelope envelope(byte[] body, RequestHead request, A2AException problem) {
        Map<?, ?> sent = members(body);
        return new Envelope(
                Ids.next(Instant.now()),
                text(sent, "correlationId", null),
                Instant.now(),
                party(sent.get("to"), agentOf(request.path())),
                party(sent.get("from"), requireNonNullElse(request.header(MeshDialect.AGENT_HEADER), "")),
                EnvelopeModel.body(content(problem)),
                Handling.DEFAULT);
    }

    /** The members of a message that can be read, without its content, which is null if its type cannot be read either. */
    static Envelope readable(byte[] body, RequestHead request, A2AException problem) {
        Map<?, ?> sent = members(body);
        Map<?, ?> message = sent.get("message") instanceof Map<?, ?> members ? members : Map.of();
        String type = text(message, "type", "");
        return new Envelope(
                shortened(requireNonNull(text(sent, "messageId", "unknown"))),
                text(sent, "correlationId", null) == null
                        ? null
                        : shortened(requireNonNull(text(sent, "correlationId", ""))),
                Instant.now(),
                party(sent.get("from"), requireNonNullElse(request.header(MeshDialect.AGENT_HEADER), "")),
                party(sent.get("to"), agentOf(request.path())),
                Stream.of(MessageType.values())
                        .filter(each -> each.word().equals(type))
                        .findFirst()
                        .map(known -> new Envelope.Body(known, Map.of(), Envelope.JSON))
                        .orElse(new Envelope.Body(MessageType.ERROR, null, Envelope.JSON)),
                Handling.DEFAULT);
    }

    private static String shortened(String id) {
        return id.length() <= Operation.LONGEST_ID ? id : id.substring(0, Operation.LONGEST_ID);
    }

    private static Map<?, ?> members(byte[] body) {
        if (body.length == 0) {
            return Map.of();
        }
        try {
            return Json.read(body, Map.class);
        } catch (A2AException | IllegalArgumentException unreadable) {
            return Map.of();
        }
    }

    private static Party party(@Nullable Object sent, String otherwise) {
        Map<?, ?> party = sent instanceof Map<?, ?> members ? members : Map.of();
        String agent = requireNonNull(text(party, "agentId", otherwise));
        return Party.of(agent.isBlank() ? "unknown" : agent, requireNonNull(text(party, "endpoint", "")));
    }

    private static @Nullable String text(Map<?, ?> members, String name, @Nullable String otherwise) {
        return members.get(name) instanceof String text && !text.isBlank() ? text : otherwise;
    }

    /** Name of the agent in an address such as {@code /agents/echo/one}. */
    private static String agentOf(String path) {
        int end = path.indexOf(MeshProtocol.SUFFIX, 1);
        String before = end < 0 ? path : path.substring(0, end);
        return before.substring(before.lastIndexOf('/') + 1);
    }
}
