package dev.parley.registry.client.command;

import static dev.parley.command.CommandEntry.group;
import static dev.parley.command.CommandEntry.of;
import static java.util.Objects.requireNonNull;

import dev.parley.command.CommandEntry;
import dev.parley.command.CommandSource;
import dev.parley.protocol.ErrorKind;
import dev.parley.protocol.extension.ExtensionMethod;
import dev.parley.registry.EntryOperation;
import dev.parley.registry.ExchangeOperation;
import dev.parley.registry.InspectionOperation;
import dev.parley.registry.RegistryError;
import dev.parley.registry.RegistryProtocol;
import dev.parley.registry.ReportProtocol;
import dev.parley.registry.SearchOperation;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;

/** Commands for registries: {@code parley agent}, {@code discover}, {@code report} and {@code package}. */
public final class RegistryCommands implements CommandSource {
    private static final String PREFIX = "registry/";

    /** Commands of rows that do more than to call an operation and show its answer. */
    private static final Map<ExtensionMethod<?, ?>, Function<ExtensionMethod<?, ?>, AgentCommand>> OF_ROWS = Map.of(
            SearchOperation.SEARCH, AgentCommand.Search::new,
            EntryOperation.REGISTER, AgentCommand.Register::new,
            InspectionOperation.INSPECT, AgentCommand.Inspect::new,
            ExchangeOperation.IMPORT, AgentCommand.Import::new,
            ExchangeOperation.EXPORT, AgentCommand.Export::new);

    /** For the service loader. */
    public RegistryCommands() {}

    @Override
    public List<CommandEntry> commands() {
        return List.of(
                group("agent", "Register and find agents at the registry of a hub", agents()),
                of("discover", "Find agents by words, at a registry and its peers", DiscoverCommand::new),
                group(
                        "report",
                        "Report calls of the agents of a hub",
                        of(
                                "usage",
                                "Report calls, bytes, tasks and webhooks",
                                () -> new ReportCommand(
                                        ReportProtocol.USAGE, ReportProtocol.USAGE_REQUEST.parameters())),
                        of(
                                "reliability",
                                "Report success, failures and durations",
                                () -> new ReportCommand(
                                        ReportProtocol.RELIABILITY, ReportProtocol.RELIABILITY_REQUEST.parameters())),
                        of(
                                "series",
                                "Show the calls of the last hour in steps of 15 seconds",
                                () -> new ReportCommand(
                                        ReportProtocol.SERIES, ReportProtocol.SERIES_REQUEST.parameters()))),
                of("package", "Write a Dockerfile and an ignore file for an agent", PackageCommand::new));
    }

    @Override
    public Optional<String> hint(ErrorKind error, String agent) {
        return error.name().equals(RegistryError.ENTRY_NOT_FOUND.name())
                ? Optional.of("parley agent list shows the entries that you may see, with their ids")
                : Optional.empty();
    }

    /** A command for each operation of a registry. */
    private static CommandEntry[] agents() {
        var entries = new ArrayList<CommandEntry>();
        for (ExtensionMethod<?, ?> row : RegistryProtocol.PROTOCOL.methods()) {
            if (row.description() != null) {
                String name = row.name().substring(PREFIX.length()).replace('/', '-');
                entries.add(of(
                        name,
                        requireNonNull(row.description()).summary(),
                        () -> OF_ROWS.getOrDefault(row, AgentCommand::new).apply(row)));
            }
        }
        return entries.toArray(CommandEntry[]::new);
    }
}
