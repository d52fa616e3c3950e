package dev.parley.cli;

import dev.parley.dialect.Json;
import dev.parley.protocol.extension.RestParameter;
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
    private static final String QUERY = "audit/query";

    /** Parameters that filter rows; the others part the answer into pages, which the commands do. */
    private static final List<RestParameter> FILTERS = AdminCommand.parameters(QUERY).stream()
            .filter(one -> !one.name().equals("after") && !one.name().equals("limit"))
            .toList();

    @Override
    public void describe(CommandSpec spec) {
        spec.addOption(HubAdmin.option());
        spec.addOption(HubAdmin.dataOption(QUERY));
    }

    @Override
    public List<Setting<?>> relevant() {
        return HubAdmin.SETTINGS;
    }

    /** The rows behind a number, and how far one has come with them. */
    static List<?> rows(Invocation call, Map<String, ?> filters, long after, int limit) throws InterruptedException {
        var values = new LinkedHashMap<String, Object>(filters);
        values.put("after", after);
        values.put("limit", limit);
        return HubAdmin.ask(call, QUERY, values).get("rows") instanceof List<?> rows ? rows : List.of();
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
            Map<?, ?> newest = HubAdmin.ask(call, "audit/newest", Map.of());
            long after = Math.max(0, number(newest) - count);
            rows(call, Map.of(), after, count).forEach(row -> print(call, row));
            return 0;
        }
    }

    /** Shows the rows that a filter lets through, the oldest first. */
    static final class Query extends AuditCommand {
        @Override
        public void describe(CommandSpec spec) {
            AdminCommand.describe(spec, FILTERS);
            super.describe(spec);
        }

        @Override
        public int run(Invocation call) throws InterruptedException {
            Map<String, Object> filters = AdminCommand.values(call, FILTERS);
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
            AdminCommand.describe(spec, FILTERS);
            super.describe(spec);
        }

        @Override
        public int run(Invocation call) throws InterruptedException {
            Path file = call.around().path(Path.of(call.requiredArgument(0)));
            long count = 0;
            try (OutputStream out = HubAdmin.file(file)) {
                Map<String, Object> filters = AdminCommand.values(call, FILTERS);
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
}
