package dev.parley.cli;

import dev.parley.dialect.Json;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.Nearest;
import dev.parley.protocol.Operation;
import dev.parley.protocol.Operation.TaskPage;
import dev.parley.protocol.Task;
import dev.parley.protocol.TaskState;
import java.time.Instant;
import java.time.format.DateTimeParseException;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Model.CommandSpec;

/** {@code parley task list}: one page. */
final class TaskListCommand implements Command {
    @Override
    public void describe(CommandSpec spec) {
        spec.addOption(Command.option("--status", "STATE", "Only tasks in this state, such as working."));
        spec.addOption(Command.option("--since", "TIME", "Only tasks whose status is this new, RFC 3339."));
        spec.addOption(Command.option("--page-size", "N", "1 to 100; default: the agent's choice."));
        spec.addOption(Command.option("--page-token", "TOKEN", "Where the page before ended."));
        spec.addOption(Command.option("--history", "N", "With at most N of the newest messages of each."));
        spec.addOption(Command.flag("--include-artifacts", "With artifacts."));
    }

    @Override
    public List<Setting<?>> relevant() {
        return Command.connectionAnd(Setting.CONTEXT_ID);
    }

    @Override
    public int run(Invocation call) throws InterruptedException {
        var query = new Operation.ListTasks(
                null,
                call.get(Setting.CONTEXT_ID),
                state(call.option("--status")),
                call.number("--page-size", 1, Operation.ListTasks.MAX_PAGE_SIZE),
                call.option("--page-token"),
                call.number("--history", 0, Integer.MAX_VALUE),
                since(call.option("--since")),
                call.has("--include-artifacts"));
        return Connection.open(call, agent -> {
            show(call, agent.client().call(query, CallContext.anonymous()));
            return 0;
        });
    }

    private static void show(Invocation call, TaskPage page) {
        if (call.output().isJson() && call.isStreaming()) {
            page.tasks().forEach(task -> call.output().result(() -> Json.write(task), text -> {}));
            return;
        }
        call.output().result(() -> Json.write(page), text -> {
            for (Task task : page.tasks()) {
                call.view().task(text, task);
                text.gap();
            }
            text.field("Next-Page-Token", page.nextPageToken().isEmpty() ? null : page.nextPageToken())
                    .field("Total-Size", page.totalSize());
        });
    }

    private static @Nullable TaskState state(@Nullable String typed) {
        if (typed == null) {
            return null;
        }
        String name = typed.toUpperCase(Locale.ROOT).replace('-', '_').replaceFirst("^TASK_STATE_", "");
        List<TaskState> states = Arrays.stream(TaskState.values())
                .filter(state -> state != TaskState.UNSPECIFIED) // on the wire, it asks for all
                .toList();
        return states.stream()
                .filter(state -> state.name().equals(name))
                .findFirst()
                .orElseThrow(() -> {
                    List<String> names = states.stream()
                            .map(state -> state.name().toLowerCase(Locale.ROOT).replace('_', '-'))
                            .toList();
                    return CliException.usage(
                            "invalid --status: " + typed + " (expected: one of " + String.join(", ", names) + ")",
                            "did you mean " + Nearest.to(typed.toLowerCase(Locale.ROOT), names) + "?");
                });
    }

    private static @Nullable Instant since(@Nullable String typed) {
        try {
            return typed == null ? null : java.time.OffsetDateTime.parse(typed).toInstant();
        } catch (DateTimeParseException wrong) {
            throw CliException.usage(
                    "invalid --since: " + typed + " (expected: a time such as 2026-11-20T08:00:00Z)", null);
        }
    }
}
