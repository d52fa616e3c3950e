package dev.parley.load;

import dev.parley.command.CommandEntry;
import dev.parley.command.CommandSource;
import java.util.List;

/** The command {@code parley bench}. */
public final class LoadCommands implements CommandSource {
    /** For the service loader. */
    public LoadCommands() {}

    @Override
    public List<CommandEntry> commands() {
        return List.of(CommandEntry.of("bench", "Measure an agent under load", BenchCommand::new));
    }
}
