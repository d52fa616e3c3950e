package dev.parley.spring.ai;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.parley.client.AgentClient;
import dev.parley.engine.Agent;
import dev.parley.hub.Hub;
import dev.parley.protocol.Part;
import dev.parley.protocol.Task;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.ai.chat.client.ChatClient;
import org.springframework.ai.chat.client.advisor.MessageChatMemoryAdvisor;
import org.springframework.ai.chat.memory.MessageWindowChatMemory;
import org.springframework.ai.chat.messages.AssistantMessage;
import org.springframework.ai.chat.messages.Message;
import org.springframework.ai.chat.messages.SystemMessage;
import org.springframework.ai.chat.messages.ToolResponseMessage;
import org.springframework.ai.chat.messages.ToolResponseMessage.ToolResponse;
import org.springframework.ai.chat.messages.UserMessage;
import reactor.core.publisher.Flux;
import reactor.core.scheduler.Schedulers;

/** Chat memories in the database of a hub. */
@Timeout(60)
final class HubMemoryTest {
    @TempDir
    private Path data;

    @Test
    void aConversationGoesOnAfterARestart() throws IOException {
        for (String heard : List.of("one", "one, two")) {
            try (Hub hub = hub(listener("listener"))) {
                assertThat(say(hub, "listener", last(heard), "c1")).isEqualTo("heard: " + heard);
                assertThat(say(hub, "listener", last(heard), "c-" + heard)).isEqualTo("heard: " + last(heard));
            }
        }
    }

    @Test
    void aStreamHasItsMemoryOnTheThreadsOfItsModel() throws IOException {
        for (String heard : List.of("one", "one, said: one, two")) {
            try (Hub hub = hub(RememberingAgent.agent(Models.model(
                    prompt -> new AssistantMessage("said: " + all(prompt.getInstructions())),
                    answer -> Flux.just(answer).publishOn(Schedulers.parallel()))))) {
                assertThat(say(hub, "assistant", last(heard), "c1")).isEqualTo("said: " + heard);
            }
        }
    }

    @Test
    void agentsThatShareAContextHaveMemoriesOfTheirOwn() throws IOException {
        try (Hub hub = hub(listener("first"), listener("second"))) {
            say(hub, "first", "one", "shared");

            assertThat(say(hub, "second", "two", "shared")).isEqualTo("heard: two");
        }
    }

    @Test
    void aHubInMemoryHasItsMemoriesInTheRepository() throws IOException {
        try (Hub hub =
                Hub.builder().inMemory().port(0).agents(listener("listener")).start()) {
            say(hub, "listener", "one", "c1");

            assertThat(say(hub, "listener", "two", "c1")).isEqualTo("heard: one, two");
        }
    }

    @Test
    void aMemoryOfTheApplicationMayUseTheRepositoryAndClearIt() throws IOException {
        var memory = MessageWindowChatMemory.builder()
                .chatMemoryRepository(HubMemory.create())
                .build();
        ChatClient client = client(MessageChatMemoryAdvisor.builder(memory).build());
        Agent agent = Agent.named("forgetful", "Forgets on demand").handle(ChatAgent.answering(request -> {
            if (request.text().equals("forget")) {
                memory.clear(ChatAgent.conversationId(request));
            }
            return client.prompt().user(request.text());
        }));
        try (Hub hub = hub(agent)) {
            say(hub, "forgetful", "one", "c1");
            assertThat(say(hub, "forgetful", "two", "c1")).isEqualTo("heard: one, two");

            assertThat(say(hub, "forgetful", "forget", "c1")).isEqualTo("heard: forget");
        }
    }

    @Test
    void aClientThatNoAgentCallsHasNoMemory() {
        assertThatThrownBy(() -> HubMemory.create().findByConversationId("c1"))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("memory \"c1\": no request of this conversation");
        assertThatThrownBy(() -> HubMemory.create().findConversationIds())
                .isInstanceOf(UnsupportedOperationException.class)
                .hasMessageContaining("expected: parley privacy export");
    }

    @Test
    void messagesOfEachKindAreReadAsTheyWereWritten() {
        List<Message> messages = List.of(
                SystemMessage.builder()
                        .text("Be \"brief\".")
                        .metadata(Map.of("version", 2))
                        .build(),
                UserMessage.builder()
                        .text("Grüße\n✓")
                        .metadata(Map.of("tags", List.of("a", true), "nested", Map.of("id", 7)))
                        .build(),
                Models.calling("weather", "{\"city\":\"Oslo\"}"),
                ToolResponseMessage.builder()
                        .responses(List.of(new ToolResponse("call-1", "weather", "{\"degrees\":4}")))
                        .build(),
                AssistantMessage.builder()
                        .content("4 degrees")
                        .properties(Map.of("finishReason", "STOP"))
                        .build());

        assertThat(StoredMessages.read(StoredMessages.write(messages))).isEqualTo(messages);
    }

    @Test
    void metadataThatAreNotJsonAreLeftOut() {
        List<Message> messages = List.of(UserMessage.builder()
                .text("hello")
                .metadata(Map.of("client", new Object(), "kept", "yes"))
                .build());

        assertThat(StoredMessages.read(StoredMessages.write(messages)))
                .singleElement()
                .satisfies(read -> assertThat(read.getMetadata())
                        .containsEntry("kept", "yes")
                        .doesNotContainKey("client"));
    }

    private static ChatClient client(MessageChatMemoryAdvisor memory) {
        return ChatClient.builder(
                        Models.answering(messages -> new AssistantMessage("heard: " + Models.heard(messages))))
                .defaultAdvisors(memory)
                .build();
    }

    private static Agent listener(String name) {
        return Agent.named(name, "Repeats the messages of its context")
                .handle(ChatAgent.answering(client(HubMemory.ofMessages(20))));
    }

    private static String all(List<Message> messages) {
        return String.join(
                ", ",
                messages.stream()
                        .map(message -> String.valueOf(message.getText()))
                        .toList());
    }

    private static String last(String heard) {
        return heard.substring(heard.lastIndexOf(' ') + 1);
    }

    private Hub hub(Agent... agents) throws IOException {
        return Hub.builder().data(data).port(0).agents(agents).start();
    }

    private static String say(Hub hub, String agent, String text, String context) throws IOException {
        try (AgentClient client = AgentClient.connect(hub.agentUrl(agent))) {
            return ((Task) client.send(
                            dev.parley.protocol.Message.user(Part.text(text)).in(context, null)))
                    .text();
        }
    }
}
