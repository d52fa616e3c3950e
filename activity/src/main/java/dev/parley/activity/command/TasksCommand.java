package dev.parley.activity.command;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.parley.activity.ActivityOperation.CountTasks;
import dev.parley.activity.ActivityOperation.FindTasks;
import dev.parley.activity.ActivityOperation.Reach;
import dev.parley.activity.ActivityOperation.TaskCounts;
import dev.parley.activity.ActivityOperation.TaskPage;
import dev.parley.activity.ActivityOperation.TaskView;
import dev.parley.activity.ActivityProtocol;
import dev.parley.command.CommandCall;
import dev.parley.command.CommandException;
import dev.parley.command.Parameters;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.InvalidField;
import dev.parley.protocol.extension.RestParameter;
import java.time.Instant;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Model.CommandSpec;

/** {@code parley tasks}. */
final class TasksCommand extends HubCommand {
    private static final int MOST = 10_000;
    private static final int DEFAULT_MOST = 50;
    private static final String COUNTS = "--counts";

    @Override
    public void describe(CommandSpec spec) {
        spec.addOption(Parameters.option("--of-agent", "NAME", "Only tasks of this agent."));
        spec.addOption(Parameters.option("--status", "STATE[,STATE]", "Only tasks in these states, such as working."));
        spec.addOption(Parameters.option("--since", "TIME", "Only tasks whose status has changed since this time."));
        spec.addOption(Parameters.option("--until", "TIME", "Only tasks whose status has changed until this time."));
        spec.addOption(Parameters.option("--caller", "NAME", "Only tasks that this principal began."));
        spec.addOption(Parameters.option(
                "--search", "WORDS", "Only tasks with these words in the title, the status or an id."));
        spec.addOption(Parameters.option("--group", "GROUP", "Tasks of another group, or * for all; for operators."));
        spec.addOption(Parameters.option("--owner", "NAME", "Tasks of another owner; for operators."));
        spec.addOption(Parameters.option("--most", "N", "Limit of tasks; default: 50."));
        spec.addOption(Parameters.flag(COUNTS, "Numbers of tasks by agent and state instead."));
    }

    @Override
    public int run(CommandCall call) throws InterruptedException {
        Integer most = call.number("--most", 1, MOST);
        var reach = new Reach(call.option("--group"), call.option("--owner"));
        if (call.has(COUNTS)) {
            var count = new CountTasks(call.option("--of-agent"), reach);
            return connect(call, hub -> counts(call, hub.call(count, CallContext.anonymous())));
        }
        FindTasks find = find(call, reach);
        return connect(call, hub -> {
            int left = most == null ? DEFAULT_MOST : most;
            String token = null;
            do {
                TaskPage page =
                        hub.call(find.page(token, Math.min(left, ActivityProtocol.MAX_PAGE)), CallContext.anonymous());
                page.tasks().forEach(task -> line(call, task));
                left -= page.tasks().size();
                token = page.next();
            } while (token != null && left > 0);
            return 0;
        });
    }

    private static FindTasks find(CommandCall call, Reach reach) {
        try {
            return new FindTasks(
                    call.option("--of-agent"),
                    null,
                    ActivityProtocol.states(call.option("--status")),
                    call.option("--caller"),
                    time(call, "--since"),
                    time(call, "--until"),
                    call.option("--search"),
                    null,
                    null,
                    reach);
        } catch (InvalidField wrong) {
            throw CommandException.usage("invalid --status: " + wrong.problem(), null);
        }
    }

    private static @Nullable Instant time(CommandCall call, String option) {
        String typed = call.option(option);
        Instant time = RestParameter.time(typed);
        if (typed != null && time == null) {
            throw CommandException.usage(
                    "invalid " + option + ": " + typed + " (expected: such as 2027-01-31T00:00:00Z)", null);
        }
        return time;
    }

    private static void line(CommandCall call, TaskView task) {
        if (call.output().isJson()) {
            call.output().print(new String(ActivityProtocol.json(task), UTF_8) + "\n");
            return;
        }
        var line = new StringBuilder(task.taskId())
                .append("  ")
                .append(task.state().word())
                .append("  ")
                .append(task.agent())
                .append("  ")
                .append(task.updated());
        if (task.progress() != null) {
            line.append("  ").append(task.progress()).append(" %");
        }
        if (task.title() != null) {
            line.append("  ").append(task.title());
        }
        call.output().line(line.toString());
    }

    private static int counts(CommandCall call, TaskCounts counts) {
        call.output().result(() -> ActivityProtocol.json(counts), page -> {
            counts.states().forEach((state, number) -> page.field(word(state), number));
            if (!counts.agents().isEmpty()) {
                page.gap();
            }
            counts.agents().forEach(agent -> page.field(agent.agent(), words(agent.states())));
        });
        return 0;
    }

    private static String words(Map<String, Long> states) {
        return states.entrySet().stream()
                .map(each -> each.getValue() + " " + word(each.getKey()))
                .collect(Collectors.joining(", "));
    }

    /** A state as it is typed. */
    static String word(String state) {
        return state.replaceFirst("^TASK_STATE_", "").toLowerCase(Locale.ROOT).replace('_', '-');
    }
}
