package dev.parley.cli.admin;

import dev.parley.cli.command.Command;
import dev.parley.cli.command.Invocation;
import dev.parley.command.CommandException;
import dev.parley.command.CommandException.Kind;
import dev.parley.command.RowParameters;
import dev.parley.dialect.Json;
import dev.parley.hub.admin.AdminOperations;
import dev.parley.protocol.extension.RestParameter;
import dev.parley.protocol.support.OwnersOnly;
import java.io.BufferedOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * {@code parley audit …} and {@code parley privacy export}: read records of a hub, a page at a time, and show or save them; for
 * operators, not part of A2A.
 */
public final class RecordCommands {
    private static final int ROWS_AT_ONCE = 1_000;
    private static final int TASKS_AT_ONCE = 100;
    private static final int SHOWN = 20;
    private static final String QUERY = "audit/query";

    /** Parameters that filter rows; the others part the answer into pages, which the commands do. */
    private static final List<RestParameter> FILTERS = AdminCommand.filters(QUERY);

    private static final List<RestParameter> SUBJECT = AdminCommand.filters("privacy/tasks");

    private RecordCommands() {}

    /** Receiver of records. */
    private interface Sink {
        void take(Object record) throws IOException;
    }

    /** Work with a file of records, which returns the members of the result. */
    private interface Export {
        Map<String, ?> to(Sink file) throws IOException, InterruptedException;
    }

    private static Command audit(Command command) {
        return command.option(HubAdmin.option())
                .option(HubAdmin.dataOption(QUERY))
                .settings(HubAdmin.settings())
                .strict();
    }

    public static Command tail() {
        return audit(Command.of(RecordCommands::newest).option("-n", "ROWS", "How many; default: " + SHOWN + "."));
    }

    public static Command query() {
        return audit(Command.of(call -> {
                    try {
                        rows(call, RowParameters.values(call, FILTERS), row -> print(call, row));
                    } catch (IOException noOutput) {
                        throw new UncheckedIOException(noOutput);
                    }
                    return 0;
                })
                .parameters(FILTERS));
    }

    public static Command exportAudit() {
        return audit(Command.of(call -> save(call, Kind.INTERNAL, file -> {
                    var done = new LinkedHashMap<String, Object>();
                    done.put("file", call.path(call.requiredArgument(0)).toString());
                    done.put("rows", rows(call, RowParameters.values(call, FILTERS), file));
                    return done;
                }))
                .argument("FILE", "The file, one JSON object a line; replaced.")
                .parameters(FILTERS));
    }

    /** Saves the data of a person or of a context: tasks, memories, the member, its keys, its data of extensions, and the rows of the audit. */
    public static Command exportPersonal() {
        return Command.of(call -> {
                    Map<String, Object> subject = RowParameters.values(call, SUBJECT);
                    AdminCommand.requireSubject(subject);
                    return save(call, Kind.USAGE, file -> personal(call, subject, file));
                })
                .argument("FILE", "The file, one JSON object a line; replaced.")
                .parameters(SUBJECT)
                .option(HubAdmin.option())
                .settings(HubAdmin.settings())
                .strict();
    }

    /** Saves records to the file that the command names, readable by its owner only. An existing file keeps its permissions. */
    private static int save(Invocation call, Kind failure, Export export) throws InterruptedException {
        Path file = call.path(call.requiredArgument(0));
        try {
            OwnersOnly.file(file);
            try (OutputStream out = new BufferedOutputStream(Files.newOutputStream(file))) {
                Map<String, ?> done = export.to(record -> {
                    out.write(Json.write(record));
                    out.write('\n');
                });
                call.output().members(done);
            }
            return 0;
        } catch (IOException failed) {
            throw CommandException.of(failure, "cannot write " + file + ": " + failed.getMessage(), null, failed);
        }
    }

