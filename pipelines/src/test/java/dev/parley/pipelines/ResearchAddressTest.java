package dev.parley.pipelines;

import dev.parley.pipelines.research.ResearchAgents;
import dev.parley.testkit.AddressContract;
import java.util.List;
import java.util.Map;

class ResearchAddressTest extends AddressContract {
    @Override
    protected String call(String url, List<String> allowed) {
        try (var agents = new ResearchAgents(allowed);
                var steps = new Steps(agents.all())) {
            return steps.send("research-fetch", Map.of("sources", List.of(url)), List.of())
                    .status()
                    .toString();
        }
    }
}
