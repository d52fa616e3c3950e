package dev.parley.hub.pages;

import dev.parley.dialect.ExampleCall;
import dev.parley.dialect.spi.Arrival;
import dev.parley.dialect.spi.WireAnswer;
import dev.parley.dialect.spi.WireRequest;
import dev.parley.extension.HubExtension.HomeLink;
import dev.parley.protocol.A2AError;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.AgentCard;
import dev.parley.server.RequestHandler;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.function.Function;
import java.util.function.Predicate;

/**
 * The page at the root of a hub: the agents that the caller may know of, their addresses, and how to call one. Browsers get HTML, tools
 * such as curl text. Safe for any thread.
 */
public final class HomePage implements RequestHandler {
    public static final String STYLE = "/ui/home.css";

    private final Function<Arrival, Predicate<String>> shown;
    private final Map<String, Entry> agents = new ConcurrentSkipListMap<>();

    private record Entry(String name, String url, AgentCard card, List<HomeLink> links) {}

    /** @param shown tells which agents a request may know of */
    public HomePage(Function<Arrival, Predicate<String>> shown) {
        this.shown = shown;
    }

    public void add(String name, String url, AgentCard card, List<HomeLink> links) {
        agents.put(name, new Entry(name, url, card, links));
    }

    public void remove(String name) {
        agents.remove(name);
    }

    @Override
    public WireAnswer answer(WireRequest request, Body body) {
        Predicate<String> visible = shown.apply(request.arrival());
        List<Entry> entries = agents.values().stream()
                .filter(entry -> visible.test(entry.name()))
                .toList();
        String accepted = request.header("Accept");
        boolean html = accepted != null && accepted.toLowerCase(Locale.ROOT).contains("text/html");
        return new WireAnswer.Whole(
                200,
                Map.of(
                        "Content-Type",
                        (html ? "text/html" : "text/plain") + "; charset=utf-8",
                        "Cache-Control",
                        "no-store",
                        "Vary",
                        "Accept",
                        "Content-Security-Policy",
                        Page.OWN_FILES),
                (html ? html(entries) : text(entries)).getBytes(StandardCharsets.UTF_8));
    }

    /** Leads from {@code /ui} and {@code /ui/} to the page. */
    public static WireAnswer redirect(WireRequest request, Body unread) {
        request.requireGet();
        if (request.path().length() > 1) {
            throw A2AException.of(A2AError.METHOD_NOT_FOUND, "There is nothing at this address");
        }
        String root = request.path().isEmpty() ? "./" : "../"; // relative: a proxy may serve the hub below a path
        return new WireAnswer.Whole(307, Map.of("Location", root, "Cache-Control", "no-store"), new byte[0]);
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

    private static String html(List<Entry> entries) {
        var html = new StringBuilder("""
            <!doctype html>
            <html lang="en">
            <head>
              <meta charset="utf-8">
              <meta name="viewport" content="width=device-width, initial-scale=1">
              <title>Agents – Parley</title>
              <link rel="stylesheet" href="%s">
            </head>
            <body>
            <h1>Agents of this hub</h1>
            """.formatted(STYLE));
        if (entries.isEmpty()) {
            html.append("<p>No agents that callers without credentials may see.</p>\n");
        }
        for (Entry entry : entries) {
            describe(entry, html);
        }
        if (!entries.isEmpty()) {
            example(entries.getFirst(), html);
        }
        html.append("<p>For programs: <a href=\"/agents\">agents</a>, <a href=\"/extensions\">extensions</a>, "
                + "<a href=\"/health\">health</a>.");
        entries.stream()
                .flatMap(entry -> entry.links().stream())
                .distinct()
                .forEach(link -> html.append(' ')
                        .append(escaped(link.text()))
                        .append(" <a href=\"")
                        .append(escaped(link.path()))
                        .append("\">")
                        .append(escaped(link.link()))
                        .append("</a>."));
        return html.append("</p>\n</body>\n</html>\n").toString();
    }

    private static void describe(Entry entry, StringBuilder html) {
        AgentCard card = entry.card();
        html.append("<section>\n<h2><bdi>").append(escaped(card.name())).append("</bdi></h2>\n<p><bdi>");
        html.append(escaped(card.description())).append("</bdi></p>\n<dl>\n<dt>Address</dt><dd><code>");
        html.append(escaped(entry.url())).append("</code></dd>\n<dt>Card</dt><dd><a href=\"");
        html.append(escaped(entry.url())).append("/.well-known/agent-card.json\">agent-card.json</a></dd>\n");
        for (AgentCard.Skill skill : card.skills()) {
            html.append("<dt>Skill</dt><dd><bdi>").append(escaped(skill.name())).append("</bdi>: <bdi>");
            html.append(escaped(skill.description())).append("</bdi></dd>\n");
        }
        if (!card.securityRequirements().isEmpty()) {
            html.append("<dt>Credentials</dt><dd>required; the card lists the accepted kinds</dd>\n");
        }
        html.append("</dl>\n</section>\n");
    }

    private static void example(Entry entry, StringBuilder html) {
        String url = escaped(entry.url());
        html.append("<h2>Call an agent</h2>\n<p>With the program <code>parley</code>:</p>\n<pre>parley send -a ");
        html.append(url).append(" \"hello\"</pre>\n");
        List<String> dialects = entry.card().supportedInterfaces().stream()
                .map(AgentCard.Interface::protocolVersion)
                .toList();
        ExampleCall.of(entry.url(), dialects)
                .ifPresent(call -> html.append("<p>With any HTTP client:</p>\n<pre>")
                        .append(escaped(call.command())
                                .replace(" -H ", " \\\n     -H ")
                                .replace(" -d ", " \\\n     -d "))
                        .append("</pre>\n"));
    }

    private static String escaped(String text) {
        return text.replace("&", "&amp;")
                .replace("<", "&lt;")
                .replace(">", "&gt;")
                .replace("\"", "&quot;")
                .replace("'", "&#39;");
    }
}
