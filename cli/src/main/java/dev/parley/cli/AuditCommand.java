package dev.parley.cli;

import dev.parley.dialect.Json;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import picocli.CommandLine.Model.CommandSpec;

/** {@code parley audit …}: reads and verifies the audit log; for operators, not part of A2A. */
abstract class AuditCommand implements Command {
    private static final int ROWS_AT_ONCE = 1_000;
    private static final int SHOWN = 20;
    private static final List<String> FILTERS = List.of("group", "actor", "action", "target", "subject", "since");

    @Override
    public void describe(CommandSpec spec) {
        spec.addOption(HubAdmin.option());
        spec.addOption(Command.option("--data", "DIR", "The data directory of a hub instead, which may be running."));
    }

    @Override
    public List<Setting<?>> relevant() {
        return HubAdmin.SETTINGS;
    }

    static void describeFilters(CommandSpec spec) {
        spec.addOption(Command.option("--group", "GROUP", "Rows of one group."));
        spec.addOption(Command.option("--actor", "NAME", "Actions of one principal, even if its name was erased."));
        spec.addOption(Command.option("--action", "ACTION", "Such as task.created or key.revoked."));
        spec.addOption(Command.option("--target", "ID", "Actions on one task, key, graph, …"));
        spec.addOption(Command.option("--subject", "GROUP/NAME", "Actions that concern one member."));
        spec.addOption(Command.option("--since", "TIME", "Such as 2027-01-31T12:00:00Z."));
    }

    static Map<String, String> filters(Invocation call) {
        var query = new LinkedHashMap<String, String>();
        for (String name : FILTERS) {
            String value = call.typed().commandSpec().findOption("--" + name) == null ? null : call.option("--" + name);
            if (value != null) {
                query.put(name, value);
            }
        }
        return query;
    }

    /** The rows behind a number, and how far one has come with them. */
    static List<?> rows(Invocation call, Map<String, String> filters, long after, int limit)
            throws InterruptedException {
        var query = new LinkedHashMap<>(filters);
        query.put("after", Long.toString(after));
        query.put("limit", Integer.toString(limit));
        return HubAdmin.ask(call, "GET", "/audit", query, null).get("rows") instanceof List<?> rows ? rows : List.of();
    }

    static long number(Object row) {
        return row instanceof Map<?, ?> members && members.get("number") instanceof Number number
                ? number.longValue()
                : 0;
    }

    private static void print(Invocation call, Object row) {
        Map<?, ?> shown = (Map<?, ?>) row;
        call.output()
                .result(
                        () -> Json.write(shown),
                        page -> page.field(
                                String.valueOf(shown.get("number")),
                                shown.get("at") + " " + shown.get("group") + "/" + shown.get("actor") + " "
                                        + shown.get("action") + " "
                                        + shown.get("target") + " "
                                        + (shown.get("subject") == null ? "" : "about " + shown.get("subject") + " ")
                                        + shown.get("outcome")
                                        + (shown.get("address") == null ? "" : " from " + shown.get("address"))
                                        + (shown.get("detail") == null
                                                ? ""
                                                : " "
                                                        + new String(
                                                                Json.write(shown.get("detail")),
                                                                StandardCharsets.UTF_8))));
    }

    /** Shows the newest rows. */
    static final class Tail extends AuditCommand {
        @Override
        public void describe(CommandSpec spec) {
            spec.addOption(Command.option("-n", "ROWS", "How many; default: " + SHOWN + "."));
            super.describe(spec);
        }

        @Override
        public int run(Invocation call) throws InterruptedException {
            Integer wanted = call.number("-n", 1, ROWS_AT_ONCE);
            int count = wanted == null ? SHOWN : wanted;
            Map<?, ?> newest = HubAdmin.ask(call, "GET", "/audit/newest", Map.of(), null);
            long after = Math.max(0, number(newest) - count);
            rows(call, Map.of(), after, count).forEach(row -> print(call, row));
            return 0;
        }
    }

    /** Shows the rows that a filter lets through, the oldest first. */
    static final class Query extends AuditCommand {
        @Override
        public void describe(CommandSpec spec) {
            describeFilters(spec);
            super.describe(spec);
        }

        @Override
        public int run(Invocation call) throws InterruptedException {
            Map<String, String> filters = filters(call);
            List<?> rows = rows(call, filters, 0, ROWS_AT_ONCE);
            while (!rows.isEmpty()) {
                rows.forEach(row -> print(call, row));
                rows = rows(call, filters, number(rows.getLast()), ROWS_AT_ONCE);
            }
            return 0;
        }
    }

    /** Saves rows as JSON lines. */
    static final class Export extends AuditCommand {
        @Override
        public void describe(CommandSpec spec) {
            spec.addPositional(Command.argument(0, true, "FILE", "The file, one JSON object a line; replaced."));
            describeFilters(spec);
            super.describe(spec);
        }

        @Override
        public int run(Invocation call) throws InterruptedException {
            Path file = call.around().path(Path.of(call.requiredArgument(0)));
            long count = 0;
            try (OutputStream out = HubAdmin.file(file)) {
                Map<String, String> filters = filters(call);
                List<?> rows = rows(call, filters, 0, ROWS_AT_ONCE);
                while (!rows.isEmpty()) {
                    for (Object row : rows) {
                        out.write(Json.write(row));
                        out.write('\n');
                    }
                    count += rows.size();
                    rows = rows(call, filters, number(rows.getLast()), ROWS_AT_ONCE);
                }
            } catch (IOException failed) {
                throw new CliException(
                        Problem.local(LocalError.INTERNAL, "cannot write " + file + ": " + failed.getMessage(), null),
                        failed);
            }
            Map<String, Object> done = Map.of("file", file.toString(), "rows", count);
            call.output()
                    .result(
                            () -> Json.write(done),
                            page -> page.field("File", file).field("Rows", done.get("rows")));
            return 0;
        }
    }

    /** Looks whether any row was changed, removed or inserted. */
    static final class Verify extends AuditCommand {
        @Override
        public void describe(CommandSpec spec) {
            spec.usageMessage()
                    .footer(
                            "",
                            "Exits with 1 if the chain is broken. Keep End elsewhere, to know later that the rows until",
                            "then are the same.");
            super.describe(spec);
        }

        @Override
        public int run(Invocation call) throws InterruptedException {
            Map<?, ?> found = HubAdmin.ask(call, "GET", "/audit/verify", Map.of(), null);
            call.output()
                    .result(
                            () -> Json.write(found),
                            page -> page.field("Chain", Boolean.TRUE.equals(found.get("good")) ? "good" : "broken")
                                    .field("Rows", found.get("rows"))
                                    .field("End", found.get("end"))
                                    .field("Broken", found.get("broken")));
            return Boolean.TRUE.equals(found.get("good")) ? 0 : 1;
        }
    }
}
