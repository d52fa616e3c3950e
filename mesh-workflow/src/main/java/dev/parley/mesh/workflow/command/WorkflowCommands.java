package dev.parley.mesh.workflow.command;

import static dev.parley.command.CommandEntry.group;
import static dev.parley.command.CommandEntry.of;

import dev.parley.command.CommandEntry;
import dev.parley.command.CommandSource;
import dev.parley.mesh.workflow.WorkflowOperation.Repeat;
import dev.parley.mesh.workflow.WorkflowOperation.Resume;
import java.util.List;

/** The commands {@code parley workflow …}. */
public final class WorkflowCommands implements CommandSource {
    /** For the service loader. */
    public WorkflowCommands() {}

    @Override
    public List<CommandEntry> commands() {
        return List.of(group(
                "workflow",
                "Run workflows of agents on a hub, and store their definitions",
                of("run", "Run a document or a definition, and show its progress", WorkflowCommand.Start::new),
                of("watch", "Follow a run to its end, and show its result", WorkflowCommand.FollowRun::new),
                of("show", "Show a run and its steps, or a definition", WorkflowCommand.Show::new),
                of("list", "List definitions, and runs, the newest first", WorkflowCommand.ListAll::new),
                of("resume", "Resume a run that failed or was canceled", () -> new WorkflowCommand.Again(Resume::new)),
                of("repeat", "Repeat a run with the same inputs", () -> new WorkflowCommand.Again(Repeat::new)),
                of("save", "Store a definition, as the next version of its name", Definition.Save::new),
                of("delete", "Delete a definition, or a version of it", Definition.Delete::new),
                of("cancel", "Cancel a run and its steps", WorkflowCommand.Stop::new),
                of("graph", "Draw a document or a run for Mermaid or Graphviz", WorkflowCommand.Graph::new),
                of("check", "Check a document, without a hub or by it", WorkflowCommand.Check::new),
                of("votes", "List votes, and those that wait for a ballot", VoteCommand.Votes::new),
                of("vote", "Cast a ballot in a vote", VoteCommand.Ballot::new)));
    }
}
