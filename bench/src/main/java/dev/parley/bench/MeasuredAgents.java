package dev.parley.bench;

import dev.parley.engine.Agent;
import dev.parley.engine.AgentSource;
import dev.parley.testkit.ScriptedAgents;
import java.util.Collection;
import java.util.List;

/** The agents that a hub under measurement hosts besides the demo agents. */
public final class MeasuredAgents implements AgentSource {
    @Override
    public Collection<Agent> agents() {
        return List.of(ScriptedAgents.chatty(), ScriptedAgents.chunked(), ScriptedAgents.inputRequired());
    }
}
