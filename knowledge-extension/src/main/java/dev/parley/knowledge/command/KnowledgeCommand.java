package dev.parley.knowledge.command;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.parley.command.CommandCall;
import dev.parley.command.CommandException;
import dev.parley.command.Parameters;
import dev.parley.command.ProgramCommand;
import dev.parley.dialect.Json;
import dev.parley.knowledge.api.KnowledgeEndpoint;
import dev.parley.knowledge.api.KnowledgeExtension;
import dev.parley.knowledge.api.KnowledgeOperation;
import dev.parley.knowledge.api.KnowledgeOperation.Change;
import dev.parley.knowledge.api.KnowledgeOperation.Query;
import dev.parley.knowledge.api.KnowledgeOperation.QueryResult;
import dev.parley.knowledge.api.KnowledgeOperation.Subscribe;
import dev.parley.knowledge.api.KnowledgeOperation.Update;
import dev.parley.knowledge.api.KnowledgeOperation.UpdateResult;
import dev.parley.knowledge.api.KnowledgeSchema;
import dev.parley.knowledge.api.Patch;
import dev.parley.knowledge.api.Statement;
import dev.parley.knowledge.api.Term;
import dev.parley.knowledge.api.Term.Literal;
import dev.parley.knowledge.api.Term.Resource;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.Feed;
import java.math.BigDecimal;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Model.CommandSpec;

/** {@code parley kg …}: the knowledge graph of an agent. */
abstract class KnowledgeCommand implements ProgramCommand {
    private static final Duration PATIENCE = Duration.ofMinutes(1);

    @Override
    public List<String> settings() {
        return List.of("--timeout");
    }

    @Override
    public int run(CommandCall call) throws InterruptedException {
        return call.connect(agent -> {
            run(call, KnowledgeExtension.endpoint(agent, agent.card()));
            return 0;
        });
    }

    abstract void run(CommandCall call, KnowledgeEndpoint graph) throws InterruptedException;

    // ---- What several of them share

    /** Asks in GraphQL, for commands that know what comes back. */
    static Map<?, ?> ask(KnowledgeEndpoint graph, String graphql, Map<String, @Nullable Object> variables) {
        QueryResult found = graph.query(Query.graphql(graphql, variables), CallContext.anonymous());
        return found.data() instanceof Map<?, ?> data ? data : Map.of();
    }

    /** The nodes of a page in an answer. */
    static List<Map<?, ?>> nodes(@Nullable Object page) {
        var nodes = new ArrayList<Map<?, ?>>();
        if (page instanceof Map<?, ?> members && members.get("nodes") instanceof List<?> all) {
            all.forEach(one -> nodes.add((Map<?, ?>) one));
        }
        return nodes;
    }

    /** Returns the start of the next page of an answer; null if there is none. */
    static @Nullable String nextPage(@Nullable Object page) {
        return page instanceof Map<?, ?> members
                        && members.get("pageInfo") instanceof Map<?, ?> info
                        && Boolean.TRUE.equals(info.get("hasNextPage"))
                ? String.valueOf(info.get("endCursor"))
                : null;
    }

    static Map<String, @Nullable Object> object(CommandCall call, String option) {
        String typed = call.option(option);
        if (typed == null) {
            return Map.of();
        }
        try {
            var members = new LinkedHashMap<String, @Nullable Object>();
            Map<?, ?> read = Json.read(call.text(typed).getBytes(UTF_8), Map.class);
            read.forEach((name, value) -> members.put(String.valueOf(name), value));
            return members;
        } catch (A2AException wrong) {
            throw CommandException.usage(
                    "invalid " + option + ": " + wrong.getMessage() + " (expected: a JSON object)", null);
        }
    }

    static @Nullable Double certainty(CommandCall call) {
        String typed = call.option("--certainty");
        try {
            Double certainty = typed == null ? null : Double.valueOf(typed);
            if (certainty == null || certainty >= 0 && certainty <= 1) {
                return certainty;
            }
        } catch (NumberFormatException wrong) {
            // Said below, as for numbers out of range.
        }
        throw CommandException.usage("invalid --certainty: " + typed + " (expected: 0 to 1)", null);
    }

