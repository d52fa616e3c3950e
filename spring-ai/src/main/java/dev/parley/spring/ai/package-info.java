/**
 * Chat clients of Spring AI as agents.
 *
 * <pre>{@code
 * ChatClient assistant = ChatClient.builder(model)
 *         .defaultAdvisors(MessageChatMemoryAdvisor.builder(MessageWindowChatMemory.builder().build()).build())
 *         .build();
 * Agent agent = Agent.named("assistant", "Answers questions").handle(ChatAgent.streaming(assistant));
 * }</pre>
 */
@NullMarked
package dev.parley.spring.ai;

import org.jspecify.annotations.NullMarked;
