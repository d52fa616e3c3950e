package dev.parley.registry.client.command;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.Objects.requireNonNull;
import static java.util.Objects.requireNonNullElse;

import dev.parley.client.AgentClient;
import dev.parley.command.CommandCall;
import dev.parley.command.CommandException;
import dev.parley.command.CommandException.Kind;
import dev.parley.command.Parameters;
import dev.parley.command.RowCommand;
import dev.parley.command.RowParameters;
import dev.parley.command.SafeText;
import dev.parley.dialect.Json;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.Operation;
import dev.parley.protocol.extension.ExtensionMethod;
import dev.parley.protocol.extension.RestParameter;
import dev.parley.registry.EntryModel;
import dev.parley.registry.ExchangeOperation;
import dev.parley.registry.ExchangeOperation.ExportPage;
import dev.parley.registry.ExchangeOperation.Imported;
import dev.parley.registry.ExchangeOperation.ImportedEntry;
import dev.parley.registry.InspectionOperation;
import dev.parley.registry.InspectionOperation.Inspection;
import dev.parley.registry.InspectionOperation.Signature;
import dev.parley.registry.client.Registry;
import java.io.BufferedWriter;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Model.CommandSpec;

/** {@code parley agent …}: an operation of a registry. Arguments, options and help are derived from its row. */
class AgentCommand extends RowCommand {
    private static final String LOCAL_HUB = "http://127.0.0.1:7420";

    /** Parameters that commands have as arguments or do themselves. */
    private static final Set<String> OWN = Set.of("url", "card", "bytes");

    /** Columns of a list of entries; the others are in JSON and in {@code show}. */
    private static final List<String> ENTRY =
            List.of("id", "name", "version", "visibility", "status", "health", "trust", "score", "why");

    AgentCommand(ExtensionMethod<?, ?> row) {
        super(row);
    }

    static String hub(CommandCall call) {
        return requireNonNullElse(call.option("--url"), LOCAL_HUB);
    }

    @Override
    public Target target() {
        return Target.ADMINISTRATION;
    }

    @Override
    public void describe(CommandSpec spec) {
        RowParameters.describe(spec, parameters());
    }

    @Override
    protected List<RestParameter> parameters() {
        return super.parameters().stream()
                .filter(one -> !OWN.contains(one.name()) || one.flag().isEmpty())
                .toList();
    }

    @Override
    public int run(CommandCall call) throws InterruptedException {
        Map<String, Object> values = values(call);
        return call.connect(Registry.agent(hub(call)), registry -> {
            answer(call, registry, row(), values);
            return 0;
        });
    }

    /** Calls an operation, and shows its answer. */
    static <A, O extends Operation.Extension> void answer(
            CommandCall call, AgentClient registry, ExtensionMethod<O, A> row, Map<String, ?> values) {
        show(call, json(row, call(registry, row, values)));
    }

    /** Calls an operation. */
    static <A, O extends Operation.Extension> A call(
            AgentClient registry, ExtensionMethod<O, A> row, Map<String, ?> values) {
        @SuppressWarnings("unchecked") // a row with one answer has the call of one
        var operation = (Operation.ExtensionCall<A>) row.request().fromJson(values);
        return registry.call(operation, CallContext.anonymous());
    }

    /** An answer in JSON, for files, tables and {@code --json}. */
    private static <A> Object json(ExtensionMethod<?, A> row, A answer) {
        return requireNonNull(row.answer().toJson(answer));
    }

    private static void show(CommandCall call, Object answer) {
        if (!(answer instanceof Map<?, ?> members)) {
            call.output().result(() -> Json.write(answer), page -> page.layout("Answer", answer));
        } else if (!call.output().isJson() && members.get("bytes") instanceof String document) {
            call.output().print(new String(Base64.getDecoder().decode(document), UTF_8) + "\n");
        } else {
            List<?> rows = call.output().isJson() ? null : list(members);
            if (rows == null) {
                object(call, members);
                return;
            }
            call.output().print(table(rows).text());
            if (members.get("nextPageToken") instanceof String next) {
                call.output().note("More with: --page-token " + next);
            }
        }
    }

