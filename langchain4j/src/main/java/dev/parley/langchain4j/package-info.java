/**
 * Services of LangChain4j as agents, and agents as tools of such services.
 *
 * <pre>{@code
 * interface Assistant {
 *     @UserMessage("{{text}}")
 *     TokenStream chat(@MemoryId String conversation, @V("text") String text);
 * }
 *
 * Assistant assistant = AiServices.builder(Assistant.class)
 *         .streamingChatModel(model)
 *         .chatMemoryProvider(id -> MessageWindowChatMemory.builder().id(id).maxMessages(20).build())
 *         .build();
 * Agent agent = Agent.named("assistant", "Answers questions").handle(ChatAgent.streaming(assistant::chat));
 *
 * Desk desk = AiServices.builder(Desk.class)
 *         .chatModel(model)
 *         .toolProvider(AgentTools.of(AgentClient.connect("https://example.com/agents/trips")))
 *         .build();
 * }</pre>
 */
@NullMarked
package dev.parley.langchain4j;

import org.jspecify.annotations.NullMarked;
