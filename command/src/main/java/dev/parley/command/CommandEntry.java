package dev.parley.command;

import static java.util.Objects.requireNonNull;

import java.util.List;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A command by its name, or a group of commands.
 *
 * @param summary for the help, without a full stop
 * @param command made only when a command line may mean it; null for a group
 * @param below commands of a group
 */
public record CommandEntry(
        String name, String summary, @Nullable Supplier<? extends ProgramCommand> command, List<CommandEntry> below) {
    public CommandEntry {
        requireNonNull(name, "name");
        requireNonNull(summary, "summary");
        below = List.copyOf(below);
    }

    /** A command. */
    public static CommandEntry of(String name, String summary, Supplier<? extends ProgramCommand> command) {
        return new CommandEntry(name, summary, command, List.of());
    }

    /** A group of commands. */
    public static CommandEntry group(String name, String summary, CommandEntry... below) {
        return new CommandEntry(name, summary, null, List.of(below));
    }
}
