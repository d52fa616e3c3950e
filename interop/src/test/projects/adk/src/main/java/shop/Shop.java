package shop;

import com.google.adk.agents.LlmAgent;
import com.google.adk.models.BaseLlm;
import com.google.adk.models.Gemini;
import com.google.adk.runner.InMemoryRunner;
import dev.parley.engine.Agent;
import dev.parley.hub.Parley;

public final class Shop {
    private Shop() {}

    static Agent agent(BaseLlm model) {
        var clerk = LlmAgent.builder()
                .name("clerk")
                .description("Answers questions about the shop")
                .instruction("Answer briefly.")
                .model(model)
                .build();
        return Agent.named(clerk.name(), clerk.description()).handle(new AdkHandler(new InMemoryRunner(clerk)));
    }

    public static void main(String[] args) {
        Parley.serve(8080, agent(new Gemini("gemini-2.5-flash", System.getenv("GOOGLE_API_KEY"))));
    }
}
