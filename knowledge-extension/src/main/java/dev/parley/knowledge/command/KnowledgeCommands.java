package dev.parley.knowledge.command;

import static dev.parley.command.CommandEntry.group;
import static dev.parley.command.CommandEntry.of;

import dev.parley.command.CommandEntry;
import dev.parley.command.CommandSource;
import dev.parley.knowledge.api.KnowledgeError;
import dev.parley.protocol.ErrorKind;
import java.util.List;
import java.util.Optional;

/** The commands {@code parley kg …}. */
public final class KnowledgeCommands implements CommandSource {
    /** For the service loader. */
    public KnowledgeCommands() {}

    @Override
    public Optional<String> hint(ErrorKind error, String agent) {
        return error == KnowledgeError.KNOWLEDGE_QUERY
                ? Optional.of("see the types and fields: parley kg schema -a " + agent + "; the wire messages: --debug")
                : Optional.empty();
    }

    @Override
    public List<CommandEntry> commands() {
        return List.of(group(
                "kg",
                "Query, update and watch the knowledge graph of an agent",
                of("query", "Query in GraphQL or SPARQL", KnowledgeCommand.Ask::new),
                of("update", "Add, remove or replace statements", KnowledgeCommand.Tell::new),
                of("subscribe", "Follow changes", KnowledgeCommand.Watch::new),
                of("import", "Add the statements of a file", KnowledgeImportCommand::new),
                of("export", "Save statements as a file", KnowledgeExportCommand::new),
                of("schema", "Show the GraphQL schema", KnowledgeCommand.Schema::new),
                of("stats", "Show the graphs and their sizes", KnowledgeCommand.Stats::new),
                of("draw", "Draw an entity and its neighbours", KnowledgeDrawCommand::new),
                of("rules", "Show or set the rules of a group", KnowledgeAdminCommand.Rules::new),
                of("shapes", "Show or set the SHACL shapes of a group", KnowledgeAdminCommand.Shapes::new),
                group(
                        "review",
                        "Approve or reject updates that wait for a review",
                        of("list", "List them", KnowledgeAdminCommand.ListAll::new),
                        of("approve", "Apply an update", () -> new KnowledgeAdminCommand.Decide("approve")),
                        of("reject", "Discard an update", () -> new KnowledgeAdminCommand.Decide("reject")))));
    }
}
