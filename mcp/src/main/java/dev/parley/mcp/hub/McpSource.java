package dev.parley.mcp.hub;

import dev.parley.extension.HubExtension;
import dev.parley.extension.HubExtensionSource;
import dev.parley.extension.HubPage;
import dev.parley.extension.HubParts;
import dev.parley.protocol.settings.SettingReader;
import dev.parley.protocol.settings.SettingType;
import java.time.Duration;
import java.util.Map;

/** Adds an MCP server over its agents to hubs. */
public final class McpSource implements HubExtensionSource {
    private static final Duration WAIT = Duration.ofSeconds(25);

    private final Duration wait;

    /** For the service loader. */
    public McpSource() {
        this(WAIT);
    }

    private McpSource(Duration wait) {
        this.wait = wait;
    }

    @Override
    public boolean sharesDatabase() {
        return true;
    }

    @Override
    public String uri() {
        return McpHub.PROTOCOL.uri();
    }

    @Override
    public HubExtensionSource configured(SettingReader in) {
        return new McpSource(in.get(
                SettingType.DURATION,
                "mcp-wait",
                "25s",
                "DURATION",
                "How long a call of an MCP tool waits for its task, before it returns with the id of the task."));
    }

    @Override
    public Map<String, HubPage> pages() {
        return Map.of(
                McpHub.PAGE,
                HubPage.of(McpSource.class, "text/html; charset=utf-8", "credential.html"),
                McpHub.PAGE + ".js",
                HubPage.of(McpSource.class, "text/javascript; charset=utf-8", "credential.js"),
                McpHub.PAGE + ".css",
                HubPage.of(McpSource.class, "text/css; charset=utf-8", "credential.css"));
    }

    @Override
    public HubExtension open(HubParts hub) {
        return new McpHub(hub, wait);
    }
}
