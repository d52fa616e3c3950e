package dev.parley.gateway.hub;

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
import dev.parley.hub.Hub;
import dev.parley.hub.HubBuilder;
import dev.parley.protocol.AgentEndpoint;
import dev.parley.testkit.EndpointContract;
import java.io.IOException;
import java.time.Duration;
import java.util.EnumSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;

/** Callers in one dialect of a remote agent in another one, behind a gateway: real hubs, over the network. */
abstract class DialectMatrixContract extends EndpointContract {
    /** A dialect over one of its bindings, with the features that it lacks. */
    record Wire(String path, String binding, String version, Set<Feature> absent) {
        /** Name of the route to the agent in this dialect. */
        String route() {
            return (version + "-" + binding.replace("+", "-")).toLowerCase(Locale.ROOT);
        }

        @Override
        public String toString() {
            return version + " " + binding;
        }
    }

    /** A caller, and the remote agent. */
    record Pair(Wire caller, Wire remote) {
        @Override
        public String toString() {
            return caller + " to " + remote;
        }
    }

    private static Wire wire(String path, String binding, String version, Feature... absent) {
        return new Wire(path, binding, version, Set.of(absent));
    }

    static final List<Wire> WIRES = List.of(
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

    /** Features that depend on the caller only, as the gateway has them by itself. */
    private static final Set<Feature> OF_THE_GATEWAY =
            EnumSet.of(LISTS, PAGES, UNKNOWN_TASKS, RETURN_IMMEDIATELY, WEBHOOKS, WEBHOOK_LISTS);

    private static final Hub REMOTE = hub().agents(agent()).start();
    private static final Hub GATEWAY = gateway();

    private static HubBuilder hub() {
        return Hub.builder()
                .inMemory()
                .port(0)
                .grpcOnCards(true)
                .webhookAllow(List.of("127.0.0.1"))
                .drain(Duration.ZERO);
    }

    private static Hub gateway() {
        try {
            Hub gateway = hub().start();
            for (Wire wire : WIRES) {
                Admin.of(gateway)
                        .add(
                                wire.route(),
                                REMOTE.agentUrl("contract") + wire.path(),
                                Map.of("binding", wire.binding(), "version", wire.version()));
            }
            return gateway;
        } catch (IOException | InterruptedException failure) {
            throw new IllegalStateException(failure);
        }
    }

    static Stream<Pair> pairs() {
        // Clients of 0.3 over gRPC have no name for an agent that is not the default one.
        return WIRES.stream()
                .filter(caller -> !caller.toString().equals("0.3 GRPC"))
                .flatMap(caller -> WIRES.stream().map(remote -> new Pair(caller, remote)));
    }

    private final Pair pair;
    private final AgentClient client;

    DialectMatrixContract(Pair pair) {
        this.pair = pair;
        Wire caller = pair.caller();
        this.client = AgentClient.builder()
                .prefer(caller.binding())
                .version(caller.version())
                .connect(GATEWAY.agentUrl(pair.remote().route()) + caller.path());
        assertThat(client.address().protocolBinding()).isEqualTo(caller.binding());
        assertThat(client.address().protocolVersion()).isEqualTo(caller.version());
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
        var absent = EnumSet.noneOf(Feature.class);
        absent.addAll(pair.remote().absent());
        absent.removeAll(OF_THE_GATEWAY);
        absent.addAll(pair.caller().absent());
        if (pair.caller().absent().contains(UNKNOWN_TASKS)) {
            absent.remove(MESSAGE_IDS); // callers that name their tasks find the same name again
        }
        return absent;
    }
}
