package dev.parley.mcp.agent;

import static java.util.Objects.requireNonNullElse;

import dev.parley.mcp.wire.Revision;
import dev.parley.mcp.wire.Trees;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.json.Codecs;
import dev.parley.protocol.json.JsonText;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpRequest;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.function.UnaryOperator;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Reads the file of MCP servers that hosts of MCP share: {@code {"mcpServers": {"NAME": {…}}}}. An entry that cannot be used costs its own
 * server only, and a member of other hosts nothing.
 */
final class ServersFile {
    /**
     * Content of a file.
     *
     * @param unusable reasons by the names of servers that cannot be used
     * @param notes about members that have no effect
     */
    record Content(List<Entry> entries, Map<String, String> unusable, List<String> notes) {
        static final Content NONE = new Content(List.of(), Map.of(), List.of());

        Content {
            entries = List.copyOf(entries);
            unusable = Collections.unmodifiableMap(new LinkedHashMap<>(unusable));
            notes = List.copyOf(notes);
        }
    }

    /** A fault of one entry. */
    private static final class Unusable extends RuntimeException {
        private static final long serialVersionUID = 1;

        Unusable(String member, String problem) {
            super(member + ": " + problem);
        }
    }

    /**
     * A server.
     *
     * @param command program and arguments; empty for a server over HTTP
     * @param environment of the program
     * @param url null for a program
     * @param headers of each request over HTTP
     * @param oauth null for none
     * @param revision the only one that is offered to the server; null for the newest that it has
     * @param timeout of a call of a tool
     * @param links hosts whose addresses callers get as links
     */
    record Entry(
            String name,
            List<String> command,
            Map<String, String> environment,
            @Nullable Path directory,
            @Nullable URI url,
            Map<String, String> headers,
            @Nullable OAuthClient oauth,
            @Nullable Revision revision,
            Duration timeout,
            List<String> links) {
        @Override
        public String toString() {
            return name; // the other members may have secrets
        }
    }

    /** Client credentials. */
    record OAuthClient(
            String id,
            @Nullable String secret,
            @Nullable String privateKey,
            @Nullable String scope) {
        @Override
        public String toString() {
            return id;
        }
    }

    private static final Pattern NAME = Pattern.compile("[A-Za-z0-9][A-Za-z0-9._-]{0,99}");
    private static final Pattern VARIABLE =
            Pattern.compile("\\$\\{(?:(?:env:)?([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?|[^}]*)}");
    private static final Set<String> HTTP = Set.of("http", "streamable-http", "streamable_http", "streamablehttp");
    private static final Set<String> STDIO = Set.of("stdio");
    private static final long DEFAULT_TIMEOUT = 60;
    private static final long LONGEST_TIMEOUT = 3_600;

    /** Names by which hosts of MCP know the address of a server; the first one that is there counts. */
    private static final List<String> URLS = List.of("url", "httpUrl", "serverUrl");

    /** Members of a server; those after {@code transport} are for hosts that ask their user before each call. */
    private static final Set<String> MEMBERS =
            Set.of(("command args env cwd url httpUrl serverUrl headers oauth protocolVersion"
                            + " timeout links disabled enabled type transport alwaysAllow autoApprove description")
                    .split(" "));

    /** Variables of this process that programs get: where their files are, where other programs are, and the language. */
    private static final List<String> INHERITED = List.of("HOME", "LANG", "PATH", "TMPDIR");

    private final Path file;
    private final UnaryOperator<@Nullable String> environment;
    private final List<String> notes = new ArrayList<>();
    private String server = "";

    private ServersFile(Path file, UnaryOperator<@Nullable String> environment) {
        this.file = file;
        this.environment = environment;
    }

    /**
     * Reads a file.
     *
     * @param environment returns the value of a variable; null for none
     * @throws IllegalArgumentException if it is not such a file
     */
    static Content read(Path file, UnaryOperator<@Nullable String> environment) {
        return new ServersFile(file, environment).content();
    }

