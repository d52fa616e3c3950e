package dev.parley.pipelines.repair;

import dev.langchain4j.model.chat.ChatModel;
import dev.langchain4j.model.openai.OpenAiChatModel;
import dev.parley.client.AgentClient;
import dev.parley.engine.Agent;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Agents and MCP servers of the auto-repair shop. */
public final class RepairShop {
    private RepairShop() {}

    /**
     * The manager, the mechanic and the supplier.
     *
     * @param client connects to an agent of the shop by its name
     * @param isSoldOut whether the part that the story needs is out of stock
     * @param model of the mechanic; null for one that follows rules
     */
    public static List<Agent> agents(Function<String, AgentClient> client, boolean isSoldOut, @Nullable Model model) {
        ChatModel chat = model == null
                ? null
                : OpenAiChatModel.builder()
                        .baseUrl(model.url())
                        .modelName(model.name())
                        .apiKey(model.key())
                        .timeout(Duration.ofMinutes(2))
                        .maxRetries(1)
                        .build();
        return List.of(
                ShopManager.agent(client), Mechanic.agent(chat), PartsSupplier.agent(PartsSupplier.stock(isSoldOut)));
    }

    /**
     * A language model behind an API like that of OpenAI; Ollama has one at {@code /v1}.
     *
     * @param url of the API, up to {@code /v1}
     * @param name of the model
     * @param key sent as a bearer token
     */
    public record Model(String url, String name, String key) {}

    /**
     * The MCP servers as {@code --mcp-servers} reads them: this program in processes of their own.
     *
     * @param crashes file of a scanner that halts in its first call, as in {@link RepairTools#named}; null for one that does not
     */
    public static Map<String, @Nullable Object> servers(@Nullable Path crashes) {
        var servers = new LinkedHashMap<String, @Nullable Object>();
        for (String name : RepairTools.NAMES) {
            var arguments = new ArrayList<>(List.of(
                    "-XX:TieredStopAtLevel=1",
                    "-XX:+UseSerialGC",
                    "-Xmx64m",
                    "-cp",
                    System.getProperty("java.class.path"),
                    RepairTools.class.getName(),
                    name));
            if (crashes != null && name.equals("scanner")) {
                arguments.add(crashes.toString());
            }
            servers.put(
                    name,
                    Map.of(
                            "command",
                            Path.of(System.getProperty("java.home"), "bin", "java")
                                    .toString(),
                            "args",
                            arguments));
        }
        return Map.of("mcpServers", servers);
    }
}
