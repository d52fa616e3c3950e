/**
 * Chat clients of Spring AI as agents, and agents as tools of such clients.
 *
 * <pre>{@code
 * ChatClient assistant = ChatClient.builder(model)
 *         .defaultAdvisors(MessageChatMemoryAdvisor.builder(MessageWindowChatMemory.builder().build()).build())
 *         .build();
 * Agent agent = Agent.named("assistant", "Answers questions").handle(ChatAgent.streaming(assistant));
 *
 * ChatClient desk = ChatClient.builder(model)
 *         .defaultTools(AgentTools.of(AgentClient.connect("https://example.com/agents/trips")))
 *         .build();
 * }</pre>
 */
@NullMarked
package dev.parley.spring.ai;

import org.jspecify.annotations.NullMarked;
