package dev.parley.mcp.wire;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.math.BigDecimal;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.util.ArrayList;
import java.util.Base64;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Values of the headers that repeat parts of a request. Source: MCP 2026-07-28, Streamable HTTP, Request Metadata. */
public final class HeaderValues {
    public static final String VERSION = "MCP-Protocol-Version";
    public static final String METHOD = "Mcp-Method";
    public static final String NAME = "Mcp-Name";
    public static final String PARAM = "Mcp-Param-";
    public static final String SESSION = "Mcp-Session-Id";

    private static final String BEGIN = "=?base64?";
    private static final String END = "?=";
    private static final String MARK = "x-mcp-header";
    private static final Pattern TOKEN = Pattern.compile("[!#$%&'*+.^_`|~0-9A-Za-z-]{1,200}");
    private static final Pattern PLAIN = Pattern.compile("[!-~]([\\t -~]*[!-~])?");
    private static final Set<String> PRIMITIVES = Set.of("string", "integer", "boolean");
    private static final int MAX_DEPTH = 32;

    /** Keywords whose values are schemas, and objects of schemas. */
    private static final Set<String> SCHEMAS =
            Set.of(("items contains not if then else additionalProperties propertyNames"
                            + " unevaluatedItems unevaluatedProperties contentSchema")
                    .split(" "));

    private static final Set<String> OF_SCHEMAS =
            Set.of("$defs", "definitions", "patternProperties", "dependentSchemas");

    private static final Map<String, String> NAMED = Map.of(
            "tools/call", "name",
            "prompts/get", "name",
            "resources/read", "uri",
            "tasks/get", "taskId",
            "tasks/update", "taskId",
            "tasks/cancel", "taskId");

    private HeaderValues() {}

    /** The name of the object of a request, which a header repeats; empty for none. */
    public static Optional<String> named(McpMessage.Request request) {
        String member = NAMED.get(request.method());
        return Optional.ofNullable(member == null ? null : Trees.text(request.params(), member));
    }

    /** Headers that repeat members of a message, for the present revision. */
    public static Map<String, String> standard(McpMessage message, @Nullable Revision revision) {
        if (revision == null || !revision.isStateless() || message.method().isEmpty()) {
            return Map.of();
        }
        var headers = new LinkedHashMap<>(Map.of(METHOD, message.method()));
        if (message instanceof McpMessage.Request request) {
            named(request).ifPresent(name -> headers.put(NAME, encode(name)));
        }
        return headers;
    }

    /**
     * A property of a tool's arguments that a header repeats.
     *
     * @param header name of the header
     * @param path names of properties from the root
     */
    public record Param(String header, List<String> path) {
        /** The value in arguments; empty if there is none. */
        public Optional<Object> in(Map<String, @Nullable Object> arguments) {
            Object value = arguments;
            for (String name : path) {
                value = value instanceof Map<?, ?> map ? map.get(name) : null;
            }
            return Optional.ofNullable(value);
        }
    }

    /** A value as a header carries it. */
    public static String encode(String value) {
        boolean isPlain = PLAIN.matcher(value).matches() && !(value.startsWith(BEGIN) && value.endsWith(END));
        return isPlain ? value : BEGIN + Base64.getEncoder().encodeToString(value.getBytes(UTF_8)) + END;
    }

    /** Returns the value that a header carries; empty if it has characters or an encoding that headers cannot have. */
    public static Optional<String> decode(String header) {
        if (header.startsWith(BEGIN) && header.endsWith(END) && header.length() >= BEGIN.length() + END.length()) {
            try {
                String text = header.substring(BEGIN.length(), header.length() - END.length());
                byte[] bytes = Base64.getDecoder().decode(text);
                // The decoder of Java takes texts without padding, which other readers of the header may not.
                return Base64.getEncoder().encodeToString(bytes).equals(text)
                        ? Optional.of(UTF_8.newDecoder()
                                .decode(ByteBuffer.wrap(bytes))
                                .toString())
                        : Optional.empty();
            } catch (IllegalArgumentException | CharacterCodingException invalid) {
                return Optional.empty();
            }
        }
        return header.isEmpty() || PLAIN.matcher(header).matches() ? Optional.of(header) : Optional.empty();
    }

    /** True if a decoded header says the same as a value of the body: integers are compared as numbers. */
    public static boolean isSame(String header, Object value) {
        if (!(value instanceof Number number)) {
            return header.equals(String.valueOf(value));
        }
        try {
            return header.length() <= 40 && new BigDecimal(header).compareTo(new BigDecimal(number.toString())) == 0;
        } catch (NumberFormatException text) {
            return false;
        }
    }

    /**
     * Properties of a schema that headers repeat.
     *
     * @throws IllegalArgumentException if a mark is at a wrong place or has a wrong value
     */
    public static List<Param> params(Map<String, @Nullable Object> schema) {
        var params = new ArrayList<Param>();
        collect(schema, List.of(), params, true);
        var names = new HashSet<String>();
        for (Param param : params) {
            if (!names.add(param.header().toLowerCase(Locale.ROOT))) {
                throw new IllegalArgumentException(MARK + " \"" + param.header() + "\": duplicate name");
            }
        }
        return params;
    }

    private static void collect(
            Map<String, @Nullable Object> schema, List<String> path, List<Param> params, boolean reachable) {
        if (path.size() > MAX_DEPTH) {
            return;
        }
        if (schema.containsKey(MARK)) {
            params.add(param(schema, path, reachable));
        }
        schema.forEach((keyword, value) -> {
            boolean isProperties = keyword.equals("properties");
            if (value instanceof Map<?, ?> map && (isProperties || OF_SCHEMAS.contains(keyword))) {
                Trees.map(map)
                        .forEach((name, inner) ->
                                collect(Trees.map(inner), append(path, name), params, reachable && isProperties));
            } else if (value instanceof Map<?, ?> inner && SCHEMAS.contains(keyword)) {
                collect(Trees.map(inner), append(path, keyword), params, false);
            } else if (value instanceof List<?> list) {
                list.forEach(inner -> collect(Trees.map(inner), append(path, keyword), params, false));
            }
        });
    }

    private static Param param(Map<String, @Nullable Object> schema, List<String> path, boolean reachable) {
        if (!reachable || path.isEmpty()) {
            throw new IllegalArgumentException(MARK + " at " + path + ": not reachable by properties only");
        }
        if (!(schema.get(MARK) instanceof String name) || !TOKEN.matcher(name).matches()) {
            throw new IllegalArgumentException(MARK + " at " + path + ": (expected: a token of HTTP)");
        }
        if (!(schema.get("type") instanceof String type) || !PRIMITIVES.contains(type)) {
            throw new IllegalArgumentException(
                    MARK + " at " + path + ": wrong type (expected: string, integer or boolean)");
        }
        return new Param(PARAM + name, path);
    }

    private static List<String> append(List<String> path, String name) {
        var longer = new ArrayList<>(path);
        longer.add(name);
        return List.copyOf(longer);
    }
}
