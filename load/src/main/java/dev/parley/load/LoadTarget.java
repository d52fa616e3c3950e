package dev.parley.load;

import dev.parley.command.CommandException.Kind;
import dev.parley.dialect.Json;
import dev.parley.dialect.WireBinding;
import dev.parley.dialect.spi.Binding;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.AgentCard;
import java.io.IOException;
import java.net.URI;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLException;
import javax.net.ssl.SSLSocketFactory;
import org.jspecify.annotations.Nullable;

/**
 * Target of the load: one interface of one agent, with its binding and version.
 *
 * @param agent with an absolute URL
 * @param binding null for gRPC
 * @param tls trust in certificates; null for that of Java
 */
record LoadTarget(
        AgentCard.Interface agent,
        @Nullable Binding binding,
        Map<String, String> headers,
        @Nullable SSLContext tls) {
    private static final int LAST_PORT = 65_535;

    /** Time limit of requests before the measurement: for a card, or a task. */
    private static final int WHOLE = 4 << 20;

    private static final String WELL_KNOWN = "/.well-known/agent-card.json";

    /** An answer that was read whole. */
    record Answer(int status, byte[] body) {}

    /**
     * Returns the agent whose card is at {@code url}.
     *
     * @param url of the card itself if it ends in {@code .json}, else of the agent
     * @param transport JSONRPC, HTTP+JSON or GRPC; null for the one that the card names first
     * @param version of the protocol; null for the first of the card
     */
    static LoadTarget find(
            String url,
            @Nullable String transport,
            @Nullable String version,
            Map<String, String> headers,
            @Nullable SSLContext tls) {
        String address = url.endsWith(".json") ? url : url.replaceAll("/+$", "") + WELL_KNOWN;
        URI at = parse(address);
        LoadRequest request = LoadRequest.of(head("GET", at, headers), null);
        Answer answer = ask(at, tls, List.of(request.numbered(0))).getFirst();
        if (answer.status() != 200) {
            throw new LoadProblem(
                    Kind.UNREACHABLE,
                    "no agent card at " + address + ": HTTP " + answer.status()
                            + "; an agent without a card can be given by --agent-url");
        }
        AgentCard card;
        try {
            card = Json.readCard(answer.body());
        } catch (A2AException problem) {
            throw new LoadProblem(Kind.REFUSED, address + ": not an agent card: " + problem.getMessage(), problem);
        }
        AgentCard.Interface agent = absolute(choose(card.supportedInterfaces(), transport, version));
        URI to = parse(agent.url());
        if (!origin(to).equals(origin(at))) {
            throw new LoadProblem(
                    Kind.REFUSED,
                    "the card at " + address + " sends callers to " + agent.url()
                            + " (expected: the same origin); if that is what you want under load, say so by"
                            + " --agent-url");
        }
        return of(agent, headers, tls);
    }

    /** Returns the agent at {@code url} without asking for its card. */
    static LoadTarget at(
            String url,
            @Nullable String transport,
            @Nullable String version,
            Map<String, String> headers,
            @Nullable SSLContext tls) {
        parse(url);
        String binding = transport == null ? AgentCard.Interface.JSONRPC : transport;
        return of(new AgentCard.Interface(url, binding, null, version == null ? "1.0" : version), headers, tls);
    }

    /** Cards have only host and port for gRPC. */
    private static AgentCard.Interface absolute(AgentCard.Interface agent) {
        return agent.url().contains("://")
                ? agent
                : new AgentCard.Interface(
                        "http://" + agent.url(), agent.protocolBinding(), agent.tenant(), agent.protocolVersion());
    }

    private static LoadTarget of(AgentCard.Interface agent, Map<String, String> headers, @Nullable SSLContext tls) {
        if (agent.protocolBinding().equals(AgentCard.Interface.GRPC)) {
            return new LoadTarget(agent, null, headers, tls);
        }
        Binding binding = WireBinding.of(agent)
                .orElseThrow(() -> new LoadProblem(
                        Kind.USAGE,
                        "binding " + agent.protocolBinding() + " " + agent.protocolVersion()
                                + ": unknown (expected: JSONRPC, HTTP+JSON or GRPC); choose one by --transport"));
        return new LoadTarget(agent, binding, headers, tls);
    }

    private static AgentCard.Interface choose(
            List<AgentCard.Interface> interfaces, @Nullable String transport, @Nullable String version) {
        return interfaces.stream()
                .filter(agent -> version == null || agent.protocolVersion().equals(version))
                .filter(agent -> transport == null
                        ? !agent.protocolBinding().equals(AgentCard.Interface.GRPC)
                        : agent.protocolBinding().equals(transport))
                .findFirst()
                .orElseThrow(() -> notOffered(interfaces, transport, version));
    }

    private static LoadProblem notOffered(
            List<AgentCard.Interface> interfaces, @Nullable String transport, @Nullable String version) {
        String offered = interfaces.stream()
                .map(agent -> agent.protocolBinding() + " " + agent.protocolVersion())
                .collect(Collectors.joining(", "));
        String expected =
                (transport == null ? "JSONRPC or HTTP+JSON" : transport) + (version == null ? "" : " " + version);
        return new LoadProblem(
                Kind.USAGE,
                "the card offers " + offered + " (expected: " + expected
                        + "); choose another by --transport or --a2a-version, or give the address of the interface by"
                        + " --agent-url");
    }

    /** True if an answer with status 200 may be an error. */
    boolean isRpc() {
        return agent.protocolBinding().equals(AgentCard.Interface.JSONRPC);
    }

    /** Returns a request of the binding as bytes, to be sent to {@link #connect}. */
    LoadRequest request(Binding.Outgoing outgoing) {
        var all = new LinkedHashMap<>(outgoing.headers());
        all.keySet().removeIf(name -> name.equalsIgnoreCase("Content-Type"));
        all.putAll(headers);
        byte[] body = outgoing.body();
        return LoadRequest.of(head(outgoing.method(), parse(outgoing.url()), all), body.length == 0 ? null : body);
    }

    /** Sends requests one after the other and reads each answer whole. */
    List<Answer> ask(List<ByteBuffer> requests) {
        return ask(parse(agent.url()), tls, requests);
    }

    private static List<Answer> ask(URI at, @Nullable SSLContext tls, List<ByteBuffer> requests) {
        var answers = new ArrayList<Answer>();
        var answer = new LoadAnswer(false, WHOLE);
        try {
            while (answers.size() < requests.size()) {
                try (LoadConnection connection = connect(at, tls, 16 << 10)) {
                    while (connection.isReusable() && answers.size() < requests.size()) {
                        connection.send(requests.get(answers.size()));
                        connection.receive(answer);
                        answers.add(new Answer(answer.status(), answer.body()));
                    }
                }
            }
            return answers;
        } catch (IOException problem) {
            throw new LoadProblem(Kind.UNREACHABLE, "no answer from " + origin(at) + ": " + reason(problem), problem);
        }
    }

    /** Opens a connection to the agent. */
    LoadConnection connect(int bufferBytes) throws IOException {
        URI at = parse(agent.url());
        if (binding == null && "https".equals(at.getScheme())) {
            throw new LoadProblem(Kind.USAGE, origin(at) + ": gRPC over TLS (expected: http, or another --transport)");
        }
        return binding == null
                ? LoadGrpc.open(at.getHost(), at.getPort() > 0 ? at.getPort() : 80, bufferBytes)
                : connect(at, tls, bufferBytes);
    }

    private static LoadConnection connect(URI at, @Nullable SSLContext tls, int bufferBytes) throws IOException {
        boolean secured = "https".equals(at.getScheme());
        int port = at.getPort() > 0 ? at.getPort() : secured ? 443 : 80;
        SSLSocketFactory factory = !secured
                ? null
                : tls == null ? (SSLSocketFactory) SSLSocketFactory.getDefault() : tls.getSocketFactory();
        return LoadConnection.open(at.getHost(), port, factory, bufferBytes);
    }

    private static String head(String method, URI at, Map<String, String> headers) {
        String path = at.getRawPath().isEmpty() ? "/" : at.getRawPath();
        String query = at.getRawQuery() == null ? "" : "?" + at.getRawQuery();
        var head = new StringBuilder();
        head.append(method).append(' ').append(path).append(query).append(" HTTP/1.1\r\n");
        head.append("Host: ").append(at.getRawAuthority()).append("\r\n");
        headers.forEach(
                (name, value) -> head.append(name).append(": ").append(value).append("\r\n"));
        return head.toString();
    }

    private static String origin(URI at) {
        int port = at.getPort() > 0 ? at.getPort() : "https".equals(at.getScheme()) ? 443 : 80;
        return at.getScheme() + "://" + at.getHost() + ":" + port;
    }

    private static URI parse(String url) {
        URI address;
        try {
            address = URI.create(url);
        } catch (IllegalArgumentException malformed) {
            throw notAnAddress(url, malformed);
        }
        if (address.getHost() == null || !("http".equals(address.getScheme()) || "https".equals(address.getScheme()))) {
            throw notAnAddress(url, null);
        }
        int port = address.getPort();
        if (port == 0 || port > LAST_PORT) {
            throw new LoadProblem(
                    Kind.USAGE,
                    "port " + port + " in " + url + " (expected: a port from 1 to " + LAST_PORT + ")",
                    null);
        }
        return address;
    }

    private static LoadProblem notAnAddress(String url, @Nullable Exception malformed) {
        return new LoadProblem(Kind.USAGE, "URL: " + url + " (expected: http://host or https://host)", malformed);
    }

    /** A sentence for people; the exceptions of channels often have none. */
    static String reason(IOException problem) {
        String message = problem.getMessage();
        String said = message == null ? problem.getClass().getSimpleName() : message;
        return problem instanceof SSLException ? "TLS failed: " + said : said;
    }
}
