package dev.parley.trust;

import dev.parley.dialect.spi.RequestHead;
import dev.parley.engine.Engine;
import dev.parley.protocol.AgentCard;
import dev.parley.protocol.AgentEndpoint;
import dev.parley.protocol.CallContext;
import dev.parley.testkit.EndpointContract;
import dev.parley.trust.Authentication.Scheme;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.TestInstance;

/** The engine with its guard, called by a principal who may do everything with the agent. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
final class GuardedEndpointTest extends EndpointContract {
    private static final String KEY = "key-of-alice-1234";

    private final Engine engine = engine();
    private final Trust trust = Trust.builder(
                    Callers.builder().apiKey("alice", KEY).build(), null)
            .everywhere(Authentication.of(Scheme.API_KEY))
            .hub(() -> "http://127.0.0.1:7420")
            .build();
    private final AgentEndpoint endpoint = guarded();

    private AgentEndpoint guarded() {
        AgentEndpoint hosted = engine.host(agent());
        AgentCard card = agent().card(List.of(
                new AgentCard.Interface("http://127.0.0.1:7420", AgentCard.Interface.JSONRPC, null, "1.0")));
        return trust.guard(card, List.of(), card.name()).before(hosted);
    }

    @Override
    protected AgentEndpoint endpoint() {
        return endpoint;
    }

    @Override
    protected CallContext caller() {
        Map<String, String> headers = Map.of("X-Api-Key", KEY);
        return trust.admit("contract", new RequestHead("POST", "/agents/contract", headers::get, "192.0.2.1", null))
                .caller();
    }

    @AfterAll
    void stop() {
        engine.close();
    }
}
