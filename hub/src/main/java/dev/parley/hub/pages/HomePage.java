package dev.parley.hub.pages;

import dev.parley.dialect.spi.RequestHead;
import dev.parley.dialect.spi.WireAnswer;
import dev.parley.dialect.spi.WireRequest;
import dev.parley.protocol.AgentCard;
import dev.parley.server.RequestHandler;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.function.Supplier;

/**
 * The root of a hub: a text with the agents that the caller may know of, their addresses, and how to call one. Browsers are led to the
 * start page of an extension, if there is one. Safe for any thread.
 */
public final class HomePage implements RequestHandler {
    private final Function<RequestHead, Predicate<String>> shown;
    private final Supplier<Optional<String>> start;
    private final Map<String, Entry> agents = new ConcurrentSkipListMap<>();

    private record Entry(String name, String url, AgentCard card) {}

    /**
     * @param shown tells which agents a request may know of
     * @param start address to which browsers are led, relative to that of the root; empty for none
     */
    public HomePage(Function<RequestHead, Predicate<String>> shown, Supplier<Optional<String>> start) {
        this.shown = shown;
        this.start = start;
    }

    public void add(String name, String url, AgentCard card) {
        agents.put(name, new Entry(name, url, card));
    }

    public void remove(String name) {
        agents.remove(name);
    }

    @Override
    public WireAnswer answer(WireRequest request, Body body) {
        String accepted = request.header("Accept");
        if (accepted != null && accepted.toLowerCase(Locale.ROOT).contains("text/html")) {
            Optional<String> path = start.get();
            if (path.isPresent()) {
                return new WireAnswer.Whole(
                        307,
                        Map.of("Location", path.get(), "Cache-Control", "no-store", "Vary", "Accept"),
                        new byte[0]);
            }
        }
        Predicate<String> visible = shown.apply(request.arrival());
        List<Entry> entries = agents.values().stream()
                .filter(entry -> visible.test(entry.name()))
                .toList();
        return new WireAnswer.Whole(
                200,
                Map.of("Content-Type", "text/plain; charset=utf-8", "Cache-Control", "no-store", "Vary", "Accept"),
                text(entries).getBytes(StandardCharsets.UTF_8));
    }

    private static String text(List<Entry> entries) {
        var text = new StringBuilder("Agents of this hub\n");
        if (entries.isEmpty()) {
            text.append("\nNo agents that callers without credentials may see.\n");
        }
        for (Entry entry : entries) {
            text.append("\n  ")
                    .append(visible(entry.card().name()))
                    .append("  ")
                    .append(entry.url());
            text.append("\n      ").append(visible(entry.card().description())).append('\n');
        }
        if (!entries.isEmpty()) {
            String url = entries.getFirst().url();
            text.append("\nTo call one:  parley send -a ").append(url).append(" \"hello\"\n");
            text.append("Its card:     ").append(url).append("/.well-known/agent-card.json\n");
        }
        return text.append("For programs: /agents, /extensions, /openapi.json, /health\n")
                .toString();
    }

    /** Without characters that a terminal obeys or does not show. */
    private static String visible(String text) {
        return text.replaceAll("\\p{C}", " ");
    }
}