    private Content content() {
        Map<String, @Nullable Object> root;
        try {
            root = JsonText.request(withoutMark(Files.readAllBytes(file)), Codecs.STRUCT);
        } catch (IOException unreadable) {
            throw new IllegalArgumentException("mcp-servers " + file + ": cannot be read: " + unreadable, unreadable);
        } catch (A2AException malformed) {
            throw new IllegalArgumentException(
                    "mcp-servers " + file + ": no JSON: " + malformed.getMessage(), malformed);
        }
        if (!(root.get("mcpServers") instanceof Map<?, ?>)) {
            throw new IllegalArgumentException("mcp-servers " + file + ": mcpServers: missing (expected: an object)");
        }
        var entries = new ArrayList<Entry>();
        var unusable = new LinkedHashMap<String, String>();
        Trees.map(root, "mcpServers").forEach((name, value) -> {
            server = name;
            try {
                if (!NAME.matcher(name).matches()) {
                    throw new Unusable("name", "expected: at most 100 letters, digits, '-', '_' and '.'");
                }
                if (!(value instanceof Map<?, ?>)) {
                    throw new Unusable("value", "expected: an object");
                }
                Map<String, @Nullable Object> json = Trees.map(value);
                if (!flag(json, "disabled", false) && flag(json, "enabled", true)) {
                    entries.add(entry(name, json));
                }
            } catch (Unusable problem) {
                unusable.put(name, String.valueOf(problem.getMessage()));
            }
        });
        return new Content(entries, unusable, notes);
    }

    /** The bytes without the byte order mark that some editors write. */
    private static byte[] withoutMark(byte[] bytes) {
        boolean isMarked =
                bytes.length >= 3 && bytes[0] == (byte) 0xEF && bytes[1] == (byte) 0xBB && bytes[2] == (byte) 0xBF;
        return isMarked ? Arrays.copyOfRange(bytes, 3, bytes.length) : bytes;
    }

    private static boolean flag(Map<String, @Nullable Object> json, String member, boolean otherwise) {
        return switch (json.get(member)) {
            case Boolean value -> value;
            case null -> otherwise;
            case Object other -> throw new Unusable(member, "expected: true or false");
        };
    }

    /** The address of a server, by any of the names that hosts have for it; null for none. */
    private @Nullable URI url(Map<String, @Nullable Object> json) {
        for (String member : URLS) {
            String text = text(json, member);
            if (text != null) {
                return url(member, text);
            }
        }
        return null;
    }

    private void note(String member, String problem) {
        notes.add("mcp-servers " + file + ": mcpServers." + server + "." + member + ": " + problem);
    }

    private Entry entry(String name, Map<String, @Nullable Object> json) {
        json.keySet().stream().filter(member -> !MEMBERS.contains(member)).forEach(member -> {
            note(member, "unknown, has no effect");
        });
        String command = text(json, "command");
        URI url = url(json);
        if ((command == null) == (url == null)) {
            throw new Unusable("command", "expected: either command or url");
        }
        String type = text(json, json.containsKey("type") ? "type" : "transport");
        if (type != null && !(command == null ? HTTP : STDIO).contains(type.toLowerCase(Locale.ROOT))) {
            throw new Unusable(
                    json.containsKey("type") ? "type" : "transport",
                    "\"" + type + "\": not for a server with a "
                            + (command == null
                                    ? "url (expected: http, streamable HTTP)"
                                    : "command (expected: stdio)"));
        }
        List<String> line = command == null
                ? List.of()
                : Stream.concat(Stream.of(command), texts(json, "args").stream())
                        .toList();
        return new Entry(
                name,
                line,
                variables(json),
                directory(json),
                url,
                headers(json),
                oauth(json),
                revision(json),
                Duration.ofSeconds(timeout(json)),
                texts(json, "links"));
    }

    private @Nullable Path directory(Map<String, @Nullable Object> json) {
        String directory = text(json, "cwd");
        try {
            return directory == null ? null : Path.of(directory);
        } catch (InvalidPathException malformed) {
            throw new Unusable("cwd", malformed.getReason());
        }
    }

    private Map<String, String> headers(Map<String, @Nullable Object> json) {
        Map<String, String> headers = map(json, "headers");
        HttpRequest.Builder request = HttpRequest.newBuilder();
        headers.forEach((name, value) -> {
            try {
                request.header(name, value);
            } catch (IllegalArgumentException refused) {
                throw new Unusable("headers." + name, "no header that can be sent");
            }
        });
        return headers;
    }