    private static void object(CommandCall call, Map<?, ?> members) {
        call.output().result(() -> Json.write(members), page -> fields(page, members));
    }

    /** The list of an answer that is a page of one; null for others. */
    private static @Nullable List<?> list(Map<?, ?> members) {
        List<List<?>> lists = new ArrayList<>();
        members.values().forEach(value -> {
            if (value instanceof List<?> list && list.stream().allMatch(Map.class::isInstance)) {
                lists.add(list);
            }
        });
        boolean isPage = !members.containsKey("id") && lists.size() == 1;
        return isPage ? lists.getFirst() : null;
    }

    static JsonTable table(List<?> rows) {
        return JsonTable.of(rows.stream().map(row -> summary((Map<?, ?>) row)).toList());
    }

    /** A row of a table: of an entry its columns, of nested objects their status or outcome. */
    private static Map<?, ?> summary(Map<?, ?> row) {
        if (row.get("agent") instanceof Map<?, ?> found) { // in a result of a search
            var flat = new LinkedHashMap<Object, Object>(found);
            flat.putAll(row);
            flat.remove("agent");
            return summary(flat);
        }
        boolean entry = row.containsKey("digest") && row.containsKey("owner");
        var summary = new LinkedHashMap<Object, Object>();
        row.forEach((name, value) -> {
            Object shown = value instanceof Map<?, ?> map
                    ? map.get("status") instanceof String status
                            ? status
                            : map.get("outcome") instanceof String outcome ? outcome : map
                    : value;
            if (shown != null && (!entry || ENTRY.contains(name.toString()))) {
                summary.put(name, shown);
            }
        });
        return summary;
    }

    /** {@code register CARD-URL|FILE}. */
    static class Register extends AgentCommand {
        Register(ExtensionMethod<?, ?> row) {
            super(row);
        }

        @Override
        public void describe(CommandSpec spec) {
            spec.addPositional(
                    Parameters.argument(
                            0,
                            true,
                            "CARD-URL|FILE",
                            "Address of the card, which the registry fetches, or a card file, whose bytes it reads unchanged."));
            super.describe(spec);
        }

        @Override
        protected Map<String, Object> values(CommandCall call) {
            Map<String, Object> values = super.values(call);
            String typed = call.requiredArgument(0);
            if (typed.contains("://")) {
                values.put("url", typed);
            } else {
                values.put(
                        "bytes",
                        CommandException.reading(
                                "cannot read the card ",
                                null,
                                () -> Base64.getEncoder().encodeToString(Files.readAllBytes(call.path(typed)))));
            }
            return values;
        }
    }

    /** {@code inspect CARD-URL|FILE}: dialect and verdict, a table of findings, and a table of interfaces. */
    static final class Inspect extends Register {
        Inspect(ExtensionMethod<?, ?> row) {
            super(row);
        }

        @Override
        protected List<RestParameter> parameters() {
            return List.of(); // agents of the hub and entries have addresses, too
        }

        @Override
        public int run(CommandCall call) throws InterruptedException {
            Map<String, Object> values = values(call);
            return call.connect(Registry.agent(hub(call)), registry -> {
                Inspection inspection = call(registry, InspectionOperation.INSPECT, values);
                Map<?, ?> answer = (Map<?, ?>) json(InspectionOperation.INSPECT, inspection);
                if (call.output().isJson()) {
                    show(call, answer);
                    return 0;
                }
                Signature signature = inspection.signature();
                call.output()
                        .print("Dialect: %s%nSignature: %s, %s%n%n%s%n%s"
                                .formatted(
                                        inspection.dialects().getFirst(),
                                        EntryModel.word(signature.outcome()),
                                        SafeText.oneLine(signature.reason()),
                                        table(answer, "findings", "No finding"),
                                        table(answer, "interfaces", "No interface")));
                return 0;
            });
        }

        private static String table(Map<?, ?> answer, String list, String none) {
            return answer.get(list) instanceof List<?> rows && !rows.isEmpty()
                    ? JsonTable.of(rows).text()
                    : none + "\n";
        }
    }

