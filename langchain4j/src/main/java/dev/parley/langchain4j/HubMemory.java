package dev.parley.langchain4j;

import dev.langchain4j.data.message.ChatMessage;
import dev.langchain4j.data.message.ChatMessageDeserializer;
import dev.langchain4j.data.message.ChatMessageSerializer;
import dev.langchain4j.memory.chat.ChatMemoryProvider;
import dev.langchain4j.memory.chat.MessageWindowChatMemory;
import dev.langchain4j.store.memory.chat.ChatMemoryStore;
import dev.parley.agenttools.ConversationTexts;
import java.util.List;

/**
 * Chat memories of the service of a {@link ChatAgent} in the database of its hub, by {@link ChatAgent#memoryId}. A memory belongs to one
 * caller, one agent and one context. It outlasts a restart, is shared by hubs of one database, and is removed with the data of the caller
 * and by the retention of the hub. On a hub that does not keep its data, memories are in this object.
 *
 * <p>Each agent needs a service and a store of its own. Calls of the service outside of an agent are refused with
 * {@link IllegalStateException}. Safe for any thread.
 */
public final class HubMemory implements ChatMemoryStore {
    private final ConversationTexts texts = new ConversationTexts();

    private HubMemory() {}

    /** A store for chat memories of the application's choice. */
    public static HubMemory create() {
        return new HubMemory();
    }

    /**
     * Chat memories of the newest messages, in a store of their own.
     *
     * @param maxMessages that a memory has, at least 1
     */
    public static ChatMemoryProvider ofMessages(int maxMessages) {
        HubMemory store = create();
        return id -> MessageWindowChatMemory.builder()
                .id(id)
                .maxMessages(maxMessages)
                .chatMemoryStore(store)
                .build();
    }

    @Override
    public List<ChatMessage> getMessages(Object memoryId) {
        return texts.read(memoryId.toString())
                .map(ChatMessageDeserializer::messagesFromJson)
                .orElseGet(List::of);
    }

    /** @throws java.util.concurrent.CancellationException if the task of the request is canceled */
    @Override
    public void updateMessages(Object memoryId, List<ChatMessage> messages) {
        texts.write(memoryId.toString(), ChatMessageSerializer.messagesToJson(messages));
    }

    @Override
    public void deleteMessages(Object memoryId) {
        texts.remove(memoryId.toString());
    }
}
