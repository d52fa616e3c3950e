package dev.parley.langchain4j;

import dev.langchain4j.agent.tool.ToolExecutionRequest;
import dev.langchain4j.data.message.AiMessage;
import dev.langchain4j.data.message.ChatMessage;
import dev.langchain4j.data.message.ToolExecutionResultMessage;
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

    /** A model that calls the tool that the text of the user begins with, with the rest as arguments, and repeats its result. */
    static AiMessage obeying(List<ChatMessage> messages) {
        return switch (messages.getLast()) {
            case ToolExecutionResultMessage result ->
                AiMessage.from((result.isError() ? "error: " : "") + result.text());
            case UserMessage user -> {
                String[] words = user.singleText().split(" ", 2);
                yield calling(words[0], words[1]);
            }
            default -> throw new IllegalStateException("last message: " + messages.getLast());
        };
    }

    static AiMessage calling(String tool, String arguments) {
        return AiMessage.from(ToolExecutionRequest.builder()
                .id("call-1")
                .name(tool)
                .arguments(arguments)
                .build());
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
