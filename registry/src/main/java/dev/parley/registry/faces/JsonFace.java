package dev.parley.registry.faces;

import static java.util.Objects.requireNonNull;

import dev.parley.dialect.Json;
import dev.parley.dialect.spi.Headers;
import dev.parley.dialect.spi.WireAnswer;
import dev.parley.dialect.spi.WireCall;
import dev.parley.dialect.spi.WireFace;
import dev.parley.dialect.spi.WireRequest;
import dev.parley.protocol.A2AError;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.AgentCard;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.json.Codecs;
import dev.parley.protocol.json.JsonText;
import dev.parley.protocol.support.Sha256;
import dev.parley.registry.FaceProtocol.FaceCall;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * A protocol of JSON over HTTP: a table of routes to operations of the registry, and the form of its errors. Pages of any origin may call.
 *
 * @param isPublic whether it shows the same to all callers, so that caches of several callers may keep the answers
 */
record JsonFace(List<Route> routes, boolean isPublic, ErrorForm errors) implements WireFace {
    /** Body of an error. */
    @FunctionalInterface
    interface ErrorForm {
        Map<String, Object> of(int status, String message);
    }

    /**
     * A request that calls an operation. Members of its body, parameters of its query, and variables of its path become parameters.
     *
     * @param path below the path of the protocol, whose named groups are variables
     * @param type media type of the answer
     * @param headers of the answer
     */
    record Route(String method, Pattern path, String operation, String type, Map<String, String> headers) {
        private static final Pattern VARIABLE = Pattern.compile("\\{(\\w+)}");

        static Route of(String methodAndPath, String operation) {
            return of(methodAndPath, operation, Headers.JSON, Map.of());
        }

        /** @param methodAndPath such as {@code GET /agents/{id}} */
        static Route of(String methodAndPath, String operation, String type, Map<String, String> headers) {
            String[] parts = methodAndPath.split(" ", 2);
            String path = VARIABLE.matcher(parts[1].replace(".", "\\.")).replaceAll("(?<$1>[^/]+)");
            return new Route(parts[0], Pattern.compile(path), operation, type, headers);
        }
    }

    private static final String AT_ONCE = "public, max-age=60";
    private static final String PRIVATE = "private, no-cache";

    @Override
    public boolean isPublic(WireRequest request) {
        return isPublic;
    }

    @Override
    public boolean isForAllOrigins() {
        return true;
    }

    @Override
    public WireCall read(WireRequest request, AgentCard card, CallContext caller) {
        List<Route> here = routes.stream()
                .filter(route -> route.path().matcher(request.path()).matches())
                .toList();
        if (here.isEmpty()) {
            throw A2AException.of(A2AError.METHOD_NOT_FOUND, "There is nothing at this address");
        }
        Route route = here.stream()
                .filter(each -> each.method().equals(request.method()))
                .findFirst()
                .orElseThrow(() -> A2AException.notAllowed(
                        request.method(),
                        here.stream()
                                .map(each -> each.method().equals("GET") ? "GET, HEAD" : each.method())
                                .collect(Collectors.joining(", "))));
        boolean isShared = isPublic || caller.isUnauthenticated();
        return WireCall.of(
                new FaceCall(route.operation(), params(route, request)),
                result -> answer(route, request, isShared, result));
    }

    private static Map<String, @Nullable Object> params(Route route, WireRequest request) {
        var params = new LinkedHashMap<String, @Nullable Object>();
        if (!route.method().equals("GET")) {
            if (request.hasNoBody()) {
                throw A2AException.of(A2AError.INVALID_PARAMS, "no body (expected: a JSON object)");
            }
            params.putAll(JsonText.request(request.body(), Codecs.STRUCT));
        }
        request.query().forEach((name, values) -> params.put(name, values.getLast()));
        Matcher path = route.path().matcher(request.path());
        if (path.matches()) {
            path.namedGroups().keySet().forEach(name -> params.put(name, requireNonNull(path.group(name))));
        }
        return params;
    }

    private static WireAnswer.Whole answer(Route route, WireRequest request, boolean isShared, Object result) {
        byte[] body = Json.write(result);
        if (!route.method().equals("GET")) {
            var headers = new LinkedHashMap<>(route.headers());
            headers.put("Content-Type", route.type());
            headers.put("Cache-Control", "no-store");
            return new WireAnswer.Whole(200, headers, body);
        }
        return cached(request, route.type(), route.headers(), isShared, body);
    }

    /**
     * An answer with an entity tag, or that the client has the same one.
     *
     * @param isShared whether caches of several callers may keep it
     */
    static WireAnswer.Whole cached(
            WireRequest request, String type, Map<String, String> more, boolean isShared, byte[] body) {
        var headers = new LinkedHashMap<>(more);
        String tag = '"' + HexFormat.of().formatHex(Sha256.of(body), 0, 16) + '"';
        headers.put("Content-Type", type);
        headers.put("ETag", tag);
        headers.put("Cache-Control", isShared ? AT_ONCE : PRIVATE);
        return request.hasVersion(tag)
                ? new WireAnswer.Whole(304, headers, new byte[0])
                : new WireAnswer.Whole(200, headers, body);
    }

    @Override
    public WireAnswer.Whole error(WireRequest request, A2AException problem) {
        int status = problem.error() == A2AError.METHOD_NOT_FOUND
                ? 404
                : problem.error().httpStatus();
        var headers = new LinkedHashMap<>(problem.headers());
        headers.put("Content-Type", Headers.JSON);
        headers.put("Cache-Control", "no-store");
        return new WireAnswer.Whole(
                status, headers, Json.write(errors.of(status, String.valueOf(problem.getMessage()))));
    }

    /** An object with members in the order in which they were added, so that the same content has the same bytes. */
    static final class Members {
        private final Map<String, Object> members = new LinkedHashMap<>();

        /** @param value null for no member */
        Members add(String name, @Nullable Object value) {
            if (value != null) {
                members.put(name, value);
            }
            return this;
        }

        Map<String, Object> object() {
            return members;
        }
    }
}
