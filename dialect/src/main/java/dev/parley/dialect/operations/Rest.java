package dev.parley.dialect.operations;

import dev.parley.protocol.A2AError;
import dev.parley.protocol.A2AException;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The paths of the HTTP+JSON binding.
 *
 * <p>A first segment that begins no operation is the tenant. {@code v1} is not a tenant: a request for version 1.0 there has a
 * base address that ends so.
 *
 * <p>Source: A2A specification 1.0, sections 5.3 and 11.3 to 11.5.
 *
 * @param variables values in the path, by field
 */
public record Rest<R extends OperationRow>(R operation, Map<String, String> variables) {
    static final String OLD_PREFIX = "v1";

    private static final String TENANT = "tenant";
    private static final Set<String> NO_TENANTS = Set.of(
            "", OLD_PREFIX, "tasks", "message:send", "message:stream", "extendedAgentCard", ".well-known", "card");

    /**
     * Returns the operation of a method and a path.
     *
     * @throws A2AException METHOD_NOT_FOUND or METHOD_NOT_ALLOWED
     */
    public static <R extends OperationRow> Rest<R> of(List<R> table, String verb, String path) {
        List<Rest<R>> routes = at(table, path);
        if (routes.isEmpty()) {
            throw A2AException.of(A2AError.METHOD_NOT_FOUND, "No operation has the path " + path);
        }
        var verbs = new LinkedHashSet<String>();
        for (Rest<R> route : routes) {
            if (route.operation.verbs().contains(verb)) {
                return route;
            }
            verbs.addAll(route.operation.verbs());
        }
        throw A2AException.notAllowed(verb, String.join(", ", verbs));
    }

    /** True if an operation of the table has this path. */
    public static boolean isAt(List<? extends OperationRow> table, String path) {
        return !at(table, path).isEmpty();
    }

    /** True if an operation of the table has this path without a tenant. */
    public static boolean isExactlyAt(List<? extends OperationRow> table, String path) {
        return !at(table, segments(path), null).isEmpty();
    }

    /**
     * Refuses an extension's place in the REST binding that belongs to A2A.
     *
     * @throws IllegalArgumentException if the path begins like one of A2A
     */
    public static void requireFree(String methodsAndPath) {
        String path = methodsAndPath.substring(methodsAndPath.indexOf(' ') + 1);
        String first = segments(path).getFirst();
        if (NO_TENANTS.contains(first) || first.startsWith("{")) {
            throw new IllegalArgumentException(
                    "REST path \"" + path + "\": belongs to A2A (expected: a first segment of its own)");
        }
    }

    /** True if paths of A2A begin with the segment {@code /name}. */
    public static boolean isReserved(String name) {
        return NO_TENANTS.contains(name.substring(1));
    }

    /** True if an operation has this path, whatever stands in front of it; those of extensions end in a verb such as {@code :query}. */
    public static boolean endsLikeAnOperation(String path) {
        if (path.indexOf(':', path.lastIndexOf('/') + 1) > 0) {
            return true;
        }
        for (int slash = path.indexOf('/'); slash >= 0; slash = path.indexOf('/', slash + 1)) {
            String tail = path.substring(slash);
            if (isAt(V1Operations.TABLE.all(), tail)) {
                return true;
            }
        }
        return false;
    }

    public static boolean hasOldPrefix(String path) {
        return segments(path).getFirst().equals(OLD_PREFIX);
    }

    private static <R extends OperationRow> List<Rest<R>> at(List<R> table, String path) {
        List<String> segments = segments(path);
        if (segments.getFirst().equals(OLD_PREFIX)) {
            segments = segments.subList(1, segments.size());
        }
        List<Rest<R>> routes = at(table, segments, null);
        if (routes.isEmpty() && segments.size() > 1 && !NO_TENANTS.contains(segments.getFirst())) {
            return at(table, segments.subList(1, segments.size()), segments.getFirst());
        }
        return routes;
    }

    private static <R extends OperationRow> List<Rest<R>> at(
            List<R> table, List<String> segments, @Nullable String tenant) {
        var routes = new ArrayList<Rest<R>>();
        boolean verbFound = false;
        for (R operation : table) {
            PathTemplate template = operation.path();
            Map<String, String> variables = template == null ? null : template.match(segments);
            if (template == null || variables == null) {
                continue;
            }
            if (template.hasVerb() && !verbFound) {
                verbFound = true;
                routes.clear(); // /tasks/7:cancel is not the task "7:cancel"
            } else if (verbFound) {
                continue;
            }
            if (tenant != null) {
                variables.put(TENANT, tenant);
            }
            routes.add(new Rest<>(operation, variables));
        }
        return routes;
    }

    /** The segments of a path, decoded. */
    public static List<String> segments(String path) {
        var segments = new ArrayList<String>();
        for (String segment : path.substring(1).split("/", -1)) {
            segments.add(segment.replace("%2F", "/").replace("%2f", "/"));
        }
        return segments;
    }
}
