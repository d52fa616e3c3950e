package dev.parley.server.wire;

import dev.parley.server.helidon.Exchange;
import dev.parley.server.helidon.Field;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Admission of pages of other origins by the settings. Source: WHATWG Fetch, section 3.2. */
public final class Cors {
    private static final String ANY = "*";
    private static final Field VARY = Field.of("Vary", "Origin");
    private static final Field CREDENTIALS = Field.of("Access-Control-Allow-Credentials", "true");
    private static final String ALLOW_METHODS = "Access-Control-Allow-Methods";
    private static final String ALLOW_HEADERS = "Access-Control-Allow-Headers";
    private static final String ALL_METHODS = "GET, HEAD, POST, PUT, PATCH, DELETE";
    private static final Field METHODS = Field.of(ALLOW_METHODS, ALL_METHODS);
    private static final Pattern NAMES = Pattern.compile("[!#$%&'*+.^_`|~0-9A-Za-z, -]{1,1024}");
    private static final String REQUESTED = "Access-Control-Request-Headers";
    private static final Field VARY_REQUESTED = Field.of("Vary", REQUESTED);
    private static final String EXPOSE_HEADERS = "Access-Control-Expose-Headers";
    /** Fields that pages may read in any case, or that are for browsers and proxies. */
    private static final Set<String> UNEXPOSED = Set.of(
            "cache-control",
            "connection",
            "content-length",
            "content-security-policy",
            "content-type",
            "expires",
            "last-modified",
            "pragma",
            "set-cookie",
            "vary",
            "x-accel-buffering");

    private static final String KEPT = "Access-Control-Max-Age";
    private static final String SECONDS = "600";
    private static final Field MAX_AGE = Field.of(KEPT, SECONDS);
    private static final String RESOURCE_POLICY = "Cross-Origin-Resource-Policy";
    private static final Field SAME_ORIGIN = Field.of(RESOURCE_POLICY, "same-origin");
    private static final String ALLOW_ORIGIN = "Access-Control-Allow-Origin";

    /** Fields of answers that pages of any origin may read. */
    public static final Map<String, String> FOR_ALL_ORIGINS = Map.of(
            ALLOW_ORIGIN, ANY, EXPOSE_HEADERS, "ETag, Link, Location, Retry-After", RESOURCE_POLICY, "cross-origin");

    /** Whether an answer has {@link #FOR_ALL_ORIGINS}. */
    public static boolean isForAllOrigins(Map<String, String> headers) {
        return ANY.equals(headers.get(ALLOW_ORIGIN));
    }

    /** Answer to a preflight request for a resource that pages of any origin may call. */
    public static Map<String, String> preflightForAllOrigins(@Nullable String requested) {
        var fields = new LinkedHashMap<>(FOR_ALL_ORIGINS);
        fields.put(ALLOW_METHODS, ALL_METHODS);
        fields.put(KEPT, SECONDS);
        if (requested != null && NAMES.matcher(requested).matches()) {
            fields.put(ALLOW_HEADERS, requested);
            fields.put("Vary", REQUESTED);
        }
        return fields;
    }

    private final Set<String> origins;
    private final boolean any;

    public Cors(List<String> origins) {
        this.origins = origins.stream().map(Cors::origin).collect(Collectors.toUnmodifiableSet());
        this.any = origins.contains(ANY);
    }

    /** As browsers write it: in lower case, without a slash at the end. */
    private static String origin(String setting) {
        String origin = setting.toLowerCase(Locale.ROOT);
        return origin.endsWith("/") ? origin.substring(0, origin.length() - 1) : origin;
    }

    /** True for a preflight request. */
    public boolean isPreflight(Exchange exchange) {
        return !origins.isEmpty()
                && exchange.method().equals("OPTIONS")
                && exchange.header("Origin") != null
                && exchange.header("Access-Control-Request-Method") != null;
    }

    /** Allows pages of an allowed origin all methods, and the header fields for which they ask: each protocol has its own. */
    public void answerPreflight(Exchange exchange) {
        if (allow(exchange)) {
            exchange.set(METHODS);
            exchange.set(MAX_AGE);
            exchange.add(VARY_REQUESTED);
            String requested = exchange.header(REQUESTED);
            if (requested != null && NAMES.matcher(requested).matches()) {
                exchange.set(ALLOW_HEADERS, requested);
            }
        }
    }

    /** True for an allowed origin. */
    public boolean allows(String origin) {
        return any || origins.contains(origin);
    }

    /**
     * Adds the fields that let a page read an answer, or that keep pages of other origins from embedding it.
     *
     * @param names of the header fields of the answer
     */
    public void decorate(Exchange exchange, Stream<String> names) {
        if (origins.isEmpty()) {
            exchange.set(SAME_ORIGIN);
        } else if (allow(exchange)) {
            String exposed = names.filter(name -> !UNEXPOSED.contains(name.toLowerCase(Locale.ROOT)))
                    .sorted()
                    .collect(Collectors.joining(", "));
            if (!exposed.isEmpty()) {
                exchange.set(EXPOSE_HEADERS, exposed);
            }
        }
    }

    private boolean allow(Exchange exchange) {
        if (any) {
            exchange.set(ALLOW_ORIGIN, ANY);
            return true;
        }
        // Also without an allowed origin: what a cache keeps for one origin must not be shown to another.
        exchange.add(VARY);
        var origin = exchange.header("Origin");
        if (origin == null || !origins.contains(origin)) {
            return false;
        }
        exchange.set(ALLOW_ORIGIN, origin);
        exchange.set(CREDENTIALS);
        return true;
    }
}
