package dev.parley.mcp.wire;

/** Names in {@code _meta}, and of extensions. Source: MCP 2026-07-28, General fields. */
public final class Meta {
    /** Key of the revision of a request. */
    public static final String PROTOCOL_VERSION = "io.modelcontextprotocol/protocolVersion";

    /** Key of name and version of a client. */
    public static final String CLIENT_INFO = "io.modelcontextprotocol/clientInfo";

    /** Key of the capabilities of a client. */
    public static final String CLIENT_CAPABILITIES = "io.modelcontextprotocol/clientCapabilities";

    /** Key of the least level of log messages. */
    public static final String LOG_LEVEL = "io.modelcontextprotocol/logLevel";

    /** Key of the id of the request that opened a subscription. */
    public static final String SUBSCRIPTION_ID = "io.modelcontextprotocol/subscriptionId";

    /** Key of name and version of a server. */
    public static final String SERVER_INFO = "io.modelcontextprotocol/serverInfo";

    /** Key of the token of progress notifications. */
    public static final String PROGRESS_TOKEN = "progressToken";

    /** Name of the extension for tasks, in capabilities. */
    public static final String TASKS = "io.modelcontextprotocol/tasks";

    private Meta() {}
}