    /** A term for people: an id as it is, a value as JSON has it. */
    static String shown(Term term) {
        return switch (term) {
            case Resource resource -> resource.id();
            case Literal literal -> {
                String value = new String(Json.write(literal.isPlain() ? literal.value() : literal.lexical()), UTF_8);
                yield literal.isPlain()
                        ? value
                        : literal.language() == null
                                ? value + "^^" + literal.datatype()
                                : value + "@" + literal.language();
            }
        };
    }

    // ---- The commands

    /** Asks. */
    static final class Ask extends KnowledgeCommand {
        @Override
        public void describe(CommandSpec spec) {
            spec.addPositional(Parameters.argument(
                    0, true, "QUERY", "In GraphQL or SPARQL; - for standard input, @FILE for a file."));
            spec.addOption(Parameters.option("--language", "NAME", "graphql or sparql; default: as the query looks."));
            spec.addOption(
                    Parameters.option("--variables", "JSON", "Values of the query's variables; @FILE for a file."));
            spec.addOption(Parameters.option("--certainty", "N", "Hide statements with a lower certainty, 0 to 1."));
            spec.addOption(Parameters.option("--max-age", "SECONDS", "Hide statements that are older."));
        }

        @Override
        public List<String> settings() {
            return List.of("--task-id", "--timeout");
        }

        @Override
        void run(CommandCall call, KnowledgeEndpoint graph) {
            String text = call.text(call.requiredArgument(0));
            String language = call.option("--language");
            Integer age = call.number("--max-age", 0, Integer.MAX_VALUE);
            var query = new Query(
                    text,
                    language == null ? language(text) : language,
                    object(call, "--variables"),
                    certainty(call),
                    age == null ? null : Duration.ofSeconds(age),
                    call.setting("--task-id"),
                    null,
                    Map.of());
            QueryResult found = graph.query(query, CallContext.anonymous());
            if (call.output().isJson()) {
                call.output().result(() -> Json.write(found), text2 -> {});
            } else {
                call.output().layout(found.data());
                hidden(call, found);
            }
        }

        /** Prints the metadata of an answer, such as the number of hidden statements. */
        private static void hidden(CommandCall call, QueryResult found) {
            for (String name : List.of("hiddenByCertainty", "hiddenByAge")) {
                if (found.metadata().get(name) instanceof Number number && number.longValue() > 0) {
                    call.output().note(name + ": " + number);
                }
            }
        }

        private static String language(String query) {
            String start =
                    query.strip().replaceFirst("(?s)^(\\s*#[^\\n]*\\n)+", "").strip();
            boolean sparql =
                    start.toUpperCase(Locale.ROOT).matches("(?s)(PREFIX|BASE|SELECT|ASK|CONSTRUCT|DESCRIBE)\\b.*");
            return sparql ? KnowledgeOperation.SPARQL : KnowledgeOperation.GRAPHQL;
        }
    }

    /** Changes. */
    static final class Tell extends KnowledgeCommand {
        private static final Map<String, Patch.Op> OPS =
                Map.of("add", Patch.Op.ADD, "remove", Patch.Op.REMOVE, "replace", Patch.Op.REPLACE);

        @Override
        public void describe(CommandSpec spec) {
            spec.addPositional(Parameters.argument(0, false, "OP", "add, remove or replace."));
            spec.addPositional(Parameters.argument(1, false, "SUBJECT", "Its id, such as ex:p1."));
            spec.addPositional(Parameters.argument(2, false, "PREDICATE", "Its id, such as ex:status."));
            spec.addPositional(Parameters.argument(
                    3, false, "OBJECT", "A value if it is JSON (42, true, '\"text\"'), else an id."));
            spec.addOption(Parameters.option("--type", "ID", "Type of the subject."));
            spec.addOption(Parameters.option("--datatype", "ID", "The datatype of a value, such as xsd:date."));
            spec.addOption(Parameters.option("--lang", "TAG", "The language of a text, such as de."));
            spec.addOption(Parameters.option("--graph", "ID", "The graph; default: the default graph."));
            spec.addOption(Parameters.option("--certainty", "N", "Certainty of the statement, 0 to 1."));
            spec.addOption(Parameters.option(
                    "--patches", "JSON", "Instead: a list of patches; - for standard input, @FILE for a file."));
            spec.addOption(Parameters.option("--sparql", "UPDATE", "Instead: an update in SPARQL 1.1; -, @FILE."));
            spec.addOption(Parameters.option("--because", "TEXT", "Reason, for the history."));
            spec.addOption(Parameters.option("--source", "AGENT", "Source of the statement."));
            spec.addOption(Parameters.option("--metadata", "JSON", "Such as {\"ifRevision\": 7}."));
        }

