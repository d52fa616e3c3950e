/**
 * Agents and tools of MCP servers as tools of models, and handlers of conversations with models, for modules that connect a library of
 * models: each of them has its own types for tools and services, and the same rules for calls, questions, errors and conversations.
 *
 * <pre>{@code
 * for (ModelTool tool : RemoteAgents.of(List.of(trips)).tools()) {
 *     UnaryOperator<String> call = arguments -> tool.call(arguments, null).text();
 *     service.add(tool.name(), tool.description(), tool.inputSchema(), call);
 * }
 *
 * return ConversationHandler.answering(
 *         request -> service.answer(ConversationHandler.conversationId(request), request.text()));
 * }</pre>
 */
@NullMarked
package dev.parley.agenttools;

import org.jspecify.annotations.NullMarked;
