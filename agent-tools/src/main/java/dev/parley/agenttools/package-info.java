/**
 * Agents and tools of MCP servers as tools of models, and handlers of conversations with models, for modules that connect a library of
 * models: each of them has its own types for tools and services, and the same rules for calls, questions, errors and conversations.
 *
 * <pre>{@code
 * AgentHandler handler = ConversationHandler.answering(
 *         request -> service.answer(ConversationHandler.conversationId(request), request.text()));
 *
 * for (ModelTool tool : RemoteAgents.of(List.of(AgentClient.connect("https://example.com/agents/trips"))).tools()) {
 *     service.add(tool.name(), tool.description(), tool.inputSchema(), arguments -> tool.call(arguments, null).text());
 * }
 * }</pre>
 */
@NullMarked
package dev.parley.agenttools;

import org.jspecify.annotations.NullMarked;