    /** The listed variables, and those that programs cannot do without. */
    private Map<String, String> variables(Map<String, @Nullable Object> json) {
        var variables = new LinkedHashMap<String, String>();
        for (String name : INHERITED) {
            String value = environment.apply(name);
            if (value != null) {
                variables.put(name, value);
            }
        }
        variables.putAll(map(json, "env"));
        return variables;
    }

    private static URI url(String member, String text) {
        try {
            URI url = URI.create(text);
            if (Set.of("http", "https").contains(requireNonNullElse(url.getScheme(), "")) && url.getHost() != null) {
                return url;
            }
        } catch (IllegalArgumentException none) {
            throw new Unusable(member, "expected: http:// or https://");
        }
        throw new Unusable(member, "expected: http:// or https://");
    }

    private @Nullable Revision revision(Map<String, @Nullable Object> json) {
        String version = text(json, "protocolVersion");
        return version == null
                ? null
                : Revision.of(version)
                        .orElseThrow(() -> new Unusable(
                                "protocolVersion",
                                "\"" + version + "\": unknown (expected: one of "
                                        + Stream.of(Revision.values())
                                                .map(Revision::text)
                                                .collect(Collectors.joining(", "))
                                        + ")"));
    }

    private long timeout(Map<String, @Nullable Object> json) {
        if (!json.containsKey("timeout")) {
            return DEFAULT_TIMEOUT;
        }
        long seconds = Trees.number(json, "timeout", 0);
        if (seconds < 1) {
            throw new Unusable("timeout", "expected: 1 to " + LONGEST_TIMEOUT + " seconds");
        }
        if (seconds > LONGEST_TIMEOUT) { // some hosts count milliseconds
            note("timeout", seconds + " s, is taken for " + LONGEST_TIMEOUT + " s");
        }
        return Math.min(seconds, LONGEST_TIMEOUT);
    }

    private @Nullable OAuthClient oauth(Map<String, @Nullable Object> json) {
        if (!json.containsKey("oauth")) {
            return null;
        }
        Map<String, @Nullable Object> oauth = Trees.map(json, "oauth");
        String id = text(oauth, "clientId");
        String secret = text(oauth, "clientSecret");
        String key = text(oauth, "privateKey");
        if (id == null || secret == null && key == null) {
            throw new Unusable("oauth", "expected: clientId, and clientSecret or privateKey");
        }
        return new OAuthClient(id, secret, key, text(oauth, "scope"));
    }

    private @Nullable String text(Map<String, @Nullable Object> json, String member) {
        Object value = json.get(member);
        if (value == null) {
            return null;
        }
        if (!(value instanceof String text)) {
            throw new Unusable(member, "expected: a text");
        }
        return substituted(text, member);
    }

    private List<String> texts(Map<String, @Nullable Object> json, String member) {
        if (!json.containsKey(member)) {
            return List.of();
        }
        if (!(json.get(member) instanceof List<?> list)) {
            throw new Unusable(member, "expected: a list of texts");
        }
        var texts = new ArrayList<String>();
        for (Object each : list) {
            String place = member + "[" + texts.size() + "]";
            texts.add(substituted(scalar(each, place), place));
        }
        return texts;
    }

    private Map<String, String> map(Map<String, @Nullable Object> json, String member) {
        if (json.containsKey(member) && !(json.get(member) instanceof Map<?, ?>)) {
            throw new Unusable(member, "expected: an object of texts");
        }
        var values = new LinkedHashMap<String, String>();
        Trees.map(json, member).forEach((name, value) -> {
            String place = member + "." + name;
            values.put(name, substituted(scalar(value, place), place));
        });
        return values;
    }

    /** A text, number or truth value as a text. */
    private static String scalar(@Nullable Object value, String member) {
        if (value instanceof String || value instanceof Number || value instanceof Boolean) {
            return String.valueOf(value);
        }
        throw new Unusable(member, "expected: a text");
    }

    private String substituted(String text, String member) {
        return VARIABLE.matcher(text).replaceAll(found -> {
            if (found.group(1) == null) {
                throw new Unusable(
                        member, found.group() + ": unknown (expected: ${NAME}, ${NAME:-default} or ${env:NAME})");
            }
            String value = environment.apply(found.group(1));
            if (value == null) {
                value = found.group(2);
            }
            if (value == null) {
                throw new Unusable(member, "environment variable " + found.group(1) + ": not set");
            }
            return Matcher.quoteReplacement(value);
        });
    }
}
