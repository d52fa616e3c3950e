package dev.parley.client;

import dev.parley.outbound.AddressRule;
import dev.parley.outbound.GuardedClients;
import dev.parley.testkit.AddressContract;
import java.util.List;

class AgentAddressTest extends AddressContract {
    @Override
    protected String call(String url, List<String> allowed) {
        try (var clients = new GuardedClients(AddressRule.allowing(allowed));
                var agent = AgentClient.builder()
                        .httpClient(clients.of("g"))
                        .retries(0)
                        .connect(url)) {
            return agent.card().name();
        }
    }
}
