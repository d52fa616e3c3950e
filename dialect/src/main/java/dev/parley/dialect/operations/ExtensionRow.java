package dev.parley.dialect.operations;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.Objects.requireNonNullElse;

import dev.parley.dialect.answers.Dialect;
import dev.parley.dialect.spi.WireAnswer;
import dev.parley.dialect.spi.WireRequest;
import dev.parley.dialect.wire.LargeBodies;
import dev.parley.protocol.A2AError;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.AgentCard;
import dev.parley.protocol.Feed;
import dev.parley.protocol.Operation;
import dev.parley.protocol.extension.ExtensionMethod;
import dev.parley.protocol.extension.ExtensionProtocol;
import dev.parley.protocol.extension.ExtensionStyle;
import dev.parley.protocol.extension.ExtensionUri;
import dev.parley.protocol.json.Codec;
import dev.parley.protocol.json.Codecs;
import dev.parley.protocol.json.JsonText;
import dev.parley.protocol.json.ObjectCodec;
import dev.parley.protocol.json.TreeCodec;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** One operation of an extension with the codecs of its request and its answer. */
public record ExtensionRow(
        ExtensionProtocol protocol,
        ExtensionMethod<Operation.Extension, Object> method,
        Codec<Operation.Extension> request,
        Codec<Object> answer,
        List<String> verbs,
        @Nullable PathTemplate path)
        implements OperationRow {
    @SuppressWarnings("unchecked") // the functions of a method meet only what belongs to it
    public static ExtensionRow of(ExtensionProtocol protocol, ExtensionMethod<?, ?> one) {
        var method = (ExtensionMethod<Operation.Extension, Object>) one;
        String rest = method.rest();
        int blank = rest.indexOf(' ');
        return new ExtensionRow(
                protocol,
                method,
                TreeCodec.of(method.request()),
                TreeCodec.of(method.answer()),
                blank < 0 ? List.of() : List.of(rest.substring(0, blank).split(",", -1)),
                blank < 0 ? null : PathTemplate.of(rest.substring(blank + 1)));
    }

    public ExtensionStyle style() {
        return protocol.style();
    }

    @Override
    public void requireSize(WireRequest http) {
        int most = style().maxRequestBytes();
        if (http.body().length > most) {
            throw A2AException.of(
                    A2AError.PAYLOAD_TOO_LARGE, http.body().length + " bytes (expected: at most " + most + ")");
        }
    }

    @Override
    public Operation.Extension read(WireRequest request, Map<String, String> inPath) {
        // A tenant in front of the path has led to the agent.
        var variables = new LinkedHashMap<>(inPath);
        variables.keySet().retainAll(path == null ? Set.of() : path.variables());
        boolean bodiless = !ExtensionMethod.hasBody(request.method()) || request.hasNoBody();
        Map<String, List<String>> query =
                ExtensionMethod.hasBody(request.method()) && method.description() == null ? Map.of() : request.query();
        if (this.request instanceof ObjectCodec<Operation.Extension> shape) {
            return bodiless
                    ? shape.read(null, variables, query)
                    : JsonText.request(request.body(), in -> shape.read(in, variables, query));
        }
        var members = new LinkedHashMap<String, @Nullable Object>();
        if (!bodiless) {
            members.putAll(requireNonNullElse(JsonText.request(request.body(), Codecs.STRUCT::read), Map.of()));
        }
        query.forEach((name, given) -> {
            if (given.size() > 1) {
                throw A2AException.invalidParams(name, "given " + given.size() + " times (expected: once)");
            }
            if (!given.isEmpty()) {
                members.put(name, given.getFirst());
            }
        });
        variables.forEach((name, given) -> {
            Object inBody = members.put(name, given);
            if (inBody != null && !inBody.toString().equals(given)) {
                throw A2AException.invalidParams(name, inBody + " (expected: " + given + ", as in the path)");
            }
        });
        return ((TreeCodec<Operation.Extension>) this.request).read(null, members);
    }

    @Override
    public Operation resuming(Operation operation, @Nullable String lastEventId) {
        return lastEventId == null || lastEventId.isBlank()
                ? operation
                : method.after((Operation.Extension) operation, lastEventId.trim());
    }

    @Override
    public WireAnswer whole(Answer to, @Nullable Object result) {
        if (method.mediaType() != null) {
            to.headers().put("Content-Type", method.mediaType() + "; charset=utf-8");
            to.headers().put("Cache-Control", "private, max-age=60");
            return new WireAnswer.Whole(
                    200, to.headers(), String.valueOf(result).getBytes(UTF_8));
        }
        Object value = requireNonNullElse(result, Codecs.NULL);
        return LargeBodies.encode(
                method.contentOf(value), to.caller(), () -> to.form().result(answer, value, to.headers()));
    }

    @Override
    public Feed<byte[]> frames(Answer to, Feed<?> stream) {
        String position = stream.position();
        if (position != null) {
            to.headers().put(style().positionHeader(), position);
        }
        boolean numbered = !to.form().isRpc() || style().numbersRpcEvents(isActivated(to.card(), to.extensions()));
        return stream.as(element -> LargeBodies.encode(
                method.contentOf(element),
                to.caller(),
                () -> to.form().frame(numbered ? method.id(element) : null, JsonText.write(answer, element))));
    }

    /** True if a request that names these extensions activates the one of this row. */
    private boolean isActivated(AgentCard card, Set<String> extensions) {
        return !extensions.isEmpty()
                && card.capabilities().extensions().stream()
                        .anyMatch(entry -> protocol.isUri(entry.uri()) && ExtensionUri.isAny(extensions, entry.uri()));
    }

    /** The answers to calls of this operation; those of {@code base} if its extension does not differ from A2A. */
    public Dialect dialect(Dialect base, AgentCard card, Set<String> extensions) {
        return style().equals(ExtensionStyle.A2A)
                ? base
                : new ExtensionDialect(base, style(), method.streams(), isActivated(card, extensions));
    }
}
