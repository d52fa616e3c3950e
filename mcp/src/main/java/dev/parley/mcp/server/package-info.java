/** Engine of an MCP server: methods of both eras, sessions, requests to users, subscriptions, and the protocol over HTTP. */
@org.jspecify.annotations.NullMarked
package dev.parley.mcp.server;
