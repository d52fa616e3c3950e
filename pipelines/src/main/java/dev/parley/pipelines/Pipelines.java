package dev.parley.pipelines;

import dev.parley.engine.Agent;
import dev.parley.engine.AgentSource;
import dev.parley.pipelines.etl.EtlAgents;
import dev.parley.pipelines.research.ResearchAgents;
import java.util.Collection;
import java.util.List;
import java.util.stream.Stream;

/** The agents of all pipelines, for a hub. Those of research fetch from public addresses only. */
public final class Pipelines implements AgentSource {
    /** For the service loader. */
    public Pipelines() {}

    @Override
    public Collection<Agent> agents() {
        return Stream.concat(EtlAgents.all().stream(), new ResearchAgents(List.of()).all().stream())
                .toList();
    }
}
