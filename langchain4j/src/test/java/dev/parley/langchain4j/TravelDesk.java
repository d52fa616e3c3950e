package dev.parley.langchain4j;

import dev.langchain4j.memory.chat.MessageWindowChatMemory;
import dev.langchain4j.model.chat.ChatModel;
import dev.langchain4j.service.AiServices;
import dev.langchain4j.service.MemoryId;
import dev.langchain4j.service.UserMessage;
import dev.langchain4j.service.V;
import dev.parley.client.AgentClient;
import java.time.Duration;

/** The service of {@code docs/langchain4j.md}. */
final class TravelDesk {
    interface Desk {
        @UserMessage("{{text}}")
        String chat(@MemoryId String conversation, @V("text") String text);
    }

    static Desk desk(ChatModel model, AgentClient... agents) {
        return AiServices.builder(Desk.class)
                .chatModel(model)
                .chatMemoryProvider(id ->
                        MessageWindowChatMemory.builder().id(id).maxMessages(20).build())
                .toolProvider(AgentTools.of(agents).withTimeout(Duration.ofMinutes(1)))
                .build();
    }
}
