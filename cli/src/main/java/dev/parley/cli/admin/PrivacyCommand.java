package dev.parley.cli.admin;

import dev.parley.cli.command.Command;
import dev.parley.cli.command.Invocation;
import dev.parley.cli.output.CliException;
import dev.parley.hub.admin.AdminOperations;
import dev.parley.protocol.extension.RestParameter;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * {@code parley privacy export}: saves the data of a person or of a context as JSON lines: tasks, the member, its keys, its
 * data of extensions, and the rows of the audit; for operators.
 */
public final class PrivacyCommand {
    private static final int AT_ONCE = 100;

    private static final List<RestParameter> SUBJECT = AdminCommand.filters("privacy/tasks");

    private PrivacyCommand() {}

    public static Command command() {
        return AdminCommand.describe(
                        Command.of(PrivacyCommand::run).argument("FILE", "The file, one JSON object a line; replaced."),
                        SUBJECT)
                .option(HubAdmin.option())
                .settings(HubAdmin.settings());
    }

    private static int run(Invocation call) throws InterruptedException {
        Map<String, Object> subject = AdminCommand.values(call, SUBJECT);
        AdminCommand.requireSubject(subject);
        Path file = call.path(call.requiredArgument(0));
        var counts = new LinkedHashMap<String, Object>();
        try (OutputStream out = HubAdmin.file(file)) {
            counts.put("tasks", tasks(call, subject, out));
            if (subject.get("principal") instanceof String name && !subject.containsKey("contextId")) {
                String group = subject.getOrDefault("group", "default").toString();
                counts.put("users", members(call, "users", "name", group, name, out));
                counts.put("keys", members(call, "keys", "principal", group, name, out));
                for (String what : AdminOperations.personalData()) {
                    counts.put(what, personal(call, what, group, name, out));
                }
                long rows = 0;
                for (Map<String, String> filter :
                        List.of(Map.of("group", group, "actor", name), Map.of("subject", group + "/" + name))) {
                    rows += AuditCommands.each(call, filter, row -> line(out, "audit", row));
                }
                counts.put("auditRows", rows);
            }
        } catch (IOException failed) {
            throw CliException.usage("cannot write " + file + ": " + failed.getMessage(), null);
        }
        call.output().members(counts);
        return 0;
    }

    private static int tasks(Invocation call, Map<String, Object> subject, OutputStream out)
            throws IOException, InterruptedException {
        var query = new LinkedHashMap<>(subject);
        query.put("limit", AT_ONCE);
        int count = 0;
        while (true) {
            List<?> tasks = list(HubAdmin.ask(call, "privacy/tasks", query), "tasks");
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

    private static int members(Invocation call, String what, String member, String group, String name, OutputStream out)
            throws IOException, InterruptedException {
        int count = 0;
        for (Object one : list(HubAdmin.ask(call, what + "/list", Map.of("group", group)), what)) {
            if (name.equals(((Map<?, ?>) one).get(member))) {
                line(out, what.substring(0, what.length() - 1), one);
                count++;
            }
        }
        return count;
    }

    private static int personal(Invocation call, String what, String group, String name, OutputStream out)
            throws IOException, InterruptedException {
        var query = new LinkedHashMap<>(Map.of("group", group, "principal", name));
        int count = 0;
        Object next;
        do {
            Map<?, ?> page = HubAdmin.ask(call, "privacy/" + what, query);
            for (Object one : list(page, what)) {
                line(out, what.substring(0, what.length() - 1), one);
                count++;
            }
            next = page.get("next");
            query.put("after", String.valueOf(next));
        } while (next != null);
        return count;
    }

    private static List<?> list(Map<?, ?> answer, String name) {
        return answer.get(name) instanceof List<?> list ? list : List.of();
    }

    private static void line(OutputStream out, String kind, Object value) throws IOException {
        HubAdmin.line(out, Map.of(kind, value));
    }
}
