package dev.parley.agenttools;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.client.AgentClient;
import dev.parley.engine.Agent;
import dev.parley.engine.AgentHandler;
import dev.parley.protocol.Message;
import dev.parley.protocol.Part;
import dev.parley.testkit.LocalAgent;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.UnaryOperator;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** The example of {@code package-info.java}. */
final class ExampleTest {
    /** A library of models, whose model calls a tool with each text of its user. */
    private static final class Service {
        private final Map<String, UnaryOperator<String>> tools = new HashMap<>();

        void add(String name, String description, Map<String, @Nullable Object> schema, UnaryOperator<String> tool) {
            assertThat(description).isEqualTo("Is a fake");
            assertThat(schema).containsKey("properties");
            tools.put(name, tool);
        }

        String answer(String conversation, String text) {
            assertThat(conversation).isNotEmpty();
            return requireNonNull(tools.get("trips")).apply("{\"message\": \"" + text + "\"}");
        }
    }

    private static AgentHandler handler(Service service, AgentClient trips) {
        for (ModelTool tool : RemoteAgents.of(List.of(trips)).tools()) {
            UnaryOperator<String> call = arguments -> tool.call(arguments, null).text();
            service.add(tool.name(), tool.description(), tool.inputSchema(), call);
        }

        return ConversationHandler.answering(
                request -> service.answer(ConversationHandler.conversationId(request), request.text()));
    }

    @Test
    void anAgentAnswersByAServiceWhoseModelCallsAnotherAgent() {
        FakeAgent trips = FakeAgent.answering(
                "trips", (agent, message) -> Message.agent(Part.text("a trip to " + message.text())));

        try (LocalAgent desk = LocalAgent.of(Agent.named("desk", "Asks").handle(handler(new Service(), trips)))) {
            assertThat(desk.send("Lisbon").text()).isEqualTo("a trip to Lisbon");
        }
    }

    @Test
    void thePackageShowsTheExampleThatIsTested() throws IOException {
        String documentation = source("main", "package-info");

        String example = documentation.substring(
                documentation.indexOf("{@code\n") + "{@code\n".length(), documentation.indexOf("\n}</pre>"));

        assertThat(source("test", "ExampleTest")).contains(example);
    }

    /** The lines of a file, without blank lines, indentation and the stars of comments. */
    private static String source(String folder, String name) throws IOException {
        return Files.readAllLines(Path.of("src", folder, "java/dev/parley/agenttools", name + ".java")).stream()
                .map(line -> line.strip().replaceFirst("^\\*\\s*", ""))
                .filter(line -> !line.isEmpty())
                .collect(Collectors.joining("\n"));
    }
}
