package dev.parley.hub.pages;

import dev.parley.dialect.Json;
import dev.parley.dialect.OpenApi;
import dev.parley.dialect.served.ExtensionTable;
import dev.parley.dialect.served.ServedAgent;
import dev.parley.dialect.spi.RequestHead;
import dev.parley.dialect.spi.WireAnswer;
import dev.parley.dialect.spi.WireRequest;
import dev.parley.server.RequestHandler;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * {@code /openapi.json}: the REST of a server, in OpenAPI 3.1. Agents whose card the caller may not see are left out. Safe for any
 * thread.
 */
public final class OpenApiPage implements RequestHandler {
    public static final String PATH = "/openapi.json";

    /** The latest document, which most callers share. */
    private record Written(List<String> agents, byte[] json) {}

    private final Supplier<String> url;
    private final Function<RequestHead, Predicate<String>> shown;
    private final @Nullable ExtensionTable operations;
    private final Map<String, String> ownPaths;
    private final Map<String, ServedAgent> agents = new ConcurrentSkipListMap<>();
    private volatile @Nullable Written latest;

    /**
     * @param url address of the server
     * @param shown tells which agents a request may know of
     * @param operations of the administration; null if it has a server of its own
     * @param ownPaths paths at which agents answer besides their addresses, by their names
     */
    public OpenApiPage(
            Supplier<String> url,
            Function<RequestHead, Predicate<String>> shown,
            @Nullable ExtensionTable operations,
            Map<String, String> ownPaths) {
        this.url = url;
        this.shown = shown;
        this.operations = operations;
        this.ownPaths = Map.copyOf(ownPaths);
    }

    /** Adds an agent that the server serves. */
    public void add(ServedAgent agent) {
        agents.put(agent.name(), agent);
        latest = null;
    }

    public void remove(String name) {
        agents.remove(name);
    }

    @Override
    public WireAnswer answer(WireRequest request, Body body) {
        request.requirePage();
        Predicate<String> visible = shown.apply(request.arrival());
        List<ServedAgent> seen = agents.values().stream()
                .filter(agent -> visible.test(agent.name()))
                .toList();
        List<String> names = seen.stream().map(ServedAgent::name).toList();
        Written known = latest;
        if (known == null || !known.agents().equals(names)) {
            known = new Written(names, Json.write(document(seen)));
            latest = known;
        }
        return new WireAnswer.Whole(
                200, Map.of("Content-Type", "application/json", "Cache-Control", "private, max-age=60"), known.json());
    }

    private Map<String, Object> document(List<ServedAgent> seen) {
        OpenApi document = new OpenApi(url.get()).agents(seen, ownPaths);
        return (operations == null ? document : document.operations(operations, "administration")).document();
    }
}