        @Override
        public List<String> settings() {
            return List.of("--task-id", "--timeout");
        }

        @Override
        void run(CommandCall call, KnowledgeEndpoint graph) {
            UpdateResult result = graph.update(update(call), CallContext.anonymous());
            call.output()
                    .result(
                            () -> Json.write(result),
                            page -> page.field("Success", result.success())
                                    .field("Affected", result.statementsAffected())
                                    .field("Status", result.verificationStatus())
                                    .field("Details", result.verificationDetails()));
            if (!result.success()) {
                throw CommandException.failed(
                        "KnowledgeUpdateRejected", String.valueOf(result.verificationStatus()), null);
            }
        }

        private static Update update(CommandCall call) {
            String patches = call.option("--patches");
            String sparql = call.option("--sparql");
            String op = call.argument(0);
            if ((patches == null ? 0 : 1) + (sparql == null ? 0 : 1) + (op == null ? 0 : 1) != 1) {
                throw CommandException.usage(
                        "nothing, or more than one thing, to change (expected: OP SUBJECT PREDICATE OBJECT, --patches or"
                                + " --sparql)",
                        "such as: parley kg update add ex:p1 ex:status '\"done\"'");
            }
            Map<String, @Nullable Object> metadata = object(call, "--metadata");
            List<Patch> all =
                    patches != null ? patches(call.text(patches)) : op != null ? List.of(patch(call, op)) : List.of();
            return new Update(
                    all,
                    sparql == null ? null : call.text(sparql),
                    call.option("--source"),
                    call.option("--because"),
                    call.setting("--task-id"),
                    null,
                    metadata);
        }

        private static List<Patch> patches(String json) {
            try {
                byte[] wrapped = ("{\"mutations\":" + json + "}").getBytes(UTF_8);
                return Json.read(wrapped, Update.class).mutations();
            } catch (A2AException wrong) {
                throw CommandException.usage(
                        "invalid --patches: " + wrong.getMessage(),
                        "such as: [{\"op\":\"add\",\"statement\":{\"subject\":{\"id\":\"ex:p1\"},"
                                + "\"predicate\":{\"id\":\"ex:status\"},\"object\":{\"value\":\"done\"}}}]");
            }
        }

        private static Patch patch(CommandCall call, String typed) {
            Patch.Op op = OPS.get(typed);
            String subject = call.argument(1);
            String predicate = call.argument(2);
            String object = call.argument(3);
            if (op == null || subject == null || predicate == null || object == null) {
                throw CommandException.usage(
                        "a patch needs OP SUBJECT PREDICATE OBJECT, where OP is add, remove or replace",
                        "such as: parley kg update add ex:p1 ex:status '\"done\"'");
            }
            var statement = new Statement(
                    new Resource(subject, call.option("--type")),
                    predicate,
                    term(object, call.option("--datatype"), call.option("--lang")),
                    call.option("--graph"),
                    certainty(call),
                    Map.of());
            return new Patch(op, statement);
        }

        private static Term term(String typed, @Nullable String datatype, @Nullable String language) {
            Object value = value(typed);
            if (language != null) {
                return Literal.of(value == null ? typed : value.toString(), language);
            }
            if (datatype != null) {
                return new Literal(value == null ? typed : value.toString(), datatype, null);
            }
            return switch (value) {
                case null -> Resource.of(typed);
                case Boolean truth -> Literal.of(truth);
                case Number number -> Literal.of(new BigDecimal(number.toString()));
                default -> Literal.of(value.toString());
            };
        }

        /** The text, number or boolean that was typed as JSON; null for an id. */
        private static @Nullable Object value(String typed) {
            try {
                Object value = Json.read(("{\"value\":" + typed + "}").getBytes(UTF_8), Map.class)
                        .get("value");
                return value instanceof Map || value instanceof List ? null : value;
            } catch (A2AException id) {
                return null;
            }
        }
    }

    /** Watches. */
    static final class Watch extends KnowledgeCommand {
        private static final String ALL =
                "subscription($filter: StatementFilter) {" + " knowledgeChanged(filter: $filter) { changeId } }";

