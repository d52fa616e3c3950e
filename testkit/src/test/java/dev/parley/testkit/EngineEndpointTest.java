package dev.parley.testkit;

import dev.parley.engine.Engine;
import dev.parley.protocol.AgentEndpoint;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.TestInstance;

@TestInstance(TestInstance.Lifecycle.PER_CLASS)
final class EngineEndpointTest extends EndpointContract {
    private final Engine engine = engine();
    private final AgentEndpoint endpoint = engine.host(agent());

    @Override
    protected AgentEndpoint endpoint() {
        return endpoint;
    }

    @AfterAll
    void stop() {
        engine.close();
    }
}
