package dev.parley.mcp.stdio;

import dev.parley.mcp.McpProvider;
import dev.parley.mcp.ServerInfo;
import dev.parley.mcp.server.StdioServer;
import dev.parley.protocol.CallContext;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;

/**
 * An MCP server of a program, for the program that has started it: revisions 2026-07-28, 2025-11-25 and 2025-06-18.
 *
 * {@snippet :
 * void main() throws IOException {
 *     McpServer.of(new Scanner(), ServerInfo.of("scanner", "1.0")).stdio();
 * }
 * }
 */
public final class McpServer {
    private final McpProvider provider;
    private final ServerInfo info;

    private McpServer(McpProvider provider, ServerInfo info) {
        this.provider = provider;
        this.info = info;
    }

    public static McpServer of(McpProvider provider, ServerInfo info) {
        return new McpServer(provider, info);
    }

    /**
     * Serves the standard input until it ends. The standard output carries messages only: {@link System#out} is redirected to the standard
     * error meanwhile.
     */
    @SuppressWarnings("SystemOut") // the transport is these streams
    public void stdio() throws IOException {
        var out = System.out;
        System.setOut(System.err);
        try {
            serve(System.in, out);
        } finally {
            System.setOut(out);
        }
    }

    /** Serves one client over a pair of streams until its input ends. */
    public void serve(InputStream in, OutputStream out) throws IOException {
        new StdioServer(provider, info, CallContext.anonymous(), in, out).run();
    }
}
