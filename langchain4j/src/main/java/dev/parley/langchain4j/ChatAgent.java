package dev.parley.langchain4j;

import static java.util.Objects.requireNonNull;

import dev.langchain4j.service.TokenStream;
import dev.parley.agenttools.ConversationHandler;
import dev.parley.engine.AgentHandler;
import dev.parley.engine.Reply;
import dev.parley.engine.Request;
import org.jspecify.annotations.Nullable;

/**
 * Handler of an agent that passes the text of each message to a service of LangChain4j. Each message is a task, which the answer
 * completes; the tasks of a context share the memory of the service, and run one after the other. A message without text is rejected.
 *
 * <p>If the service throws, the task fails with a reference to the log. Cancellation and the time limit of the agent interrupt the
 * thread of the service, and stop a stream at its next token.
 */
public final class ChatAgent implements AgentHandler {
    /** Method of a service that returns the whole answer. */
    @FunctionalInterface
    public interface Answering {
        /**
         * Returns the answer; null if there is none.
         *
         * @param memoryId id of the conversation, for {@code @MemoryId}; see {@link ChatAgent#memoryId}
         * @throws Exception any, which fails the task
         */
        @Nullable
        String answer(String memoryId, String text) throws Exception;
    }

    /** Method of a service that returns the answer as a stream. */
    @FunctionalInterface
    public interface Streaming {
        /**
         * Returns the stream, not yet started.
         *
         * @param memoryId id of the conversation, for {@code @MemoryId}; see {@link ChatAgent#memoryId}
         * @throws Exception any, which fails the task
         */
        TokenStream stream(String memoryId, String text) throws Exception;
    }

    private final ConversationHandler handler;

    private ChatAgent(ConversationHandler handler) {
        this.handler = handler;
    }

    /** An agent whose answers are one artifact each, sent when it is complete. */
    public static ChatAgent answering(Answering service) {
        requireNonNull(service, "service");
        return new ChatAgent(
                ConversationHandler.answering(request -> service.answer(memoryId(request), request.text())));
    }

    /** An agent whose answers are artifacts that grow with each token. */
    public static ChatAgent streaming(Streaming service) {
        requireNonNull(service, "service");
        return new ChatAgent(ConversationHandler.of((request, reply) ->
                new TokenForwarding(request, reply).run(service.stream(memoryId(request), request.text()))));
    }

    @Override
    public void handle(Request request, Reply reply) throws Exception {
        handler.handle(request, reply);
    }

    /**
     * Returns the id of the conversation of a request: its contextId, on a hub with authentication after a digest of its caller.
     * Callers choose contextIds, and one may choose that of another.
     */
    public static String memoryId(Request request) {
        return ConversationHandler.conversationId(request);
    }
}