        @Override
        public void describe(CommandSpec spec) {
            spec.addPositional(Parameters.argument(
                    0,
                    false,
                    "QUERY",
                    "A GraphQL subscription; -, @FILE; default: all changes, or the changes that the options select."));
            spec.addOption(
                    Parameters.option("--variables", "JSON", "Values of the query's variables; @FILE for a file."));
            spec.addOption(Parameters.option("--subject", "ID", "Only statements with this subject."));
            spec.addOption(Parameters.option("--predicate", "ID", "Only statements with this predicate."));
            spec.addOption(Parameters.option("--graph", "ID", "Only this graph; default for the default graph."));
            spec.addOption(Parameters.flag("--snapshot", "Begin with the existing statements."));
            spec.addOption(Parameters.option("--after", "CHANGE-ID", "Go on after a change."));
            spec.addOption(Parameters.option("--count", "N", "End after so many changes; default: never."));
        }

        @Override
        void run(CommandCall call, KnowledgeEndpoint graph) throws InterruptedException {
            Integer count = call.number("--count", 1, Integer.MAX_VALUE);
            int left = count == null ? Integer.MAX_VALUE : count;
            try (Feed<Change> changes = graph.subscribe(subscription(call), CallContext.anonymous())) {
                for (List<Change> next = changes.next(PATIENCE); next != null; next = changes.next(PATIENCE)) {
                    for (Change change : next) {
                        show(call, change);
                        if (count != null && --left == 0) {
                            return;
                        }
                    }
                }
            }
        }

        private static Subscribe subscription(CommandCall call) {
            String query = call.argument(0);
            var metadata = new LinkedHashMap<String, @Nullable Object>();
            if (call.has("--snapshot")) {
                metadata.put("snapshot", true);
            }
            if (call.option("--after") != null) {
                metadata.put("afterChangeId", call.option("--after"));
            }
            Subscribe asked = query == null
                    ? Subscribe.graphql(ALL, Map.of("filter", filter(call)))
                    : Subscribe.graphql(call.text(query), object(call, "--variables"));
            return asked.with(metadata);
        }

        private static Map<String, @Nullable Object> filter(CommandCall call) {
            var filter = new LinkedHashMap<String, @Nullable Object>();
            Map.of("--subject", "subjects", "--predicate", "predicates", "--graph", "graphs")
                    .forEach((option, field) -> {
                        String typed = call.option(option);
                        if (typed != null) {
                            filter.put(field, List.of(typed));
                        }
                    });
            return filter;
        }

        private static void show(CommandCall call, Change change) {
            if (call.output().isJson()) {
                call.output().result(() -> Json.write(change), text -> {});
                return;
            }
            Statement said = change.statement();
            String line = String.join(
                    "  ",
                    change.timestamp().toString(),
                    change.op().name().toLowerCase(Locale.ROOT),
                    said.subject().id(),
                    said.predicate(),
                    shown(said.object()));
            String certainty = said.certainty() == null ? "" : "  (" + said.certainty() + ")";
            call.output().line(line + certainty);
        }
    }

    /** Shows the GraphQL schema. */
    static final class Schema implements ProgramCommand {
        @Override
        public void describe(CommandSpec spec) {}

        @Override
        public int run(CommandCall call) throws InterruptedException {
            return call.connect(agent -> {
                String schema = agent.call(new KnowledgeSchema(), CallContext.anonymous());
                if (call.output().isJson()) {
                    call.output().result(() -> Json.write(Map.of("schema", schema)), text -> {});
                } else {
                    call.output().print(schema.endsWith("\n") ? schema : schema + "\n");
                }
                return 0;
            });
        }
    }

    /** Tells how much there is. */
    static final class Stats extends KnowledgeCommand {
        @Override
        public void describe(CommandSpec spec) {}

        @Override
        void run(CommandCall call, KnowledgeEndpoint graph) {
            Map<?, ?> data = ask(graph, "{ graphs { name statements } }", Map.of());
            call.output().result(() -> Json.write(data), page -> {
                long all = 0;
                if (data.get("graphs") instanceof List<?> graphs) {
                    for (Object one : graphs) {
                        Map<?, ?> info = (Map<?, ?>) one;
                        Object name = info.get("name");
                        all += info.get("statements") instanceof Number number ? number.longValue() : 0;
                        page.field("Graph", name == null ? "default" : name)
                                .field("Statements", info.get("statements"))
                                .gap();
                    }
                }
                page.field("Total-Statements", all);
            });
        }
    }
}
