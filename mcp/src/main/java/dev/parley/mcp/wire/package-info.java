/** Messages of the protocol: revisions, JSON-RPC, error codes. Source: the specification of MCP, revisions 2025-06-18 to 2026-07-28. */
@org.jspecify.annotations.NullMarked
package dev.parley.mcp.wire;
