package dev.parley.spring.ai;

import static java.util.Objects.requireNonNull;

import java.util.List;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.springframework.ai.chat.client.ChatClient;
import org.springframework.ai.chat.client.advisor.MessageChatMemoryAdvisor;
import org.springframework.ai.chat.memory.MessageWindowChatMemory;
import org.springframework.ai.chat.messages.AssistantMessage;
import org.springframework.ai.chat.messages.Message;
import org.springframework.ai.chat.messages.ToolResponseMessage;
import org.springframework.ai.chat.messages.UserMessage;
import org.springframework.ai.chat.model.ChatModel;
import org.springframework.ai.chat.model.ChatResponse;
import org.springframework.ai.chat.model.Generation;
import org.springframework.ai.chat.prompt.ChatOptions;
import org.springframework.ai.chat.prompt.Prompt;
import org.springframework.ai.model.tool.ToolCallingChatOptions;
import org.springframework.ai.util.JsonHelper;
import reactor.core.publisher.Flux;

/** Models that follow a script. */
final class Models {
    private Models() {}

    /** A model that answers by a function of the conversation, in one piece. */
    static ChatModel answering(Function<List<Message>, AssistantMessage> script) {
        return model(prompt -> script.apply(prompt.getInstructions()));
    }

    /** A model that answers by a function of the prompt, in one piece. */
    static ChatModel model(Function<Prompt, AssistantMessage> script) {
        return model(script, Flux::just);
    }

    /** @param stream of an answer */
    static ChatModel model(
            Function<Prompt, AssistantMessage> script, Function<ChatResponse, Flux<ChatResponse>> stream) {
        return new ChatModel() {
            @Override
            public ChatResponse call(Prompt prompt) {
                return response(script.apply(prompt));
            }

            @Override
            public Flux<ChatResponse> stream(Prompt prompt) {
                return Flux.defer(() -> stream.apply(call(prompt)));
            }

            @Override
            public ChatOptions getOptions() {
                return ToolCallingChatOptions.builder().build();
            }
        };
    }

    /** A model that answers each conversation by these tokens. */
    static ChatModel streaming(Flux<String> tokens) {
        return new ChatModel() {
            @Override
            public ChatResponse call(Prompt prompt) {
                throw new UnsupportedOperationException("only streams");
            }

            @Override
            public Flux<ChatResponse> stream(Prompt prompt) {
                return tokens.map(token -> response(new AssistantMessage(token)));
            }
        };
    }

    /** A client with a memory. */
    static ChatClient remembering(ChatModel model) {
        return ChatClient.builder(model)
                .defaultAdvisors(MessageChatMemoryAdvisor.builder(
                                MessageWindowChatMemory.builder().build())
                        .build())
                .build();
    }

    /** A model that calls the tool that the text of the user begins with, with the rest as arguments, and repeats its result. */
    static AssistantMessage obeying(List<Message> messages) {
        return switch (messages.getLast()) {
            case ToolResponseMessage response -> new AssistantMessage(result(response));
            case UserMessage user -> {
                String[] words = requireNonNull(user.getText()).split(" ", 2);
                yield calling(words[0], words[1]);
            }
            default -> throw new IllegalStateException("last message: " + messages.getLast());
        };
    }

    /** The text of a tool, which is in quotes of JSON unless it is JSON itself. */
    static String result(ToolResponseMessage response) {
        String data = response.getResponses().getLast().responseData();
        return data.startsWith("\"") ? requireNonNull(new JsonHelper().fromJson(data, String.class)) : data;
    }

    static AssistantMessage calling(String tool, String arguments) {
        return AssistantMessage.builder()
                .toolCalls(List.of(new AssistantMessage.ToolCall("call-1", "function", tool, arguments)))
                .build();
    }

    private static ChatResponse response(AssistantMessage message) {
        return new ChatResponse(List.of(new Generation(message)));
    }

    /** The texts of the user in a conversation. */
    static String heard(List<Message> messages) {
        return messages.stream()
                .filter(UserMessage.class::isInstance)
                .map(Message::getText)
                .collect(Collectors.joining(", "));
    }
}
