package dev.parley.knowledge.command;

import dev.parley.command.CommandCall;
import dev.parley.command.CommandException;
import dev.parley.command.Parameters;
import dev.parley.dialect.Json;
import dev.parley.knowledge.api.KnowledgeEndpoint;
import dev.parley.knowledge.api.Statement;
import dev.parley.knowledge.rdf.RdfFileException;
import dev.parley.knowledge.rdf.RdfFiles;
import java.io.BufferedOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Model.CommandSpec;

/** {@code parley kg export}: all statements, or those of a graph, as a file. */
final class KnowledgeExportCommand extends KnowledgeCommand {
    private static final String PAGE = "query($filter: StatementFilter, $after: String) {"
            + " statements(filter: $filter, first: 500, after: $after) {"
            + " nodes { subject { id } predicate object { id value type language } graph certainty }"
            + " pageInfo { hasNextPage endCursor } } }";

    @Override
    public void describe(CommandSpec spec) {
        spec.addPositional(Parameters.argument(0, false, "FILE", "Output file; default: standard output."));
        spec.addOption(Parameters.option(
                "--format",
                "NAME",
                "Default: by the ending of the file's name, else turtle. " + KnowledgeImportCommand.formats()));
        spec.addOption(Parameters.option("--graph", "ID", "Only this graph; default for the default graph."));
        spec.addOption(Parameters.option("--certainty", "N", "Only statements with at least this certainty, 0 to 1."));
    }

    @Override
    void run(CommandCall call, KnowledgeEndpoint graph) {
        String file = call.argument(0);
        RdfFiles.Format format = call.option("--format") == null
                ? RdfFiles.Format.of(file == null ? "" : file).orElse(RdfFiles.Format.TURTLE)
                : KnowledgeImportCommand.format(call, file);
        if (format == RdfFiles.Format.RDF_XML) {
            throw CommandException.usage("invalid --format: RDF/XML is read only", "such as --format turtle");
        }
        long count;
        try (OutputStream out = file == null
                ? new BufferedOutputStream(call.out())
                : new BufferedOutputStream(Files.newOutputStream(call.path(file)))) {
            count = write(call, graph, out, format);
        } catch (IOException unwritable) {
            throw CommandException.usage("cannot write " + file + ": " + unwritable.getMessage(), null);
        } catch (RdfFileException cannot) {
            throw CommandException.failed("InvalidFile", String.valueOf(cannot.getMessage()), "--format csv holds all");
        }
        if (file != null) {
            call.output()
                    .result(
                            () -> Json.write(Map.of("statements", count)),
                            page -> page.field("Statements", count).field("Saved", file));
        }
    }

    private static long write(CommandCall call, KnowledgeEndpoint graph, OutputStream out, RdfFiles.Format format) {
        var filter = new LinkedHashMap<String, @Nullable Object>();
        if (call.option("--graph") != null) {
            filter.put("graphs", List.of(String.valueOf(call.option("--graph"))));
        }
        if (certainty(call) != null) {
            filter.put("minCertainty", certainty(call));
        }
        long count = 0;
        try (RdfFiles.Writer writer = RdfFiles.writer(out, format)) {
            String after = null;
            do {
                var variables = new LinkedHashMap<String, @Nullable Object>();
                variables.put("filter", filter);
                variables.put("after", after);
                Object page = ask(graph, PAGE, variables).get("statements");
                for (Map<?, ?> node : nodes(page)) {
                    writer.write(statement(node));
                    count++;
                }
                call.output().progress(count + " statements");
                after = nextPage(page);
            } while (after != null);
        }
        return count;
    }

    /** A statement as GraphQL shows it, which is not far from how the extension does. */
    private static Statement statement(Map<?, ?> node) {
        var members = new LinkedHashMap<String, @Nullable Object>();
        node.forEach((name, value) -> members.put(String.valueOf(name), value));
        members.put("predicate", Map.of("id", String.valueOf(node.get("predicate"))));
        return Json.read(Json.write(members), Statement.class);
    }
}
