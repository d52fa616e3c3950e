package dev.parley.spring.ai;

import static java.util.Objects.requireNonNull;

import dev.parley.agenttools.ConversationHandler;
import dev.parley.engine.AgentHandler;
import dev.parley.engine.Reply;
import dev.parley.engine.Request;
import java.util.stream.Stream;
import org.springframework.ai.chat.client.ChatClient;
import org.springframework.ai.chat.client.ChatClient.ChatClientRequestSpec;
import org.springframework.ai.chat.memory.ChatMemory;
import reactor.core.Exceptions;

/**
 * Handler of an agent that passes the text of each message to a {@link ChatClient}. Each message is a task, which the answer completes;
 * the tasks of a context are one conversation of the chat memory, and run one after the other. A message without text is rejected.
 *
 * <p>If the client or its model throws, the task fails with a reference to the log. Cancellation and the time limit of the agent cancel a
 * stream at once, and interrupt the thread of another call.
 */
public final class ChatAgent implements AgentHandler {
    /** Prompts for the messages of callers. */
    @FunctionalInterface
    public interface Prompts {
        /**
         * Returns the prompt for a message, with its text as user message; {@link ChatAgent} adds the id of the conversation.
         *
         * @throws Exception any, which fails the task
         */
        ChatClientRequestSpec prompt(Request request) throws Exception;
    }

    private final ConversationHandler handler;

    private ChatAgent(ConversationHandler handler) {
        this.handler = handler;
    }

    /** An agent whose answers are one artifact each, sent when it is complete. */
    public static ChatAgent answering(ChatClient client) {
        return answering(texts(client));
    }

    /** As {@link #answering(ChatClient)}, with prompts of the application. */
    public static ChatAgent answering(Prompts prompts) {
        requireNonNull(prompts, "prompts");
        return new ChatAgent(ConversationHandler.answering(
                request -> prompt(prompts, request).call().content()));
    }

    /** An agent whose answers are artifacts that grow with each token. Its model has to stream. */
    public static ChatAgent streaming(ChatClient client) {
        return streaming(texts(client));
    }

    /** As {@link #streaming(ChatClient)}, with prompts of the application. */
    public static ChatAgent streaming(Prompts prompts) {
        requireNonNull(prompts, "prompts");
        return new ChatAgent(
                ConversationHandler.of((request, reply) -> stream(prompt(prompts, request), request, reply)));
    }

    /** The text is not a template: it has no parameters. */
    private static Prompts texts(ChatClient client) {
        requireNonNull(client, "client");
        return request -> client.prompt().user(request.text());
    }

    private static ChatClientRequestSpec prompt(Prompts prompts, Request request) throws Exception {
        return prompts.prompt(request)
                .advisors(advisors -> advisors.param(ChatMemory.CONVERSATION_ID, conversationId(request)));
    }

    private static void stream(ChatClientRequestSpec prompt, Request request, Reply reply) throws Exception {
        Reply.ArtifactWriter answer = reply.stream("answer");
        try (Stream<String> tokens = prompt.stream().content().toStream()) {
            tokens.forEach(answer::append);
        } catch (RuntimeException failed) {
            if (request.isCanceled()) {
                return;
            }
            if (Exceptions.unwrap(failed) instanceof InterruptedException stopped) {
                throw stopped;
            }
            throw failed;
        }
        if (!request.isCanceled()) {
            answer.close();
            reply.complete();
        }
    }

    @Override
    public void handle(Request request, Reply reply) throws Exception {
        handler.handle(request, reply);
    }

    /**
     * Returns the id of the conversation of a request, for the chat memory: its contextId, on a hub with authentication after a digest
     * of its caller. Callers choose contextIds, and one may choose that of another.
     */
    public static String conversationId(Request request) {
        return ConversationHandler.conversationId(request);
    }
}
