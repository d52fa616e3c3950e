package dev.parley.langchain4j;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.langchain4j.data.message.AiMessage;
import dev.langchain4j.service.AiServices;
import dev.langchain4j.service.MemoryId;
import dev.langchain4j.service.TokenStream;
import dev.langchain4j.service.UserMessage;
import dev.langchain4j.service.V;
import dev.parley.client.AgentClient;
import dev.parley.engine.Agent;
import dev.parley.hub.Hub;
import dev.parley.protocol.Message;
import dev.parley.protocol.Part;
import dev.parley.protocol.Task;
import dev.parley.protocol.TaskState;
import dev.parley.trust.Authentication;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Chat memories in the database of a hub. */
@Timeout(60)
final class HubMemoryTest {
    @TempDir
    Path data;

    interface Assistant {
        @UserMessage("{{text}}")
        String chat(@MemoryId String conversation, @V("text") String text);
    }

    interface StreamingAssistant {
        @UserMessage("{{text}}")
        TokenStream chat(@MemoryId String conversation, @V("text") String text);
    }

    @Test
    void aConversationGoesOnAfterARestart() throws IOException {
        String context;
        try (Hub hub = hub(listener("listener"));
                AgentClient agent = AgentClient.connect(hub.agentUrl("listener"))) {
            context = ((Task) agent.send("one")).contextId();
        }
        try (Hub hub = hub(listener("listener"));
                AgentClient agent = AgentClient.connect(hub.agentUrl("listener"))) {
            assertThat(((Task) agent.send(user("two", context))).text()).isEqualTo("heard: one, two");
            assertThat(((Task) agent.send(user("three", "other"))).text()).isEqualTo("heard: three");
        }
    }

    @Test
    void aStreamWritesItsMemoryOnTheThreadsOfItsModel() throws IOException {
        for (String heard : List.of("one", "one, said: one, two")) {
            try (Hub hub = hub(streaming());
                    AgentClient agent = AgentClient.connect(hub.agentUrl("streaming"))) {
                String text = heard.substring(heard.lastIndexOf(' ') + 1);

                assertThat(((Task) agent.send(user(text, "c1"))).text()).isEqualTo("said: " + heard);
            }
        }
    }

    @Test
    void agentsThatShareAContextHaveMemoriesOfTheirOwn() throws IOException {
        try (Hub hub = hub(listener("first"), listener("second"));
                AgentClient first = AgentClient.connect(hub.agentUrl("first"));
                AgentClient second = AgentClient.connect(hub.agentUrl("second"))) {
            first.send(user("one", "shared"));

            assertThat(((Task) second.send(user("two", "shared"))).text()).isEqualTo("heard: two");
        }
    }

    @Test
    void callersThatNameTheSameContextDoNotSeeEachOtherAndErasureRemovesTheMemory() throws Exception {
        String admin;
        String alices;
        String bobs;
        try (Hub hub = securedHub()) {
            admin = hub.bootstrapKey().orElseThrow();
            alices = key(hub, admin, "alice");
            bobs = key(hub, admin, "bob");
            say(hub, alices, "my secret");
            assertThat(say(hub, bobs, "tell me")).isEqualTo("heard: tell me");
            assertThat(say(hub, alices, "again")).isEqualTo("heard: my secret, again");

            post(hub, admin, "/admin/privacy/erase?group=T1&principal=alice", "{}");

            assertThat(say(hub, key(hub, admin, "alice"), "who am I")).isEqualTo("heard: who am I");
            assertThat(say(hub, bobs, "still")).isEqualTo("heard: tell me, still");
        }
        try (Hub hub = securedHub()) {
            post(hub, admin, "/admin/privacy/erase?group=T1&contextId=shared", "{}");

            assertThat(say(hub, bobs, "hello")).isEqualTo("heard: hello");
        }
    }

    @Test
    void aHubInMemoryHasItsMemoriesInTheStore() throws IOException {
        try (Hub hub = Hub.builder()
                        .inMemory()
                        .port(0)
                        .agents(listener("listener"))
                        .start();
                AgentClient agent = AgentClient.connect(hub.agentUrl("listener"))) {
            agent.send(user("one", "c1"));

            assertThat(((Task) agent.send(user("two", "c1"))).text()).isEqualTo("heard: one, two");
        }
    }

    @Test
    void aServiceThatNoAgentCallsHasNoMemory() {
        assertThatThrownBy(() -> HubMemory.create().getMessages("c1"))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("memory \"c1\": no request of this conversation");
    }

    private Agent listener(String name) {
        Assistant assistant = AiServices.builder(Assistant.class)
                .chatModel(Models.answering(messages -> AiMessage.from("heard: " + Models.heard(messages))))
                .chatMemoryProvider(HubMemory.ofMessages(20))
                .build();
        return Agent.named(name, "Repeats the messages of its context").handle(ChatAgent.answering(assistant::chat));
    }

    /** Answers with all texts of the conversation, its own ones, too. */
    private static Agent streaming() {
        StreamingAssistant assistant = AiServices.builder(StreamingAssistant.class)
                .streamingChatModel(Models.streaming((messages, handler) -> {
                    String all = messages.stream()
                            .map(message -> message instanceof AiMessage answer
                                    ? answer.text()
                                    : ((dev.langchain4j.data.message.UserMessage) message).singleText())
                            .reduce((one, other) -> one + ", " + other)
                            .orElseThrow();
                    handler.onPartialResponse("said: " + all);
                    handler.onCompleteResponse(Models.response(AiMessage.from("said: " + all)));
                }))
                .chatMemoryProvider(HubMemory.ofMessages(20))
                .build();
        return Agent.named("streaming", "Repeats its context").handle(ChatAgent.streaming(assistant::chat));
    }

    private Hub hub(Agent... agents) throws IOException {
        return Hub.builder().data(data).port(0).agents(agents).start();
    }

    private Hub securedHub() {
        return Hub.builder()
                .data(data)
                .port(0)
                .authentication(Authentication.named(List.of("required")))
                .agents(listener("listener"))
                .start();
    }

    private static String key(Hub hub, String admin, String principal) throws Exception {
        String made =
                post(hub, admin, "/admin/keys", "{\"group\":\"T1\",\"principal\":\"" + principal + "\",\"scopes\":[]}");
        return made.replaceFirst("(?s).*\"key\":\"([^\"]+)\".*", "$1");
    }

    private static String say(Hub hub, String key, String text) throws IOException {
        try (AgentClient client = AgentClient.builder().apiKey(key).connect(hub.agentUrl("listener"))) {
            Task task = (Task) client.send(user(text, "shared"));
            assertThat(task.state()).isEqualTo(TaskState.COMPLETED);
            return task.text();
        }
    }

    private static String post(Hub hub, String key, String path, String body) throws Exception {
        HttpRequest request = HttpRequest.newBuilder(URI.create(hub.url() + path))
                .header("X-Api-Key", key)
                .header("Content-Type", "application/json")
                .POST(BodyPublishers.ofString(body))
                .build();
        try (HttpClient http = HttpClient.newHttpClient()) {
            var answer = http.send(request, BodyHandlers.ofString());
            assertThat(answer.statusCode()).as(answer.body()).isBetween(200, 201);
            return answer.body();
        }
    }

    private static Message user(String text, String context) {
        return Message.user(Part.text(text)).in(context, null);
    }
}
