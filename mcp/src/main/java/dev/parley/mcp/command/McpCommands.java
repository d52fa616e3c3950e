package dev.parley.mcp.command;

import static dev.parley.command.CommandEntry.group;
import static dev.parley.command.CommandEntry.of;

import dev.parley.command.CommandEntry;
import dev.parley.command.CommandSource;
import java.util.ArrayList;
import java.util.List;

/** The commands {@code parley mcp …}. */
public final class McpCommands implements CommandSource {
    /** For the service loader. */
    public McpCommands() {}

    @Override
    public List<CommandEntry> commands() {
        var entries = new ArrayList<>(ServerCommands.all());
        entries.add(of("serve", "Serve agents as tools of MCP over standard input and output", McpServeCommand::new));
        return List.of(
                group("mcp", "Connect agents with programs that speak MCP", entries.toArray(CommandEntry[]::new)));
    }
}
