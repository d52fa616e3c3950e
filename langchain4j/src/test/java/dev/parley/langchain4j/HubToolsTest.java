package dev.parley.langchain4j;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.langchain4j.data.message.UserMessage;
import dev.langchain4j.memory.chat.MessageWindowChatMemory;
import dev.langchain4j.model.chat.ChatModel;
import dev.langchain4j.model.chat.request.ChatRequest;
import dev.langchain4j.model.chat.response.ChatResponse;
import dev.langchain4j.service.AiServices;
import dev.langchain4j.service.tool.ToolProviderRequest;
import dev.parley.client.AgentClient;
import dev.parley.engine.Agent;
import dev.parley.hub.Hub;
import dev.parley.langchain4j.TravelDesk.Desk;
import dev.parley.protocol.Task;
import dev.parley.protocol.TaskState;
import dev.parley.testkit.ScriptedAgents;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** An agent with a model that calls tools of an MCP server, which are agents of another hub. */
@Timeout(60)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
final class HubToolsTest {
    private final AtomicReference<ChatRequest> last = new AtomicReference<>();
    private Hub server;
    private Hub hub;
    private AgentClient desk;

    @BeforeAll
    void start(@TempDir Path directory) throws IOException {
        server = Hub.builder()
                .inMemory()
                .port(0)
                .agents(
                        Agent.named("shout", "Shouts a text")
                                .handle((request, reply) -> reply.complete(request.text() + "!")),
                        ScriptedAgents.failing(),
                        ScriptedAgents.inputRequired())
                .start();
        Path file = Files.writeString(
                directory.resolve("servers.json"),
                "{\"mcpServers\": {\"remote\": {\"url\": \"" + server.url() + "/mcp\"}}}");
        ChatModel model = new ChatModel() {
            @Override
            public ChatResponse doChat(ChatRequest request) {
                last.set(request);
                return Models.response(Models.obeying(request.messages()));
            }
        };
        Desk service = AiServices.builder(Desk.class)
                .chatModel(model)
                .chatMemoryProvider(id ->
                        MessageWindowChatMemory.builder().id(id).maxMessages(20).build())
                .toolProvider(HubTools.create())
                .build();
        hub = Hub.builder()
                .inMemory()
                .port(0)
                .set("mcp-servers", file.toString())
                .agents(Agent.named("desk", "Uses tools").handle(ChatAgent.answering(service::chat)))
                .start();
        desk = AgentClient.connect(hub.agentUrl("desk"));
    }

    @AfterAll
    void stop() {
        desk.close();
        hub.close();
        server.close();
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "shout__message | hello!",
                "failing__failing | error: The tool has failed: ",
                "input-required__input-required | error: The tool asked a question, which the hub declined"
            })
    void aModelCallsATool(String tool, String result) {
        Task task = (Task) desk.send(tool + " {\"message\": \"hello\"}");

        assertThat(task.state()).isEqualTo(TaskState.COMPLETED);
        assertThat(task.text()).contains(result);
    }

    @Test
    void aModelSeesTheDescriptionAndTheParametersOfATool() {
        var unused = desk.send("shout__message {\"message\": \"hello\"}");

        assertThat(requireNonNull(last.get()).toolSpecifications())
                .filteredOn(tool -> tool.name().equals("shout__message"))
                .singleElement()
                .satisfies(tool -> {
                    assertThat(tool.description()).contains("Shouts a text");
                    assertThat(tool.parameters().properties()).containsKey("message");
                });
    }

    @Test
    void toolsNeedARequest() {
        assertThatThrownBy(
                        () -> HubTools.create().provideTools(new ToolProviderRequest("1", UserMessage.from("hello"))))
                .hasMessageContaining("no request");
    }
}
