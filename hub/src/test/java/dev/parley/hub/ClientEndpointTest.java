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
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.params.Parameter;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;

/** The client over each dialect and binding, in front of an agent of a hub. */
@ParameterizedClass
@EnumSource
final class ClientEndpointTest extends EndpointContract {
    /** A dialect over one of its bindings, with what it lacks. */
    enum Wire {
        V1_JSONRPC("", "JSONRPC", "1.0"),
        V1_REST("", "HTTP+JSON", "1.0"),
        V1_GRPC("", "GRPC", "1.0"),
        V03_JSONRPC("", "JSONRPC", "0.3", PAGES),
        V03_REST("", "HTTP+JSON", "0.3", PAGES, FILE_NAMES),
        V03_GRPC("", "GRPC", "0.3", LISTS),
        V01_JSONRPC(
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
        KERNEL(
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
        AGENTVAULT(
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
                REJECTIONS);

        private final String path;
        private final String binding;
        private final String version;
        private final Set<Feature> absent;

        Wire(String path, String binding, String version, Feature... absent) {
            this.path = path;
            this.binding = binding;
            this.version = version;
            this.absent = EnumSet.noneOf(Feature.class);
            this.absent.addAll(List.of(absent));
        }
    }

    @Parameter
    Wire wire;

    private static Hub hub;
    private AgentClient client;

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

    @Override
    protected AgentEndpoint endpoint() {
        if (client == null) {
            client = AgentClient.builder()
                    .prefer(wire.binding)
                    .version(wire.version)
                    .connect(hub.agentUrl("contract") + wire.path);
            assertThat(client.address().protocolBinding()).isEqualTo(wire.binding);
            assertThat(client.address().protocolVersion()).isEqualTo(wire.version);
        }
        return client;
    }

    @Override
    protected Set<Feature> absent() {
        return wire.absent;
    }
}
