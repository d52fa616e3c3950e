package dev.parley.spring.ai;

import dev.parley.agenttools.ConversationTexts;
import java.util.List;
import org.springframework.ai.chat.client.advisor.MessageChatMemoryAdvisor;
import org.springframework.ai.chat.memory.ChatMemoryRepository;
import org.springframework.ai.chat.memory.MessageWindowChatMemory;
import org.springframework.ai.chat.messages.Message;
import reactor.core.scheduler.Schedulers;

/**
 * Chat memories of the client of a {@link ChatAgent} in the database of its hub, by {@link ChatAgent#conversationId}. A memory belongs to
 * one caller, one agent and one context. It outlasts a restart, is shared by hubs of one database, and is removed with the data of the
 * caller and by the retention of the hub. On a hub that does not keep its data, memories are in this object.
 *
 * <p>Messages keep their texts, calls of tools with their results, and metadata that are JSON; media are left out.
 *
 * <p>Each agent needs a client and a repository of its own. Calls of the client outside of an agent are refused with
 * {@link IllegalStateException}. The first use for a message is on the thread of the agent, so an advisor of a stream needs
 * {@link Schedulers#immediate}. Safe for any thread.
 */
public final class HubMemory implements ChatMemoryRepository {
    private final ConversationTexts texts = new ConversationTexts();

    private HubMemory() {}

    /** A repository for chat memories of the application's choice. */
    public static HubMemory create() {
        return new HubMemory();
    }

    /**
     * Advisor with chat memories of the newest messages, in a repository of their own.
     *
     * @param maxMessages that a memory has, at least 1
     */
    public static MessageChatMemoryAdvisor ofMessages(int maxMessages) {
        return MessageChatMemoryAdvisor.builder(MessageWindowChatMemory.builder()
                        .chatMemoryRepository(create())
                        .maxMessages(maxMessages)
                        .build())
                .scheduler(Schedulers.immediate())
                .build();
    }

    /** @throws UnsupportedOperationException always: an agent has the memory of its conversation only */
    @Override
    public List<String> findConversationIds() {
        throw new UnsupportedOperationException(
                "conversations of a hub cannot be listed by an agent (expected: parley privacy export)");
    }

    @Override
    public List<Message> findByConversationId(String conversationId) {
        return texts.read(conversationId).map(StoredMessages::read).orElseGet(List::of);
    }

    /**
     * Replaces the messages of a conversation.
     *
     * @throws java.util.concurrent.CancellationException if the task of the request is canceled
     */
    @Override
    public void saveAll(String conversationId, List<Message> messages) {
        texts.write(conversationId, StoredMessages.write(messages));
    }

    @Override
    public void deleteByConversationId(String conversationId) {
        texts.remove(conversationId);
    }
}
