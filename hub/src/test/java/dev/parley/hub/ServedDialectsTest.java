package dev.parley.hub;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.client.AgentClient;
import dev.parley.engine.Agent;
import dev.parley.hub.Outsider.Frames;
import dev.parley.hub.Outsider.Shown;
import dev.parley.protocol.Task;
import dev.parley.protocol.TaskState;
import java.net.URI;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A hub answers in the dialects that it was given, and its cards list what it answers. */
@Timeout(60)
final class ServedDialectsTest {
    private static final String AT = "/agents/echo";
    private static final String SEND = "{'message':{'messageId':'m','role':'ROLE_USER','parts':[{'text':'hello'}]}}";
    private static final String KIND = "{'message':{'kind':'message','messageId':'m','role':'user','parts':"
            + "[{'kind':'text','text':'hello'}]}}";
    private static final String TYPE = "{'message':{'role':'user','parts':[{'type':'text','text':'hello'}]}}";

    private static HubBuilder hub(String... dialects) {
        return Hub.builder()
                .inMemory()
                .port(0)
                .dialects(List.of(dialects))
                .agents(Agent.named("echo", "Says it again")
                        .handle((request, reply) -> reply.complete(request.text())));
    }

    /** The interfaces of a card, as "binding version url". */
    private static List<String> interfaces(Hub hub, Outsider outsider) throws Exception {
        Shown all = Shown.of(outsider.get(AT + "/.well-known/agent-card.json", "A2A-Version", "1.0")
                        .body())
                .at("supportedInterfaces");
        return IntStream.range(0, all.size())
                .mapToObj(i -> all.at(i, "protocolBinding") + " " + all.at(i, "protocolVersion") + " "
                        + all.at(i, "url").text().replace(hub.url(), ""))
                .toList();
    }

    @Test
    void aHubOfTheAgenticKernelAnswersNothingElse() throws Exception {
        try (Hub hub = hub("kernel").start()) {
            var outsider = new Outsider(hub.url());

            assertThat(outsider.code(AT, "SendMessage", SEND)).isEqualTo(-32009);
            assertThat(outsider.code(AT, "SendMessage", SEND, "A2A-Version", "1.0"))
                    .isEqualTo(-32009);
            assertThat(outsider.code(AT, "message/send", KIND)).isEqualTo(-32009);
            assertThat(outsider.post(AT + "/message:send", SEND).body()).contains("VERSION_NOT_SUPPORTED");
            assertThat(outsider.post(AT + "/v1/message:send", KIND).body()).contains("VERSION_NOT_SUPPORTED");
            assertThat(outsider.result(AT + "/kernel", "tasks/send", TYPE)
                            .at("status", "state")
                            .text())
                    .isEqualTo("completed");
        }
    }

    @Test
    void aHubOf03AnswersNothingOf10() throws Exception {
        try (Hub hub = hub("0.3").start()) {
            var outsider = new Outsider(hub.url());
            Shown refused = outsider.rpc(AT, "SendMessage", SEND);

            assertThat(refused.at("error", "code").value()).isEqualTo(-32009);
            assertThat(refused.at("error", "message").text()).contains("expected: 0.3)");
            assertThat(outsider.code(AT, "tasks/send", TYPE)).isEqualTo(-32601);
            assertThat(outsider.post(AT + "/message:send", SEND, "A2A-Version", "1.0")
                            .body())
                    .contains("VERSION_NOT_SUPPORTED");
            assertThat(outsider.result(AT, "message/send", KIND).at("kind").text())
                    .isEqualTo("task");
            assertThat(interfaces(hub, outsider)).containsExactly("JSONRPC 0.3 " + AT, "HTTP+JSON 0.3 " + AT);
        }
    }

