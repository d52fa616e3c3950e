package dev.parley.server;

import dev.parley.dialect.served.ServedAgent;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Predicate;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** The agents of a server by name, and their addresses. */
final class AgentDirectory {
    static final String PATH = "/agents";
    /** Path of the card below the address of an agent. */
    static final String CARD = "/.well-known/agent-card.json";

    private static final String UNRESERVED = "-._~";

    private final Map<String, ServedAgent> agents = new ConcurrentHashMap<>();
    private final Supplier<String> url;
    private final @Nullable String defaultName;

    AgentDirectory(Supplier<String> url, @Nullable String defaultName) {
        this.url = url;
        this.defaultName = defaultName;
    }

    String url() {
        return url.get();
    }

    String urlOf(String name) {
        return url() + PATH + "/" + encode(name);
    }

    /** Host and port of the address. */
    String authority() {
        var url = URI.create(url());
        int port = url.getPort() >= 0 ? url.getPort() : url.getScheme().equalsIgnoreCase("https") ? 443 : 80;
        return url.getHost() + ":" + port;
    }

    void add(ServedAgent agent) {
        var name = agent.name();
        if (name.isEmpty()
                || name.equals(".")
                || name.equals("..")
                || name.chars().anyMatch(c -> c <= ' ' || c == '/')) {
            throw new IllegalArgumentException("name: \"" + name + "\" (expected: a segment of a path)");
        }
        agents.put(name, agent);
    }

    boolean remove(String name) {
        return agents.remove(name) != null;
    }

    @Nullable
    ServedAgent get(String name) {
        return agents.get(name);
    }

    @Nullable
    ServedAgent defaultAgent() {
        return defaultName == null ? null : agents.get(defaultName);
    }

    /** The agent that has a host name of its own below the server's, as over gRPC. */
    @Nullable
    ServedAgent ofHost(@Nullable String host) {
        int dot = host == null ? -1 : host.indexOf('.');
        return host == null || dot <= 0 ? null : agents.get(host.substring(0, dot));
    }

    List<ServedAgent> all() {
        var all = new ArrayList<>(agents.values());
        all.sort(Comparator.comparing(ServedAgent::name));
        return all;
    }

    /** Returns the body of {@code GET /agents} with the agents that {@code shown} accepts. */
    Map<String, Object> listing(Predicate<String> shown) {
        var list = new ArrayList<Map<String, Object>>();
        for (var agent : all()) {
            if (!agent.listed() || !shown.test(agent.name())) {
                continue;
            }
            var entry = new LinkedHashMap<String, Object>();
            entry.put("name", agent.name());
            entry.put("description", agent.card().description());
            entry.put("url", urlOf(agent.name()));
            entry.put("cardUrl", urlOf(agent.name()) + CARD);
            list.add(entry);
        }
        return Map.of("agents", list);
    }

    private static String encode(String segment) {
        var encoded = new StringBuilder();
        for (var octet : segment.getBytes(StandardCharsets.UTF_8)) {
            var c = (char) (octet & 0xff);
            if ((c < 0x7f && Character.isLetterOrDigit(c)) || UNRESERVED.indexOf(c) >= 0) {
                encoded.append(c);
            } else {
                encoded.append('%').append(String.format("%02X", (int) c));
            }
        }
        return encoded.toString();
    }
}