    private static Map<String, ?> personal(Invocation call, Map<String, Object> subject, Sink file)
            throws IOException, InterruptedException {
        var counts = new LinkedHashMap<String, Object>();
        var query = new LinkedHashMap<>(subject);
        query.put("limit", TASKS_AT_ONCE);
        counts.put("tasks", each(call, "privacy/tasks", "tasks", "id", query, task -> true, named("task", file)));
        counts.put(
                "memories",
                each(call, "privacy/memories", "memories", "next", subject, memory -> true, named("memory", file)));
        if (subject.get("principal") instanceof String name && !subject.containsKey("contextId")) {
            String group = subject.getOrDefault("group", "default").toString();
            counts.put("users", members(call, "users", "name", group, name, file));
            counts.put("keys", members(call, "keys", "principal", group, name, file));
            for (String what : AdminOperations.personalData()) {
                Map<String, ?> own = Map.of("group", group, "principal", name);
                counts.put(what, each(call, "privacy/" + what, what, "next", own, one -> true, named(one(what), file)));
            }
            Sink audit = named("audit", file);
            counts.put(
                    "auditRows",
                    rows(call, Map.of("group", group, "actor", name), audit)
                            + rows(call, Map.of("subject", group + "/" + name), audit));
        }
        return counts;
    }

    private static long members(Invocation call, String what, String member, String group, String name, Sink file)
            throws IOException, InterruptedException {
        Predicate<Map<?, ?>> own = one -> name.equals(one.get(member));
        return each(call, what + "/list", what, "next", Map.of("group", group), own, named(one(what), file));
    }

    private static String one(String plural) {
        return plural.substring(0, plural.length() - 1);
    }

    private static Sink named(String kind, Sink file) {
        return record -> file.take(Map.of(kind, record));
    }

    /** Reads the rows of the audit that filters let through, the oldest first, and returns their number. */
    private static long rows(Invocation call, Map<String, ?> filters, Sink rows)
            throws IOException, InterruptedException {
        var query = new LinkedHashMap<String, Object>(filters);
        query.put("after", 0);
        query.put("limit", ROWS_AT_ONCE);
        return each(call, QUERY, "rows", "next", query, row -> true, rows);
    }

    /**
     * Reads the records of an operation page by page, and returns the number of those that are chosen.
     *
     * @param list member of a page with its records
     * @param cursor member of the last record, or {@code next} of the page, after which the next page begins
     */
    private static long each(
            Invocation call,
            String operation,
            String list,
            String cursor,
            Map<String, ?> query,
            Predicate<Map<?, ?>> chosen,
            Sink sink)
            throws IOException, InterruptedException {
        var values = new LinkedHashMap<String, Object>(query);
        long count = 0;
        while (true) {
            Map<?, ?> page = HubAdmin.ask(call, operation, values);
            List<?> records = page.get(list) instanceof List<?> all ? all : List.of();
            for (Object one : records) {
                Map<?, ?> members = (Map<?, ?>) one;
                if (chosen.test(members)) {
                    sink.take(members);
                    count++;
                }
            }
            Map<?, ?> end = cursor.equals("next") ? page : records.isEmpty() ? Map.of() : (Map<?, ?>) records.getLast();
            Object after = end.get(cursor);
            if (after == null) {
                return count;
            }
            values.put("after", after);
        }
    }

    private static int newest(Invocation call) throws InterruptedException {
        Integer typed = call.number("-n", 1, ROWS_AT_ONCE);
        int count = typed == null ? SHOWN : typed;
        Object place = HubAdmin.ask(call, "audit/newest", Map.of("rows", count)).get("number");
        var newest = new ArrayDeque<Object>(); // of several hubs there are as many rows of each
        try {
            each(
                    call,
                    QUERY,
                    "rows",
                    "next",
                    Map.of("after", place == null ? 0 : place, "limit", ROWS_AT_ONCE),
                    row -> true,
                    row -> {
                        newest.addLast(row);
                        if (newest.size() > count) {
                            newest.removeFirst();
                        }
                    });
        } catch (IOException none) {
            throw new UncheckedIOException(none);
        }
        newest.forEach(row -> print(call, row));
        return 0;
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
