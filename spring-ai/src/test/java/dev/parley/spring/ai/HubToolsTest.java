package dev.parley.spring.ai;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.parley.client.AgentClient;
import dev.parley.engine.Agent;
import dev.parley.hub.Hub;
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
import org.springframework.ai.chat.client.ChatClient;
import org.springframework.ai.chat.model.ChatModel;
import org.springframework.ai.chat.prompt.Prompt;
import org.springframework.ai.model.tool.ToolCallingChatOptions;
import org.springframework.ai.tool.ToolCallback;

/** An agent with a model that calls tools of an MCP server, which are agents of another hub. */
@Timeout(60)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
final class HubToolsTest {
    private final AtomicReference<Prompt> last = new AtomicReference<>();
    private Hub server;
    private Hub hub;
    private AgentClient answering;
    private AgentClient streaming;

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
        ChatModel model = Models.model(prompt -> {
            last.set(prompt);
            return Models.obeying(prompt.getInstructions());
        });
        ChatClient client =
                ChatClient.builder(model).defaultTools(HubTools.create()).build();
        hub = Hub.builder()
                .inMemory()
                .port(0)
                .set("mcp-servers", file.toString())
                .agents(
                        Agent.named("answering", "Uses tools").handle(ChatAgent.answering(client)),
                        Agent.named("streaming", "Uses tools").handle(ChatAgent.streaming(client)))
                .start();
        answering = AgentClient.connect(hub.agentUrl("answering"));
        streaming = AgentClient.connect(hub.agentUrl("streaming"));
    }

    @AfterAll
    void stop() {
        answering.close();
        streaming.close();
        hub.close();
        server.close();
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "shout__message | hello!",
                "failing__failing | Error: The tool has failed: ",
                "input-required__input-required | Error: The tool asked a question, which the hub declined"
            })
    void aModelCallsATool(String tool, String result) {
        Task answered = (Task) answering.send(tool + " {\"message\": \"hello\"}");
        Task streamed = (Task) streaming.send(tool + " {\"message\": \"hello\"}");

        assertThat(answered.state()).isEqualTo(TaskState.COMPLETED);
        assertThat(answered.text()).contains(result);
        assertThat(streamed.text()).contains(result);
    }

    @Test
    void aModelSeesTheDescriptionAndTheParametersOfATool() {
        var unused = answering.send("shout__message {\"message\": \"hello\"}");

        var options = (ToolCallingChatOptions)
                requireNonNull(requireNonNull(last.get()).getOptions());
        assertThat(requireNonNull(options.getToolCallbacks()))
                .extracting(ToolCallback::getToolDefinition)
                .filteredOn(tool -> tool.name().equals("shout__message"))
                .singleElement()
                .satisfies(tool -> {
                    assertThat(tool.description()).contains("Shouts a text");
                    assertThat(tool.inputSchema()).contains("\"message\":");
                });
    }

    @Test
    void toolsNeedARequest() {
        assertThatThrownBy(() -> HubTools.create().getToolCallbacks()).hasMessageContaining("no request");
    }
}
