package dev.parley.activity.command;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.Objects.requireNonNullElse;

import dev.parley.activity.ActivityOperation.Change;
import dev.parley.activity.ActivityOperation.Change.Hosting;
import dev.parley.activity.ActivityOperation.Change.Kind;
import dev.parley.activity.ActivityOperation.Reach;
import dev.parley.activity.ActivityOperation.WatchChanges;
import dev.parley.activity.ActivityProtocol;
import dev.parley.command.CommandCall;
import dev.parley.command.CommandException;
import dev.parley.command.Parameters;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.Feed;
import dev.parley.protocol.TaskState;
import dev.parley.store.audit.AuditPosition;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Model.CommandSpec;

/** {@code parley watch}. */
final class WatchCommand extends HubCommand {
    private static final Set<Kind> NOT_SHOWN = Set.of(Kind.POSITION, Kind.AUDIT, Kind.CALLS, Kind.HUB);
    private static final Duration PATIENCE = Duration.ofMinutes(1);
    private static final String AFTER = "--after";
    private static final String MOST = "--most";

    @Override
    public void describe(CommandSpec spec) {
        spec.addOption(Parameters.option("--of-agent", "NAME", "Only changes of this agent and its tasks."));
        spec.addOption(Parameters.option("--task", "ID", "Only changes of this task."));
        spec.addOption(Parameters.option(
                AFTER, "PLACE", "Begin after the change of this place; 0 for all; default: new changes."));
        spec.addOption(Parameters.option("--group", "GROUP", "Tasks of another group, or * for all; for operators."));
        spec.addOption(Parameters.option("--owner", "NAME", "Tasks of another owner; for operators."));
        spec.addOption(Parameters.option(MOST, "N", "End after so many changes; default: go on until Ctrl-C."));
    }

    @Override
    public int run(CommandCall call) throws InterruptedException {
        Integer most = call.number(MOST, 1, Integer.MAX_VALUE);
        var watch = new WatchChanges(
                call.option("--of-agent"),
                call.option("--task"),
                after(call),
                new Reach(call.option("--group"), call.option("--owner")));
        return connect(call, hub -> {
            int left = most == null ? Integer.MAX_VALUE : most;
            try (Feed<Change> changes = hub.watch(watch, CallContext.anonymous())) {
                while (left > 0) {
                    List<Change> next = changes.next(PATIENCE);
                    if (next == null) {
                        break;
                    }
                    for (Change change : next) {
                        if (left > 0 && !NOT_SHOWN.contains(change.kind())) {
                            show(call, change);
                            left--;
                        }
                    }
                }
            }
            return 0;
        });
    }

    /** Place of the option; null for new changes. */
    private static @Nullable String after(CommandCall call) {
        String typed = call.option(AFTER);
        try {
            return typed == null ? null : AuditPosition.read(typed).toString();
        } catch (IllegalArgumentException wrong) {
            throw CommandException.usage(
                    "invalid " + AFTER + ": " + typed + " (expected: a number from 0, or the place of a change)", null);
        }
    }

    private static void show(CommandCall call, Change change) {
        if (call.output().isJson()) {
            call.output().print(new String(ActivityProtocol.json(change), UTF_8) + "\n");
            return;
        }
        call.output().line(change.at() + "  " + requireNonNullElse(change.position(), "-") + "  " + text(change));
    }

    private static String text(Change change) {
        return switch (change.kind()) {
            case TASK ->
                change.agent() + "  " + change.taskId() + "  "
                        + (change.before() == null ? "" : word(change.before()) + " -> ") + word(change.state())
                        + "  " + change.caller();
            case PROGRESS ->
                change.agent() + "  " + change.taskId() + "  " + (change.text() == null ? "works" : change.text());
            case AGENT -> change.agent() + "  " + word(change.change());
            case GAP, POSITION, AUDIT, CALLS, HUB -> "changes may have been left out";
        };
    }

    private static String word(@Nullable Hosting change) {
        return String.valueOf(change).toLowerCase(Locale.ROOT);
    }

    private static String word(@Nullable TaskState state) {
        return state == null ? "" : state.word();
    }
}
