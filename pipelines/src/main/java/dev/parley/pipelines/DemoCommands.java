package dev.parley.pipelines;

import static dev.parley.command.CommandEntry.group;
import static dev.parley.command.CommandEntry.of;

import dev.parley.command.CommandEntry;
import dev.parley.command.CommandSource;
import java.util.List;

/** The commands {@code parley demo …}. */
public final class DemoCommands implements CommandSource {
    /** For the service loader. */
    public DemoCommands() {}

    @Override
    public List<CommandEntry> commands() {
        return List.of(group(
                "demo",
                "Run pipelines of agents on samples or on files",
                of("etl", "Check a table and load it into a database", DemoEtlCommand::new),
                of("repair-shop", "Play a story of three agents and three MCP servers", DemoRepairShopCommand::new),
                of("research", "Compare what pages and files say", DemoResearchCommand::new)));
    }
}