    @Test
    void cardsListNoDialectThatIsOff() throws Exception {
        try (Hub hub = hub("kernel").start()) {
            assertThat(interfaces(hub, new Outsider(hub.url()))).containsExactly("JSONRPC kernel " + AT);
        }
        try (Hub hub = hub("agentvault", "kernel").start()) {
            assertThat(interfaces(hub, new Outsider(hub.url())))
                    .containsExactly("JSONRPC kernel " + AT, "JSONRPC agentvault " + AT + "/agentvault");
        }
        try (Hub hub = hub("agentvault").start()) {
            Shown card =
                    Shown.of(new Outsider(hub.url()).get(AT + "/agentvault").body());

            assertThat(card.at("url").text())
                    .isEqualTo(hub.url().replace("127.0.0.1", "localhost") + AT + "/agentvault");
        }
        try (Hub hub = hub("1.0", "0.1").start()) {
            assertThat(interfaces(hub, new Outsider(hub.url())))
                    .containsExactly("JSONRPC 1.0 " + AT, "HTTP+JSON 1.0 " + AT, "JSONRPC 0.1 " + AT);
        }
    }

    @Test
    void anErrorAboutTheVersionNamesAllThatAreServed() throws Exception {
        try (Hub hub = hub("1.0", "0.3", "0.1").start()) {
            Shown refused = new Outsider(hub.url()).rpc(AT, "SendMessage", SEND, "A2A-Version", "2.0");

            assertThat(refused.at("error", "message").text()).contains("2.0 (expected: 1.0, 0.3, 0.1)");
            assertThat(refused.at("error", "data", 0, "metadata", "supportedVersions")
                            .text())
                    .isEqualTo("1.0,0.3,0.1");
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"/kernel", "/agentvault"})
    void aJsonRpcCallToADialectThatIsOffGetsAJsonRpcAnswer(String dialect) throws Exception {
        try (Hub hub = hub("1.0").start()) {
            var outsider = new Outsider(hub.url());
            Shown answer = outsider.rpc(AT + dialect, "tasks/send", TYPE);

            assertThat(answer.names()).containsExactlyInAnyOrder("jsonrpc", "id", "error");
            assertThat(answer.at("id").text()).isEqualTo("q-1");
            assertThat(answer.at("error", "code").value()).isEqualTo(-32601);
            assertThat(answer.at("error", "message").text()).contains("1.0");
        }
    }

    @Test
    void theAgenticKernelIsAtTheRootOfAPortOfItsOwn() throws Exception {
        try (Hub hub = hub("kernel", "1.0").start()) {
            var outsider = new Outsider(hub.url());

            assertThat(Shown.of(outsider.get("/.well-known/agent.json").body()).names())
                    .contains("default_input_modes", "url");
            assertThat(outsider.result("/", "agent/getCard", "{}").names()).contains("default_input_modes");
            assertThat(outsider.result("", "tasks/send", TYPE).names()).contains("session_id");
            try (Frames frames = outsider.stream("", "tasks/sendSubscribe", TYPE)) {
                assertThat(frames.all().getLast().at("final").value()).isEqualTo(true);
            }
            assertThat(outsider.result("", "SendMessage", SEND)
                            .at("task", "status", "state")
                            .text())
                    .isEqualTo("TASK_STATE_COMPLETED");
        }
        try (Hub hub = hub("kernel").start();
                AgentClient client = AgentClient.connect(hub.url())) {
            assertThat(((Task) client.send("hello")).state()).isEqualTo(TaskState.COMPLETED);
        }
    }

    /** Clients of the Agent Development Kit refuse a card of which one URL has another origin than the card. */
    @Test
    void everyUrlOfACardHasTheOriginOfTheCard() throws Exception {
        try (Hub hub = hub("1.0", "0.3", "0.1").start()) {
            var outsider = new Outsider(hub.url());
            Shown card =
                    Shown.of(outsider.get(AT + "/.well-known/agent-card.json").body());
            Shown all = card.at("supportedInterfaces");

            assertThat(all.size()).isEqualTo(5);
            for (int i = 0; i < all.size(); i++) {
                assertThat(URI.create(all.at(i, "url").text()).resolve("/"))
                        .isEqualTo(URI.create(hub.url()).resolve("/"));
            }
            assertThat(card.at("additionalInterfaces").toString()).doesNotContain("GRPC");
        }
    }

    @Test
    void grpcIsOnCardsOnDemand() throws Exception {
        try (Hub hub = hub("1.0", "0.3").grpcOnCards(true).start()) {
            String authority = hub.url().replace("http://", "");

            assertThat(interfaces(hub, new Outsider(hub.url())))
                    .contains("GRPC 1.0 " + authority, "GRPC 0.3 " + authority);
        }
    }
}
