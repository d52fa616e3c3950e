package dev.parley.activity.command;

import static dev.parley.command.CommandEntry.group;
import static dev.parley.command.CommandEntry.of;

import dev.parley.command.CommandEntry;
import dev.parley.command.CommandSource;
import java.util.List;

/** The commands {@code parley tasks}, {@code parley trace}, {@code parley watch} and {@code parley task history}. */
public final class ActivityCommands implements CommandSource {
    /** For the service loader. */
    public ActivityCommands() {}

    @Override
    public List<CommandEntry> commands() {
        return List.of(
                of("tasks", "List the tasks of all agents of a hub, or count them", TasksCommand::new),
                of("trace", "Show the tasks of a trace as a tree, with states and durations", TraceCommand::new),
                group(
                        "task",
                        "Read and control tasks",
                        of("history", "Show the events of a task with their times", HistoryCommand::new)),
                of("watch", "Follow the changes of the tasks and agents of a hub", WatchCommand::new));
    }
}