    /** {@code search WORDS}: all words are one query. */
    static final class Search extends AgentCommand {
        Search(ExtensionMethod<?, ?> row) {
            super(row);
        }

        @Override
        public void describe(CommandSpec spec) {
            for (RestParameter one : parameters()) {
                if (one.name().equals("q")) {
                    spec.addPositional(Parameters.words(true, one.label(), one.description()));
                } else {
                    RowParameters.describe(spec, List.of(one));
                }
            }
        }

        @Override
        protected List<RestParameter> parameters() {
            return super.parameters().stream()
                    .map(one -> one.name().equals("q") ? one.asArgument() : one)
                    .toList();
        }
    }

    /** {@code import FILE}: JSON lines, some at a time. */
    static final class Import extends AgentCommand {
        private static final int AT_ONCE = 100;

        Import(ExtensionMethod<?, ?> row) {
            super(row);
        }

        @Override
        public void describe(CommandSpec spec) {
            spec.addPositional(
                    Parameters.argument(0, true, "FILE", "JSON lines, as \"parley agent export\" writes them."));
        }

        @Override
        public int run(CommandCall call) throws InterruptedException {
            Path file = call.path(call.requiredArgument(0));
            List<String> lines = CommandException.reading("cannot read ", null, () -> Files.readAllLines(file)).stream()
                    .filter(line -> !line.isBlank())
                    .toList();
            return call.connect(Registry.agent(hub(call)), registry -> {
                var problems = new ArrayList<String>();
                for (int from = 0; from < lines.size(); from += AT_ONCE) {
                    List<String> some = lines.subList(from, Math.min(lines.size(), from + AT_ONCE));
                    List<?> entries = some.stream()
                            .map(line -> Json.read(line.getBytes(UTF_8), Map.class))
                            .toList();
                    var export = Map.of("export", Map.of("entries", entries));
                    Imported imported = call(registry, ExchangeOperation.IMPORT, export);
                    for (ImportedEntry entry : requireNonNullElse(imported.results(), List.<ImportedEntry>of())) {
                        if (entry.problem() != null) {
                            problems.add(entry.problem());
                        }
                    }
                    call.output().progress(Math.min(lines.size(), from + AT_ONCE) + " of " + lines.size());
                }
                var done = new LinkedHashMap<String, Object>();
                done.put("imported", lines.size() - problems.size());
                done.put("problems", problems);
                object(call, done);
                return problems.isEmpty() ? 0 : 1;
            });
        }
    }

    /** {@code export FILE}: all pages of a list as JSON lines. */
    static final class Export extends AgentCommand {
        Export(ExtensionMethod<?, ?> row) {
            super(row);
        }

        @Override
        public void describe(CommandSpec spec) {
            spec.addPositional(Parameters.argument(0, true, "FILE", "The file, one JSON object a line; replaced."));
        }

        @Override
        public int run(CommandCall call) throws InterruptedException {
            Path file = call.path(call.requiredArgument(0));
            return call.connect(Registry.agent(hub(call)), registry -> {
                long count = 0;
                try (BufferedWriter out = Files.newBufferedWriter(file)) {
                    String token = null;
                    do {
                        Map<String, String> values = token == null ? Map.of() : Map.of("pageToken", token);
                        ExportPage page = call(registry, ExchangeOperation.EXPORT, values);
                        Map<?, ?> document = (Map<?, ?>) json(ExchangeOperation.EXPORT, page);
                        for (Object one : requireNonNullElse(list(document), List.of())) {
                            out.write(new String(Json.write(one), UTF_8));
                            out.write('\n');
                            count++;
                        }
                        call.output().progress(String.valueOf(count));
                        token = page.next();
                    } while (token != null);
                } catch (IOException failed) {
                    throw CommandException.of(
                            Kind.INTERNAL, "cannot write " + file + ": " + failed.getMessage(), null, failed);
                }
                var done = new LinkedHashMap<String, Object>();
                done.put("file", file.toString());
                done.put("agents", count);
                object(call, done);
                return 0;
            });
        }
    }
}
