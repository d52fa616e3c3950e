/** MCP servers as agents of a hub, and their tools for the handlers of other agents. */
@org.jspecify.annotations.NullMarked
package dev.parley.mcp.agent;
