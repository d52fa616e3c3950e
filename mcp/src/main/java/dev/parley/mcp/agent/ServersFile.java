package dev.parley.mcp.agent;

import static java.util.Objects.requireNonNullElse;

import dev.parley.dialect.json.Codecs;
import dev.parley.dialect.json.JsonText;
import dev.parley.mcp.wire.Revision;
import dev.parley.mcp.wire.Trees;
import dev.parley.protocol.A2AException;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
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

/** Reads the file of MCP servers that hosts of MCP share: {@code {"mcpServers": {"NAME": {…}}}}. */
final class ServersFile {
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

    private static final Set<String> MEMBERS = Set.of(
            "command",
            "args",
            "env",
            "cwd",
            "url",
            "headers",
            "oauth",
            "protocolVersion",
            "timeout",
            "links",
            "disabled",
            "type",
            "transport",
            "alwaysAllow", // of hosts that ask their user before each call
            "autoApprove",
            "description");

    private final Path file;
    private final UnaryOperator<@Nullable String> environment;
    private String server = "";

    private ServersFile(Path file, UnaryOperator<@Nullable String> environment) {
        this.file = file;
        this.environment = environment;
    }

    /**
     * Reads a file.
     *
     * @param environment returns the value of a variable; null for none
     * @throws IllegalArgumentException if it is no such file, with the name of the file, the server and the member
     */
    static List<Entry> read(Path file, UnaryOperator<@Nullable String> environment) {
        return new ServersFile(file, environment).entries();
    }

    private List<Entry> entries() {
        Map<String, @Nullable Object> root;
        try {
            root = JsonText.request(Files.readAllBytes(file), Codecs.STRUCT);
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
        Trees.map(root, "mcpServers").forEach((name, value) -> {
            server = name;
            if (!NAME.matcher(name).matches()) {
                throw invalid("name", "expected: at most 100 letters, digits, '-', '_' and '.'");
            }
            if (!(value instanceof Map<?, ?>)) {
                throw invalid("value", "expected: an object");
            }
            Map<String, @Nullable Object> json = Trees.map(value);
            if (!Boolean.TRUE.equals(json.get("disabled"))) {
                entries.add(entry(name, json));
            }
        });
        return List.copyOf(entries);
    }

    private Entry entry(String name, Map<String, @Nullable Object> json) {
        for (String member : json.keySet()) {
            if (!MEMBERS.contains(member)) {
                throw invalid(
                        member,
                        "unknown (expected: one of "
                                + String.join(", ", MEMBERS.stream().sorted().toList()) + ")");
            }
        }
        String command = text(json, "command");
        String url = text(json, "url");
        if ((command == null) == (url == null)) {
            throw invalid("command", "expected: either command or url");
        }
        String type = text(json, json.containsKey("type") ? "type" : "transport");
        if (type != null && !(command == null ? HTTP : STDIO).contains(type.toLowerCase(Locale.ROOT))) {
            throw invalid(
                    json.containsKey("type") ? "type" : "transport",
                    "\"" + type + "\": not for a server with a "
                            + (command == null
                                    ? "url (expected: http, streamable HTTP)"
                                    : "command (expected: stdio)"));
        }
        String directory = text(json, "cwd");
        List<String> line = command == null
                ? List.of()
                : Stream.concat(Stream.of(command), texts(json, "args").stream())
                        .toList();
        return new Entry(
                name,
                line,
                variables(json),
                directory == null ? null : Path.of(directory),
                url == null ? null : url(url),
                map(json, "headers"),
                oauth(json),
                revision(json),
                Duration.ofSeconds(timeout(json)),
                texts(json, "links"));
    }

    /** The listed variables, and the path by which programs find each other. */
    private Map<String, String> variables(Map<String, @Nullable Object> json) {
        var variables = new LinkedHashMap<String, String>();
        String path = environment.apply("PATH");
        if (path != null) {
            variables.put("PATH", path);
        }
        variables.putAll(map(json, "env"));
        return variables;
    }

    private URI url(String text) {
        try {
            URI url = URI.create(text);
            if (Set.of("http", "https").contains(requireNonNullElse(url.getScheme(), "")) && url.getHost() != null) {
                return url;
            }
        } catch (IllegalArgumentException none) {
            throw invalid("url", "expected: http:// or https://");
        }
        throw invalid("url", "expected: http:// or https://");
    }

    private @Nullable Revision revision(Map<String, @Nullable Object> json) {
        String version = text(json, "protocolVersion");
        return version == null
                ? null
                : Revision.of(version)
                        .orElseThrow(() -> invalid(
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
        if (seconds < 1 || seconds > LONGEST_TIMEOUT) {
            throw invalid("timeout", "expected: 1 to " + LONGEST_TIMEOUT + " seconds");
        }
        return seconds;
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
            throw invalid("oauth", "expected: clientId, and clientSecret or privateKey");
        }
        return new OAuthClient(id, secret, key, text(oauth, "scope"));
    }

    private @Nullable String text(Map<String, @Nullable Object> json, String member) {
        Object value = json.get(member);
        if (value == null) {
            return null;
        }
        if (!(value instanceof String text)) {
            throw invalid(member, "expected: a text");
        }
        return substituted(text, member);
    }

    private List<String> texts(Map<String, @Nullable Object> json, String member) {
        if (!json.containsKey(member)) {
            return List.of();
        }
        if (!(json.get(member) instanceof List<?> list)) {
            throw invalid(member, "expected: a list of texts");
        }
        var texts = new ArrayList<String>();
        for (Object each : list) {
            String place = member + "[" + texts.size() + "]";
            if (!(each instanceof String text)) {
                throw invalid(place, "expected: a text");
            }
            texts.add(substituted(text, place));
        }
        return texts;
    }

    private Map<String, String> map(Map<String, @Nullable Object> json, String member) {
        if (json.containsKey(member) && !(json.get(member) instanceof Map<?, ?>)) {
            throw invalid(member, "expected: an object of texts");
        }
        var values = new LinkedHashMap<String, String>();
        Trees.map(json, member).forEach((name, value) -> {
            if (!(value instanceof String text)) {
                throw invalid(member + "." + name, "expected: a text");
            }
            values.put(name, substituted(text, member + "." + name));
        });
        return values;
    }

    private String substituted(String text, String member) {
        return VARIABLE.matcher(text).replaceAll(found -> {
            if (found.group(1) == null) {
                throw invalid(member, found.group() + ": unknown (expected: ${NAME}, ${NAME:-default} or ${env:NAME})");
            }
            String value = environment.apply(found.group(1));
            if (value == null) {
                value = found.group(2);
            }
            if (value == null) {
                throw invalid(member, "environment variable " + found.group(1) + ": not set");
            }
            return Matcher.quoteReplacement(value);
        });
    }

    private IllegalArgumentException invalid(String member, String problem) {
        return new IllegalArgumentException(
                "mcp-servers " + file + ": mcpServers." + server + "." + member + ": " + problem);
    }
}
