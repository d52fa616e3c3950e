package dev.parley.cli.task;

import dev.parley.cli.command.Command;
import dev.parley.cli.command.Invocation;
import dev.parley.cli.connection.AgentConnection;
import dev.parley.cli.connection.Problems;
import dev.parley.command.CommandException;
import dev.parley.dialect.Json;
import dev.parley.engine.spi.TaskLog.Head;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.Operation;
import dev.parley.protocol.Operation.TaskPage;
import dev.parley.protocol.Task;
import dev.parley.protocol.TaskState;
import dev.parley.protocol.settings.SettingType;
import dev.parley.protocol.support.Nearest;
import dev.parley.store.Store;
import dev.parley.store.spi.StoreException;
import dev.parley.store.spi.TaskFilter;
import java.nio.file.Path;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** {@code parley task list}: one page, from an agent or from a data directory. */
public final class TaskListCommand {
    private static final SettingType<Instant> TIME = new SettingType<>(
            "a time such as 2026-11-20T08:00:00Z",
            text -> OffsetDateTime.parse(text).toInstant());

    private TaskListCommand() {}

    public static Command command() {
        return Command.of(TaskListCommand::run)
                .option("--status", "STATE", "Only tasks in this state, such as working.")
                .option("--since", "TIME", "Only tasks whose status has changed since this time, RFC 3339.")
                .option("--page-size", "N", "1 to 100; default: the agent's choice.")
                .option("--page-token", "TOKEN", "Next-Page-Token of the previous page.")
                .option("--history", "N", "With at most N of the newest messages of each.")
                .flag("--include-artifacts", "With artifacts.")
                .option(
                        "--data",
                        "DIR",
                        "All tasks in the data directory of a hub instead, which may be running; newest first.")
                .option("--group", "GROUP", "With --data: only tasks of this group.")
                .option("--of-agent", "NAME", "With --data: only tasks of this agent.")
                .agent("context-id");
    }

    private static int run(Invocation call) throws InterruptedException {
        String data = call.option("--data");
        if (data != null) {
            return list(call, data);
        }
        requireNone(call, "without --data", "--group", "--of-agent");
        var query = new Operation.ListTasks(
                null,
                call.request().contextId(),
                state(call.option("--status")),
                call.number("--page-size", 1, Operation.ListTasks.MAX_PAGE_SIZE),
                call.option("--page-token"),
                call.number("--history", 0, Integer.MAX_VALUE),
                call.option("--since", TIME),
                call.has("--include-artifacts"));
        return AgentConnection.open(call, agent -> {
            show(call, agent.client().call(query, CallContext.anonymous()));
            return 0;
        });
    }

    private static int list(Invocation call, String named) {
        requireNone(call, "with --data", "--history");
        if (call.has("--include-artifacts")) {
            throw CommandException.usage("--include-artifacts with --data", "ask the agent with -a");
        }
        Path data = call.existingData(named);
        Integer size = call.number("--page-size", 1, Operation.ListTasks.MAX_PAGE_SIZE);
        int limit = size == null ? Operation.ListTasks.DEFAULT_PAGE_SIZE : size;
        List<Head> heads;
        try {
            heads = Store.tasks(
                    data,
                    new TaskFilter(
                            call.option("--group"),
                            call.option("--of-agent"),
                            call.request().contextId(),
                            state(call.option("--status")),
                            call.option("--since", TIME),
                            call.option("--page-token"),
                            limit));
        } catch (StoreException unreadable) {
            throw Problems.of(unreadable).withHint("see: parley doctor");
        }
        String next = heads.size() < limit ? "" : heads.getLast().key().taskId();
        Map<String, Object> page = Map.of(
                "tasks",
                heads.stream().map(TaskListCommand::members).toList(),
                "nextPageToken",
                next,
                "pageSize",
                limit);
        call.output().result(() -> Json.write(page), text -> {
            for (Head head : heads) {
                TextView.identity(text, head.key().taskId(), head.contextId(), head.state())
                        .field("Since", head.statusTime())
                        .field("Agent", head.key().agent())
                        .field("Group", head.key().scope().group())
                        .field("Owner", head.key().scope().owner());
                text.gap();
            }
            text.field("Next-Page-Token", next.isEmpty() ? null : next);
        });
        return 0;
    }

    private static Map<String, Object> members(Head head) {
        var members = new LinkedHashMap<String, Object>();
        members.put("id", head.key().taskId());
        members.put("contextId", head.contextId());
        members.put(
                "status",
                Map.of(
                        "state",
                        TextView.name(head.state()),
                        "timestamp",
                        head.statusTime().toString()));
        members.put("agent", head.key().agent());
        members.put("group", head.key().scope().group());
        members.put("owner", head.key().scope().owner());
        return members;
    }

    private static void requireNone(Invocation call, String where, String... options) {
        for (String option : options) {
            if (call.option(option) != null) {
                throw CommandException.usage(option + " " + where, "see: parley task list --help");
            }
        }
    }

    private static void show(Invocation call, TaskPage page) {
        if (call.output().isJson() && call.isStreaming()) {
            page.tasks().forEach(task -> call.output().result(() -> Json.write(task), text -> {}));
            return;
        }
        call.output().result(() -> Json.write(page), text -> {
            for (Task task : page.tasks()) {
                TextView.of(call).task(text, task);
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
        return TaskState.named(typed).orElseThrow(() -> {
            List<String> names = Arrays.stream(TaskState.values())
                    .filter(state -> state != TaskState.UNSPECIFIED) // on the wire, it asks for all
                    .map(TaskState::word)
                    .toList();
            return CommandException.usage(
                    "invalid --status: " + typed + " (expected: one of " + String.join(", ", names) + ")",
                    "did you mean " + Nearest.to(typed.toLowerCase(Locale.ROOT), names) + "?");
        });
    }
}
