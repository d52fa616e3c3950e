package dev.parley.mcp;

import static java.util.Objects.requireNonNull;

import org.jspecify.annotations.Nullable;

/**
 * Description of an MCP server for its clients.
 *
 * @param name for programs
 * @param title name for people; null for none
 * @param instructions text for models about the use of the server; null for none
 */
public record ServerInfo(
        String name,
        @Nullable String title,
        String version,
        @Nullable String instructions) {
    public ServerInfo {
        requireNonNull(name, "name");
        requireNonNull(version, "version");
    }

    /** A server without title and instructions. */
    public static ServerInfo of(String name, String version) {
        return new ServerInfo(name, null, version, null);
    }
}
