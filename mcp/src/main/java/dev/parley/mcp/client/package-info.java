/** Client of MCP servers, over stdio and HTTP, in both eras of the protocol. */
@org.jspecify.annotations.NullMarked
package dev.parley.mcp.client;
