package dev.parley.pipelines.research;

import static java.util.Objects.requireNonNullElse;

import dev.parley.engine.Agent;
import dev.parley.engine.Reply;
import dev.parley.engine.Request;
import dev.parley.outbound.AddressRule;
import dev.parley.outbound.GuardedFetch;
import dev.parley.outbound.GuardedFetch.Document;
import dev.parley.pipelines.step.Charts;
import dev.parley.pipelines.step.Markdown;
import dev.parley.pipelines.step.PipelineAgent;
import dev.parley.pipelines.step.StepInput;
import dev.parley.pipelines.step.StepInput.Unusable;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.Part;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Base64;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** Five agents that compare what pages and files say about a topic. */
public final class ResearchAgents implements AutoCloseable {
    private static final int MAX_SOURCES = 20;
    private static final int MAX_BYTES = 2 * 1024 * 1024;
    private static final int MAX_TOTAL = 8 * 1024 * 1024;
    private static final int SHOWN = 8;

    private final GuardedFetch fetch;

    /** @param allowed hosts that may be fetched from although they are not public, as {@link AddressRule#allowing} reads them */
    public ResearchAgents(Collection<String> allowed) {
        this.fetch = new GuardedFetch(AddressRule.allowing(allowed), Duration.ofSeconds(20), MAX_BYTES);
    }

    /** The agents, in the order in which sources pass them. */
    public List<Agent> all() {
        return List.of(
                PipelineAgent.waiting(
                        "research-fetch",
                        "fetch-sources",
                        "Fetches pages by their addresses (parameter sources), and takes files",
                        List.of("application/json"),
                        this::fetch),
                PipelineAgent.computing(
                        "research-extract",
                        "extract-text",
                        "Reads the title and the paragraphs of HTML, PDF and plain text",
                        List.of("application/json"),
                        ResearchAgents::extract),
                PipelineAgent.computing(
                        "research-compare",
                        "compare-sources",
                        "Finds statements about the parameter topic, the sources that agree, and numbers that differ",
                        List.of("application/json"),
                        ResearchAgents::compare),
                PipelineAgent.computing(
                        "research-chart",
                        "chart-sources",
                        "Draws how many statements each source shares with others",
                        List.of("image/png"),
                        ResearchAgents::chart),
                PipelineAgent.computing(
                        "research-write",
                        "write-report",
                        "Writes a report in Markdown with citations",
                        List.of("text/markdown", "image/png"),
                        ResearchAgents::write));
    }

    private void fetch(StepInput input, Reply reply) throws InterruptedException {
        List<String> addresses = StepInput.array(input.parameters().get("sources")).stream()
                .map(String::valueOf)
                .toList();
        int count = addresses.size() + input.files().size();
        if (count == 0 || count > MAX_SOURCES) {
            throw new Unusable(
                    "parameters.sources: " + count + " pages and files (expected: 1 to " + MAX_SOURCES + ")");
        }
        var fetched = new ArrayList<Map<String, @Nullable Object>>();
        var failed = new ArrayList<Map<String, @Nullable Object>>();
        int total = 0;
        for (Request.File file : input.files()) {
            String name = requireNonNullElse(file.name(), "file");
            if (file.bytes() == null) {
                failed.add(
                        Map.of("address", name, "reason", "given by its address (expected: among parameters.sources)"));
            } else {
                total = fits(total, file.bytes().length);
                fetched.add(entry(name, requireNonNullElse(file.mediaType(), ""), null, file.bytes()));
            }
        }
        for (String address : addresses) {
            reply.progress(100 * (fetched.size() + failed.size()) / count, "Fetching " + address);
            try {
                Document page = fetch.get("pipelines", address, Map.of());
                if (page.status() != 200) {
                    failed.add(Map.of("address", address, "reason", "HTTP " + page.status()));
                    continue;
                }
                total = fits(total, page.body().length);
                fetched.add(entry(page.url(), page.mediaType(), page.charset(), page.body()));
            } catch (IOException | A2AException unreachable) {
                failed.add(Map.of("address", address, "reason", String.valueOf(unreachable.getMessage())));
            }
        }
        if (fetched.isEmpty()) {
            reply.fail("no source can be read: "
                    + failed.stream()
                            .map(entry -> entry.get("address") + ": " + entry.get("reason"))
                            .collect(Collectors.joining("; ")));
            return;
        }
        reply.complete(Part.data(Map.of("fetched", fetched, "failed", failed)));
    }

    private static int fits(int total, int more) {
        if (total + more > MAX_TOTAL) {
            throw new Unusable("sources: more than " + MAX_TOTAL + " bytes together");
        }
        return total + more;
    }

    private static Map<String, @Nullable Object> entry(
            String address, String mediaType, @Nullable String charset, byte[] bytes) {
        var entry = new LinkedHashMap<String, @Nullable Object>();
        entry.put("address", address);
        entry.put("mediaType", mediaType);
        entry.put("charset", charset);
        entry.put("bytes", Base64.getEncoder().encodeToString(bytes));
        return entry;
    }

