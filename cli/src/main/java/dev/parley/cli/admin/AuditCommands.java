package dev.parley.cli.admin;

import dev.parley.cli.command.Command;
import dev.parley.cli.command.Invocation;
import dev.parley.cli.output.CliException;
import dev.parley.cli.output.LocalError;
import dev.parley.dialect.Json;
import dev.parley.protocol.extension.RestParameter;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** {@code parley audit …}: reads the audit log; for operators, not part of A2A. */
public final class AuditCommands {
    private static final int ROWS_AT_ONCE = 1_000;
    private static final int SHOWN = 20;
    private static final String QUERY = "audit/query";

    /** Parameters that filter rows; the others part the answer into pages, which the commands do. */
    private static final List<RestParameter> FILTERS = AdminCommand.filters(QUERY);

    private AuditCommands() {}

    /** Reads of rows, a page at a time. */
    public interface Rows {
        void take(Object row) throws IOException;
    }

    private static Command command(Command command) {
        return command.option(HubAdmin.option())
                .option(HubAdmin.dataOption(QUERY))
                .settings(HubAdmin.settings());
    }

    public static Command tail() {
        return command(Command.of(AuditCommands::newest).option("-n", "ROWS", "How many; default: " + SHOWN + "."));
    }

    public static Command query() {
        return command(AdminCommand.describe(
                Command.of(call -> {
                    try {
                        each(call, AdminCommand.values(call, FILTERS), row -> print(call, row));
                    } catch (IOException noOutput) {
                        throw new IllegalStateException(noOutput);
                    }
                    return 0;
                }),
                FILTERS));
    }

    public static Command export() {
        return command(AdminCommand.describe(
                Command.of(AuditCommands::save).argument("FILE", "The file, one JSON object a line; replaced."),
                FILTERS));
    }

    /** Reads the rows that filters let through, the oldest first, and returns their number. */
    public static long each(Invocation call, Map<String, ?> filters, Rows rows)
            throws IOException, InterruptedException {
        long count = 0;
        long last = 0;
        while (true) {
            List<?> page = rows(call, filters, last, ROWS_AT_ONCE);
            if (page.isEmpty()) {
                return count;
            }
            for (Object row : page) {
                rows.take(row);
            }
            count += page.size();
            last = number(page.getLast());
        }
    }

    private static List<?> rows(Invocation call, Map<String, ?> filters, long after, int limit)
            throws InterruptedException {
        var values = new LinkedHashMap<String, Object>(filters);
        values.put("after", after);
        values.put("limit", limit);
        return HubAdmin.ask(call, QUERY, values).get("rows") instanceof List<?> rows ? rows : List.of();
    }

    private static long number(Object row) {
        return row instanceof Map<?, ?> members && members.get("number") instanceof Number number
                ? number.longValue()
                : 0;
    }

    private static int newest(Invocation call) throws InterruptedException {
        Integer typed = call.number("-n", 1, ROWS_AT_ONCE);
        int count = typed == null ? SHOWN : typed;
        Map<?, ?> newest = HubAdmin.ask(call, "audit/newest", Map.of());
        long after = Math.max(0, number(newest) - count);
        rows(call, Map.of(), after, count).forEach(row -> print(call, row));
        return 0;
    }

    private static int save(Invocation call) throws InterruptedException {
        Path file = call.path(call.requiredArgument(0));
        try (OutputStream out = HubAdmin.file(file)) {
            long count = each(call, AdminCommand.values(call, FILTERS), row -> HubAdmin.line(out, row));
            var done = new LinkedHashMap<String, Object>();
            done.put("file", file.toString());
            done.put("rows", count);
            call.output().members(done);
            return 0;
        } catch (IOException failed) {
            throw CliException.local(
                    LocalError.INTERNAL, "cannot write " + file + ": " + failed.getMessage(), null, failed);
        }
    }

    private static void print(Invocation call, Object row) {
        Map<?, ?> shown = (Map<?, ?>) row;
        Object detail = shown.get("detail");
        String text = shown.get("at") + " " + shown.get("group") + "/" + shown.get("actor") + " " + shown.get("action")
                + " " + shown.get("target") + " " + optional("about ", shown.get("subject"), " ") + shown.get("outcome")
                + optional(" from ", shown.get("address"), "")
                + (detail == null ? "" : " " + new String(Json.write(detail), StandardCharsets.UTF_8));
        call.output().result(() -> Json.write(shown), page -> page.field(String.valueOf(shown.get("number")), text));
    }

    private static String optional(String before, @Nullable Object value, String after) {
        return value == null ? "" : before + value + after;
    }
}
