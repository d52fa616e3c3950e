/** Tools, resources and prompts of the Model Context Protocol, for those who serve and call them. */
@org.jspecify.annotations.NullMarked
package dev.parley.mcp;