    private static void extract(StepInput input, Reply reply) {
        Map<String, @Nullable Object> before = input.require("fetched", "research-fetch");
        var documents = new ArrayList<Map<String, @Nullable Object>>();
        var failed = new ArrayList<>(StepInput.array(before.get("failed")));
        for (Object value : StepInput.array(before.get("fetched"))) {
            Map<String, @Nullable Object> page = StepInput.object(value);
            String address = String.valueOf(page.get("address"));
            try {
                documents.add(Extraction.of(
                                documents.size() + 1,
                                address,
                                String.valueOf(page.get("mediaType")),
                                page.get("charset") instanceof String charset ? charset : null,
                                Base64.getDecoder().decode(String.valueOf(page.get("bytes"))))
                        .json());
            } catch (IOException | IllegalArgumentException malformed) {
                failed.add(Map.of("address", address, "reason", String.valueOf(malformed.getMessage())));
            }
        }
        if (documents.isEmpty()) {
            reply.fail("no source can be read: " + failed);
            return;
        }
        reply.complete(Part.data(Map.of("documents", documents, "failed", failed)));
    }

    private static void compare(StepInput input, Reply reply) {
        List<Source> sources = Source.all(input.require("documents", "research-extract"));
        String topic = input.text("topic").orElse("");
        List<Finding> findings = Finding.compare(Sentences.of(sources), topic);
        if (findings.isEmpty()) {
            reply.fail("topic \"" + topic + "\": no source has a statement about it");
            return;
        }
        reply.complete(Part.data(Map.of(
                "topic", topic, "findings", findings.stream().map(Finding::json).toList())));
    }

    private static void chart(StepInput input, Reply reply) {
        List<Source> sources = Source.all(input.require("documents", "research-extract"));
        List<Finding> findings = Finding.all(input.require("findings", "research-compare"));
        var series = new LinkedHashMap<String, List<Integer>>();
        series.put("shared with other sources", counts(sources, findings, true));
        series.put("of this source only", counts(sources, findings, false));
        Optional<byte[]> png = Charts.stackedBars(
                "Statements by source",
                "statements",
                sources.stream()
                        .map(source -> source.number() + " " + source.title())
                        .toList(),
                series);
        if (png.isPresent()) {
            reply.complete(Part.file("sources.png", "image/png", png.get()));
        } else {
            reply.complete("The chart is left out: this machine has no fonts to draw it with");
        }
    }

    private static List<Integer> counts(List<Source> sources, List<Finding> findings, boolean shared) {
        return sources.stream()
                .map(source -> (int) findings.stream()
                        .filter(finding -> finding.sources().contains(source.number()))
                        .filter(finding -> finding.sources().size() > 1 == shared)
                        .count())
                .toList();
    }

    private static void write(StepInput input, Reply reply) {
        Map<String, @Nullable Object> extracted = input.require("documents", "research-extract");
        List<Source> sources = Source.all(extracted);
        Map<String, @Nullable Object> compared = input.require("findings", "research-compare");
        List<Finding> findings = Finding.all(compared);
        String topic = String.valueOf(compared.get("topic"));
        var report = new Markdown()
                .heading(1, topic.isEmpty() ? "Comparison of sources" : topic)
                .line("%d sources, %d statements, %d of them in several sources."
                        .formatted(
                                sources.size(),
                                findings.size(),
                                findings.stream()
                                        .filter(finding -> finding.sources().size() > 1)
                                        .count()));
        section(
                report,
                "Several sources agree",
                findings,
                finding -> finding.sources().size() > 1 && !finding.differs());
        section(report, "The sources name different numbers", findings, Finding::differs);
        section(
                report,
                "One source says",
                findings,
                finding -> finding.sources().size() == 1);
        byte[] chart = input.bytes().get("sources.png");
        if (chart != null) {
            report.line("").line("![Statements by source](sources.png)");
        }
        report.heading(2, "Sources");
        sources.forEach(source -> report.line(
                source.number() + ". " + Markdown.escaped(source.title()) + ", <" + address(source.address()) + ">"));
        List<@Nullable Object> failed = StepInput.array(extracted.get("failed"));
        if (!failed.isEmpty()) {
            report.heading(2, "Not read");
            failed.stream()
                    .map(StepInput::object)
                    .forEach(entry ->
                            report.line("- " + Markdown.escaped(entry.get("address") + ": " + entry.get("reason"))));
        }
        var parts = new ArrayList<Part>();
        parts.add(new Part.Text(report.toString(), "report.md", "text/markdown", Map.of()));
        if (chart != null) {
            parts.add(Part.file("sources.png", "image/png", chart));
        }
        reply.complete(parts.toArray(Part[]::new));
    }

    private static void section(
            Markdown report, String title, List<Finding> findings, java.util.function.Predicate<Finding> which) {
        List<Finding> shown = findings.stream().filter(which).limit(SHOWN).toList();
        if (shown.isEmpty()) {
            return;
        }
        report.heading(2, title);
        for (Finding finding : shown) {
            report.line("- " + Markdown.escaped(finding.statement()) + " " + citations(finding));
            if (finding.differs()) {
                finding.others()
                        .forEach((source, text) -> report.line("  - " + Markdown.escaped(text) + " [" + source + "]"));
            }
        }
    }

    private static String citations(Finding finding) {
        if (finding.differs()) {
            return finding.sources().stream()
                    .filter(source -> !finding.others().containsKey(source))
                    .map(source -> "[" + source + "]")
                    .collect(Collectors.joining());
        }
        return finding.sources().stream().map(source -> "[" + source + "]").collect(Collectors.joining());
    }

    private static String address(String address) {
        return address.replaceAll("[<>\\s]", "");
    }

    @Override
    public void close() {
        fetch.close();
    }
}
