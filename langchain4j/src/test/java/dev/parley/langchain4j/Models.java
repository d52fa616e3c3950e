package dev.parley.langchain4j;

import dev.langchain4j.data.message.AiMessage;
import dev.langchain4j.data.message.ChatMessage;
import dev.langchain4j.data.message.UserMessage;
import dev.langchain4j.model.chat.ChatModel;
import dev.langchain4j.model.chat.StreamingChatModel;
import dev.langchain4j.model.chat.request.ChatRequest;
import dev.langchain4j.model.chat.response.ChatResponse;
import dev.langchain4j.model.chat.response.StreamingChatResponseHandler;
import java.util.List;
import java.util.function.BiConsumer;
import java.util.function.Function;
import java.util.stream.Collectors;

/** Models that follow a script. */
final class Models {
    private Models() {}

    /** A model that answers by a function of the conversation. */
    static ChatModel answering(Function<List<ChatMessage>, AiMessage> script) {
        return new ChatModel() {
            @Override
            public ChatResponse doChat(ChatRequest request) {
                return response(script.apply(request.messages()));
            }
        };
    }

    /** A model that plays a script on a thread of its own. */
    static StreamingChatModel streaming(BiConsumer<List<ChatMessage>, StreamingChatResponseHandler> script) {
        return new StreamingChatModel() {
            @Override
            public void doChat(ChatRequest request, StreamingChatResponseHandler handler) {
                Thread.ofVirtual().start(() -> script.accept(request.messages(), handler));
            }
        };
    }

    static ChatResponse response(AiMessage message) {
        return ChatResponse.builder().aiMessage(message).build();
    }

    /** The texts of the user in a conversation. */
    static String heard(List<ChatMessage> messages) {
        return messages.stream()
                .filter(UserMessage.class::isInstance)
                .map(message -> ((UserMessage) message).singleText())
                .collect(Collectors.joining(", "));
    }
}
