package dev.parley.spring.ai;

import dev.parley.engine.Agent;
import org.springframework.ai.chat.client.ChatClient;
import org.springframework.ai.chat.model.ChatModel;

/** The agent with a memory of {@code docs/spring-ai.md}. */
final class RememberingAgent {
    static Agent agent(ChatModel model) {
        ChatClient assistant = ChatClient.builder(model)
                .defaultAdvisors(HubMemory.ofMessages(20))
                .build();
        return Agent.named("assistant", "Answers questions").handle(ChatAgent.streaming(assistant));
    }
}
