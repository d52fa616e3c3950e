package dev.parley.hub;

import static dev.parley.testkit.EndpointContract.Feature.BYTES;
import static dev.parley.testkit.EndpointContract.Feature.CONTEXTS;
import static dev.parley.testkit.EndpointContract.Feature.ENDS;
import static dev.parley.testkit.EndpointContract.Feature.FILE_NAMES;
import static dev.parley.testkit.EndpointContract.Feature.LISTS;
import static dev.parley.testkit.EndpointContract.Feature.LIVE_SUBSCRIPTIONS;
import static dev.parley.testkit.EndpointContract.Feature.MESSAGE_ANSWERS;
import static dev.parley.testkit.EndpointContract.Feature.MESSAGE_IDS;
import static dev.parley.testkit.EndpointContract.Feature.PAGES;
import static dev.parley.testkit.EndpointContract.Feature.REJECTIONS;
import static dev.parley.testkit.EndpointContract.Feature.RETURN_IMMEDIATELY;
import static dev.parley.testkit.EndpointContract.Feature.STREAMS_END_AT_QUESTIONS;
import static dev.parley.testkit.EndpointContract.Feature.UNKNOWN_TASKS;
import static dev.parley.testkit.EndpointContract.Feature.WEBHOOKS;
import static dev.parley.testkit.EndpointContract.Feature.WEBHOOK_LISTS;
import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.client.AgentClient;
import dev.parley.protocol.AgentEndpoint;
import dev.parley.testkit.EndpointContract;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.MethodSource;

/** The client over each dialect and binding, in front of an agent of a hub. */
@ParameterizedClass
@MethodSource("wires")
final class ClientEndpointTest extends EndpointContract {
    /** A dialect over one of its bindings, with the features that it lacks. */
    record Wire(String path, String binding, String version, Set<Feature> absent) {}

    private static Wire wire(String path, String binding, String version, Feature... absent) {
        return new Wire(path, binding, version, Set.of(absent));
    }

    static Stream<Wire> wires() {
        return Stream.of(
                wire("", "JSONRPC", "1.0"),
                wire("", "HTTP+JSON", "1.0"),
                wire("", "GRPC", "1.0"),
                wire("", "JSONRPC", "0.3", PAGES),
                wire("", "HTTP+JSON", "0.3", PAGES, FILE_NAMES),
                wire("", "GRPC", "0.3", LISTS),
                wire(
                        "",
                        "JSONRPC",
                        "0.1",
                        MESSAGE_ANSWERS,
                        RETURN_IMMEDIATELY,
                        LISTS,
                        WEBHOOK_LISTS,
                        UNKNOWN_TASKS,
                        ENDS,
                        LIVE_SUBSCRIPTIONS),
                wire(
                        "/kernel",
                        "JSONRPC",
                        "kernel",
                        MESSAGE_ANSWERS,
                        RETURN_IMMEDIATELY,
                        LISTS,
                        STREAMS_END_AT_QUESTIONS,
                        WEBHOOK_LISTS,
                        UNKNOWN_TASKS,
                        ENDS,
                        LIVE_SUBSCRIPTIONS),
                wire(
                        "/agentvault",
                        "JSONRPC",
                        "agentvault",
                        MESSAGE_ANSWERS,
                        CONTEXTS,
                        LISTS,
                        STREAMS_END_AT_QUESTIONS,
                        WEBHOOKS,
                        WEBHOOK_LISTS,
                        MESSAGE_IDS,
                        BYTES,
                        FILE_NAMES,
                        LIVE_SUBSCRIPTIONS,
                        REJECTIONS));
    }

    private static Hub hub;

    private final Wire wire;
    private final AgentClient client;

    ClientEndpointTest(Wire wire) {
        this.wire = wire;
        this.client = AgentClient.builder()
                .prefer(wire.binding)
                .version(wire.version)
                .connect(hub.agentUrl("contract") + wire.path);
        assertThat(client.address().protocolBinding()).isEqualTo(wire.binding);
        assertThat(client.address().protocolVersion()).isEqualTo(wire.version);
    }

    @BeforeAll
    static void start() {
        hub = Hub.builder()
                .inMemory()
                .port(0)
                .grpcOnCards(true)
                .agents(agent())
                .webhookAllow(List.of("127.0.0.1"))
                .drain(Duration.ZERO)
                .start();
    }

    @AfterAll
    static void stop() {
        hub.close();
    }

    @AfterEach
    void disconnect() {
        client.close();
    }

    @Override
    protected AgentEndpoint endpoint() {
        return client;
    }

    @Override
    protected Set<Feature> absent() {
        return wire.absent;
    }
}
