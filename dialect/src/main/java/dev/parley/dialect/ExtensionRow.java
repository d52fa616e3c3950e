package dev.parley.dialect;

import static java.util.Objects.requireNonNullElse;

import dev.parley.protocol.A2AException;
import dev.parley.protocol.Operation;
import dev.parley.protocol.extension.ExtensionMethod;
import dev.parley.protocol.extension.ExtensionProtocol;
import dev.parley.protocol.extension.ExtensionStyle;
import dev.parley.protocol.extension.RestDescription;
import dev.parley.protocol.extension.RestParameter;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** One operation of an extension with the codecs of its request and its answer. */
record ExtensionRow(
        ExtensionProtocol protocol,
        ExtensionMethod<Operation.Extension, Object> method,
        Codec<Operation.Extension> request,
        Codec<Object> answer,
        List<String> verbs,
        @Nullable PathTemplate path)
        implements Routed {

    @SuppressWarnings("unchecked") // the functions of a method meet only what belongs to it
    static ExtensionRow of(ExtensionProtocol protocol, ExtensionMethod<?, ?> one) {
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

    ExtensionStyle style() {
        return protocol.style();
    }

    /** Reads the operation from path, query and body of a REST request. A blank body and {@code null} are no body. */
    Operation.Extension read(WireRequest request, Map<String, String> inPath) {
        // A tenant in front of the path has led to the agent.
        var variables = new LinkedHashMap<>(inPath);
        variables.keySet().retainAll(path == null ? Set.of() : path.variables());
        RestDescription description = method.description();
        boolean bodiless = !request.method().equals("POST") || Rest.isNothing(request.body());
        Map<String, List<String>> query =
                request.method().equals("POST") && description == null ? Map.of() : request.query();
        if (this.request instanceof Shape<Operation.Extension> shape) {
            return bodiless
                    ? shape.read(null, variables, query)
                    : Json.request(request.body(), in -> shape.read(in, variables, query));
        }
        Map<String, @Nullable Object> body = bodiless ? Map.of() : Json.request(request.body(), Codecs.STRUCT::read);
        var members = new LinkedHashMap<String, @Nullable Object>();
        Optional<RestParameter> whole = description == null ? Optional.empty() : description.body();
        whole.ifPresentOrElse(
                one -> members.put(one.name(), bodiless ? null : body),
                () -> members.putAll(requireNonNullElse(body, Map.of())));
        query.forEach((name, given) -> {
            if (description != null && !description.hasInQuery(name)) {
                return;
            }
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

    /** The operation as the header {@code Last-Event-ID} resumes it. */
    Operation.Extension resuming(Operation.Extension operation, @Nullable String lastEventId) {
        return lastEventId == null || lastEventId.isBlank() ? operation : method.after(operation, lastEventId.trim());
    }
}
