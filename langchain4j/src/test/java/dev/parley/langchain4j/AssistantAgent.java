package dev.parley.langchain4j;

import dev.langchain4j.model.chat.StreamingChatModel;
import dev.langchain4j.service.AiServices;
import dev.langchain4j.service.MemoryId;
import dev.langchain4j.service.TokenStream;
import dev.langchain4j.service.UserMessage;
import dev.langchain4j.service.V;
import dev.parley.engine.Agent;

/** The agent of {@code docs/langchain4j.md}. */
final class AssistantAgent {
    interface Assistant {
        @UserMessage("{{text}}")
        TokenStream chat(@MemoryId String conversation, @V("text") String text);
    }

    static Agent agent(StreamingChatModel model) {
        Assistant assistant = AiServices.builder(Assistant.class)
                .streamingChatModel(model)
                .chatMemoryProvider(HubMemory.ofMessages(20))
                .build();
        return Agent.named("assistant", "Answers questions").handle(ChatAgent.streaming(assistant::chat));
    }
}
