/** The Model Context Protocol: agents of a hub as tools, and servers of tools as agents. */
module dev.parley.mcp {
    requires static transitive org.jspecify;
    requires transitive dev.parley.extension;
    requires transitive dev.parley.protocol;
    requires dev.parley.client;
    requires dev.parley.command;
    requires dev.parley.dialect;
    requires dev.parley.engine;
    requires dev.parley.outbound;
    requires dev.parley.store;
    requires dev.parley.trust;
    requires java.net.http;

    exports dev.parley.mcp;
    exports dev.parley.mcp.stdio;

    provides dev.parley.command.CommandSource with
            dev.parley.mcp.command.McpCommands;
    provides dev.parley.extension.HubExtensionSource with
            dev.parley.mcp.agent.ServersSource,
            dev.parley.mcp.hub.McpSource;
}
