/** The auto-repair shop: three agents that follow rules, and three MCP servers with their tools. */
@org.jspecify.annotations.NullMarked
package dev.parley.pipelines.repair;
