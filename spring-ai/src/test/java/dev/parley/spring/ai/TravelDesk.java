package dev.parley.spring.ai;

import dev.parley.client.AgentClient;
import java.time.Duration;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.springframework.ai.chat.client.ChatClient;
import org.springframework.ai.chat.client.advisor.MessageChatMemoryAdvisor;
import org.springframework.ai.chat.memory.ChatMemory;
import org.springframework.ai.chat.memory.MessageWindowChatMemory;
import org.springframework.ai.chat.model.ChatModel;

/** The chat client of {@code docs/spring-ai.md}. */
final class TravelDesk {
    private final ChatClient client;

    TravelDesk(ChatModel model, AgentClient... agents) {
        ChatMemory memory = MessageWindowChatMemory.builder().maxMessages(20).build();
        client = ChatClient.builder(model)
                .defaultAdvisors(MessageChatMemoryAdvisor.builder(memory).build())
                .defaultTools(AgentTools.of(agents).withTimeout(Duration.ofMinutes(1)))
                .build();
    }

    @Nullable
    String chat(String conversation, String text) {
        return client.prompt()
                .user(text)
                .advisors(advisors -> advisors.param(ChatMemory.CONVERSATION_ID, conversation))
                .toolContext(Map.of(ChatMemory.CONVERSATION_ID, conversation))
                .call()
                .content();
    }
}
