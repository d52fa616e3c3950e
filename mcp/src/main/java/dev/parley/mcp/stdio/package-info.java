/** MCP servers of programs, for the programs that start them. */
@org.jspecify.annotations.NullMarked
package dev.parley.mcp.stdio;
