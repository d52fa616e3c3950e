package dev.parley.gateway.card;

import dev.parley.client.AgentClient;
import dev.parley.outbound.AddressRule;
import dev.parley.testkit.AddressContract;
import java.net.URI;
import java.util.List;

class RemoteCardAddressTest extends AddressContract {
    @Override
    protected String call(String url, List<String> allowed) {
        try (var cards = new RemoteCards(AddressRule.allowing(allowed, "gateway-allow"), List.of())) {
            return "bytes " + cards.fetch(URI.create(url), () -> AgentClient.connect(url)).length;
        }
    }
}
