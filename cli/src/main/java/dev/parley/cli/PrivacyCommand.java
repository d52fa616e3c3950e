package dev.parley.cli;

import dev.parley.dialect.Json;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Model.CommandSpec;

/** {@code parley privacy …}: exports and erases the data of a person or of a context; for operators. */
abstract class PrivacyCommand implements Command {
    private static final int AT_ONCE = 100;
    private static final int ROWS_AT_ONCE = 1_000;

    @Override
    public void describe(CommandSpec spec) {
        spec.addOption(Command.option("--subject", "NAME", "The principal, as its keys or tokens name it."));
        spec.addOption(Command.option("--group", "GROUP", "Its group; default: default."));
        spec.addOption(Command.option("--context", "ID", "Only this context, of any owner."));
        spec.addOption(HubAdmin.option());
    }

    @Override
    public List<Setting<?>> relevant() {
        return HubAdmin.SETTINGS;
    }

    private static Map<String, String> subject(Invocation call) {
        var subject = new LinkedHashMap<String, String>();
        put(subject, "group", call.option("--group"));
        put(subject, "principal", call.option("--subject"));
        put(subject, "contextId", call.option("--context"));
        if (!subject.containsKey("principal") && !subject.containsKey("contextId")) {
            throw CliException.usage("no subject (expected: --subject NAME or --context ID)", null);
        }
        return subject;
    }

    private static void put(Map<String, String> into, String name, @Nullable String value) {
        if (value != null) {
            into.put(name, value);
        }
    }

    /**
     * Saves what there is as JSON lines: tasks, the member, its keys, what it has said in and asked of the knowledge graph, and
     * the rows of the audit.
     */
    static final class Export extends PrivacyCommand {
        @Override
        public void describe(CommandSpec spec) {
            spec.addPositional(Command.argument(0, true, "FILE", "The file, one JSON object a line; replaced."));
            super.describe(spec);
        }

        @Override
        public int run(Invocation call) throws InterruptedException {
            Map<String, String> subject = subject(call);
            Path file = call.around().path(Path.of(call.requiredArgument(0)));
            var counts = new LinkedHashMap<String, Object>();
            try (OutputStream out = HubAdmin.file(file)) {
                counts.put("tasks", tasks(call, subject, out));
                String name = subject.get("principal");
                if (name != null && !subject.containsKey("contextId")) {
                    String group = subject.getOrDefault("group", "default");
                    counts.put("users", members(call, "users", "name", group, name, out));
                    counts.put("keys", members(call, "keys", "principal", group, name, out));
                    for (String what : List.of("statements", "reviews", "questions")) {
                        counts.put(what, knowledge(call, what, group, name, out));
                    }
                    counts.put(
                            "auditRows",
                            rows(call, Map.of("group", group, "actor", name), out)
                                    + rows(call, Map.of("subject", group + "/" + name), out));
                }
            } catch (IOException failed) {
                throw CliException.usage("cannot write " + file + ": " + failed.getMessage(), null);
            }
            call.output()
                    .result(
                            () -> Json.write(counts),
                            page -> counts.forEach((what, count) -> page.field(label(what), count)));
            return 0;
        }

        private static int tasks(Invocation call, Map<String, String> subject, OutputStream out)
                throws IOException, InterruptedException {
            var query = new LinkedHashMap<>(subject);
            query.put("limit", Integer.toString(AT_ONCE));
            int count = 0;
            while (true) {
                List<?> tasks = list(HubAdmin.ask(call, "GET", "/privacy/tasks", query, null), "tasks");
                for (Object task : tasks) {
                    line(out, "task", task);
                    query.put("after", String.valueOf(((Map<?, ?>) task).get("id")));
                }
                count += tasks.size();
                if (tasks.size() < AT_ONCE) {
                    return count;
                }
            }
        }

        private static int members(
                Invocation call, String what, String member, String group, String name, OutputStream out)
                throws IOException, InterruptedException {
            int count = 0;
            for (Object one : list(HubAdmin.ask(call, "GET", "/" + what, Map.of("group", group), null), what)) {
                if (name.equals(((Map<?, ?>) one).get(member))) {
                    line(out, what.substring(0, what.length() - 1), one);
                    count++;
                }
            }
            return count;
        }

        private static int knowledge(Invocation call, String what, String group, String name, OutputStream out)
                throws IOException, InterruptedException {
            var query = new LinkedHashMap<>(Map.of("group", group, "principal", name));
            int count = 0;
            Object next;
            do {
                Map<?, ?> page = HubAdmin.ask(call, "GET", "/privacy/" + what, query, null);
                for (Object one : list(page, what)) {
                    line(out, what.substring(0, what.length() - 1), one);
                    count++;
                }
                next = page.get("next");
                query.put("after", String.valueOf(next));
            } while (next != null);
            return count;
        }

        private static int rows(Invocation call, Map<String, String> filter, OutputStream out)
                throws IOException, InterruptedException {
            int count = 0;
            List<?> rows = AuditCommand.rows(call, filter, 0, ROWS_AT_ONCE);
            while (!rows.isEmpty()) {
                for (Object row : rows) {
                    line(out, "audit", row);
                }
                count += rows.size();
                rows = AuditCommand.rows(call, filter, AuditCommand.number(rows.getLast()), ROWS_AT_ONCE);
            }
            return count;
        }

        private static List<?> list(Map<?, ?> answer, String name) {
            return answer.get(name) instanceof List<?> list ? list : List.of();
        }

        private static void line(OutputStream out, String kind, Object value) throws IOException {
            out.write(Json.write(Map.of(kind, value)));
            out.write('\n');
        }
    }

    /** Removes it. */
    static final class Erase extends PrivacyCommand {
        @Override
        public void describe(CommandSpec spec) {
            spec.addOption(Command.flag("--yes", "Confirm the erasure; required."));
            spec.addOption(Command.flag(
                    "--with-statements",
                    "Also remove statements of the knowledge graph that only this principal made."));
            super.describe(spec);
        }

        @Override
        public int run(Invocation call) throws InterruptedException {
            Map<String, String> subject = subject(call);
            if (!call.has("--yes")) {
                throw CliException.usage(
                        "an erasure cannot be undone (expected: --yes)", "parley privacy export saves it before");
            }
            put(subject, "statements", call.has("--with-statements") ? "true" : null);
            Map<?, ?> done = HubAdmin.ask(call, "POST", "/privacy/erase", subject, Map.of());
            call.output()
                    .result(
                            () -> Json.write(done),
                            page -> done.forEach((what, count) -> page.field(label(String.valueOf(what)), count)));
            return 0;
        }
    }

    private static String label(String count) {
        return switch (count) {
            case "tasks" -> "Tasks";
            case "users" -> "Users";
            case "keys" -> "Keys";
            case "statements" -> "Statements";
            case "reviews" -> "Reviews";
            case "questions" -> "Questions";
            case "knowledgeRows" -> "Knowledge-Rows";
            case "pending" -> "Pending";
            default -> "Audit-Rows";
        };
    }
}
