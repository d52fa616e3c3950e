/** Agents of a hub as an MCP server: skills as tools, cards and artifacts as resources, tasks of A2A as tasks of MCP. */
@org.jspecify.annotations.NullMarked
package dev.parley.mcp.hub;
