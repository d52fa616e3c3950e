package dev.parley.activity.hub;

import dev.parley.activity.ActivityOperation.CountTasks;
import dev.parley.activity.ActivityOperation.FindTasks;
import dev.parley.activity.ActivityOperation.ReadHistory;
import dev.parley.activity.ActivityOperation.ReadTrace;
import dev.parley.activity.ActivityOperation.WatchChanges;
import dev.parley.activity.ActivityProtocol;
import dev.parley.engine.Agent;
import dev.parley.engine.AgentExtension;
import dev.parley.extension.HubExtension;
import dev.parley.extension.HubObserver;
import dev.parley.extension.HubParts;
import dev.parley.protocol.AgentEndpoint;
import dev.parley.protocol.extension.ExtensionView;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The activity of one hub. */
final class ActivityHub implements HubExtension {
    private static final ExtensionView<AgentEndpoint> OPERATIONS =
            new ExtensionView<>(ActivityProtocol.PROTOCOL.uri(), ExtensionView.Use::operations);

    private final TaskTables tables;
    private final Histories histories;
    private final ActivityFeed changes;
    private final SpanTree spans;

    ActivityHub(HubParts hub, @Nullable String traceLink) {
        var views = new TaskViews(hub.tasks());
        this.changes = new ActivityFeed(hub);
        this.tables = new TaskTables(hub, views, changes::newest);
        this.histories = new Histories(hub, views);
        this.spans = new SpanTree(hub, traceLink);
    }

    @Override
    public String name() {
        return ActivityProtocol.AGENT;
    }

    @Override
    public List<Agent> agents() {
        return List.of(Agent.named(
                        ActivityProtocol.AGENT, "Shows the tasks of all agents of this hub, and their changes")
                .uses(OPERATIONS)
                .listed(false)
                .handle((request, reply) -> reply.reject(
                        "This agent takes no messages (expected: GET /activity/tasks, or another of its operations)")));
    }

    /** A hub may have an agent of that name, which then has it. */
    @Override
    public boolean without(String agent) {
        return true;
    }

    @Override
    public AgentExtension of(String hubUrl, String agentUrl, boolean streams) {
        return AgentExtension.of(ActivityProtocol.PROTOCOL, "Tasks over all agents of the hub")
                .call(FindTasks.class, tables::find)
                .call(CountTasks.class, tables::count)
                .call(ReadHistory.class, histories::read)
                .call(ReadTrace.class, spans::read)
                .watch(WatchChanges.class, changes::watch);
    }

    @Override
    public HubObserver hubObserver() {
        return changes;
    }

    @Override
    public void started() {
        changes.start();
    }

    @Override
    public void close() {
        changes.close();
    }
}
