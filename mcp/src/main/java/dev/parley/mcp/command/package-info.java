/** The commands {@code parley mcp …}. */
@org.jspecify.annotations.NullMarked
package dev.parley.mcp.command;
