package dev.parley.spring.ai;

import dev.parley.engine.Agent;
import org.springframework.ai.chat.client.ChatClient;
import org.springframework.ai.chat.client.advisor.MessageChatMemoryAdvisor;
import org.springframework.ai.chat.memory.ChatMemory;
import org.springframework.ai.chat.memory.MessageWindowChatMemory;
import org.springframework.ai.chat.model.ChatModel;

/** The agent of {@code docs/spring-ai.md}. */
final class AssistantAgent {
    static Agent agent(ChatModel model) {
        ChatMemory memory = MessageWindowChatMemory.builder().maxMessages(20).build();
        ChatClient assistant = ChatClient.builder(model)
                .defaultAdvisors(MessageChatMemoryAdvisor.builder(memory).build())
                .build();
        return Agent.named("assistant", "Answers questions").handle(ChatAgent.streaming(assistant));
    }
}
