package dev.parley.pipelines;

import dev.parley.command.CommandCall;
import dev.parley.pipelines.research.ResearchAgents;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code parley demo research}. */
@Command(
        name = "research",
        footer = {
            "",
            "Five agents fetch pages and files, read them, compare their statements, and write a report with citations and"
                    + " a chart. Without <source>, three samples about tidal power are used."
        })
final class DemoResearchCommand extends DemoCommand {
    private static final List<String> SAMPLES = List.of("tides.html", "barrages.md", "currents.html");

    @Parameters(
            arity = "0..*",
            paramLabel = "<source>",
            description = "Addresses of pages, or files: HTML, PDF or text, at most 20 of 2 MiB each.")
    private List<String> sources = List.of();

    @Option(names = "--topic", description = "Words that the report is about (default: all statements).")
    private @Nullable String topic;

    @Option(
            names = "--allow",
            split = ",",
            paramLabel = "<host>",
            description = "Hosts that may be fetched from although they are not public.")
    private List<String> allowed = List.of();

    @Override
    String pipeline() {
        return "research";
    }

    @Override
    Map<String, Map<String, @Nullable Object>> parameters(CommandCall call) throws IOException {
        var fetch = new LinkedHashMap<String, @Nullable Object>();
        var pages = new ArrayList<String>();
        for (String source : sources) {
            if (source.startsWith("http://") || source.startsWith("https://")) {
                pages.add(source);
            } else {
                Path path = call.path(source);
                fetch.put("file" + fetch.size(), file(path.getFileName().toString(), Files.readAllBytes(path)));
            }
        }
        if (sources.isEmpty()) {
            for (String name : SAMPLES) {
                fetch.put("file" + fetch.size(), file(name, sample(name)));
            }
        }
        fetch.put("sources", pages);
        String about = topic != null ? topic : sources.isEmpty() ? "turbines in tidal currents and barrages" : "";
        return Map.of("fetch", fetch, "compare", Map.of("topic", about));
    }

    @Override
    int withAgents(Hosted run) throws InterruptedException {
        try (var agents = new ResearchAgents(allowed)) {
            return run.run(agents.all());
        }
    }
}
