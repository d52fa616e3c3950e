package dev.parley.mcp.agent;

import dev.parley.extension.AdminRow;
import dev.parley.extension.AnswerSchema;
import dev.parley.extension.HubCheck;
import dev.parley.extension.HubExtension;
import dev.parley.extension.HubExtensionSource;
import dev.parley.extension.HubParts;
import dev.parley.protocol.extension.ExtensionMethod;
import dev.parley.protocol.extension.ExtensionUri;
import dev.parley.protocol.extension.RestParameter;
import dev.parley.protocol.extension.RestParameter.Type;
import dev.parley.protocol.settings.SettingReader;
import dev.parley.protocol.settings.SettingType;
import dev.parley.store.database.Database;
import java.nio.file.Path;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;

/** Hosts MCP servers of a file as agents. */
public final class ServersSource implements HubExtensionSource {
    static final String URI = ExtensionUri.permanent("/extensions/mcp-servers/v1");

    static final Map<String, Object> SERVERS = AnswerSchema.object(
            "servers",
            AnswerSchema.list(AnswerSchema.object(
                    "name state",
                    AnswerSchema.TEXT,
                    "restarts",
                    AnswerSchema.COUNT,
                    "problem? lastProblem?",
                    AnswerSchema.TEXT,
                    "tools",
                    AnswerSchema.list(AnswerSchema.object(
                            "name state digest",
                            AnswerSchema.TEXT,
                            "pinned? description?",
                            AnswerSchema.TEXT,
                            "differences? change?",
                            AnswerSchema.ANY)))));

    static final Map<String, Object> LINES = AnswerSchema.object(
            "lines", AnswerSchema.list(AnswerSchema.object("at", AnswerSchema.TIME, "text", AnswerSchema.TEXT)));

    static final Map<String, Object> APPROVED = AnswerSchema.object("approved", AnswerSchema.TEXTS);

    private final ServersFile.Content content;

    /** For the service loader. */
    public ServersSource() {
        this(ServersFile.Content.NONE);
    }

    private ServersSource(ServersFile.Content content) {
        this.content = content;
    }

    @Override
    public String uri() {
        return URI;
    }

    @Override
    public HubExtensionSource configured(SettingReader in) {
        Path file = in.find(
                SettingType.PATH,
                "mcp-servers",
                "FILE",
                "File of the MCP servers that the hub hosts as agents (docs/mcp.md).");
        return file == null ? this : new ServersSource(ServersFile.read(file, System::getenv));
    }

    @Override
    public Set<String> agents() {
        return content.entries().stream()
                .map(ServersFile.Entry::name)
                .collect(Collectors.toCollection(LinkedHashSet::new));
    }

    /** A server whose name is taken is unusable; the hub starts without it. */
    @Override
    public boolean isOptional() {
        return true;
    }

    @Override
    public List<ExtensionMethod<?, ?>> administration() {
        return List.of(
                AdminRow.of(
                        "mcp/tools", "GET /mcp/tools", "List the tools of MCP servers and changes that wait", SERVERS),
                AdminRow.of(
                        "mcp/servers/log",
                        "GET /mcp/servers/{server}/log",
                        "Show what the program of an MCP server wrote to its standard error",
                        LINES,
                        RestParameter.path("server", "SERVER", "Name of the server.")),
                AdminRow.of(
                        "mcp/tools/approve",
                        "POST /mcp/servers/{server}/approve",
                        "Approve new and changed tools of an MCP server",
                        APPROVED,
                        RestParameter.path("server", "SERVER", "Name of the server."),
                        RestParameter.member("tool", Type.TEXT, "TOOL", "Name of one tool; default: all."),
                        RestParameter.member(
                                "digest",
                                Type.TEXT,
                                "DIGEST",
                                "Begin of the digest of the definition, so that no later one is approved.")));
    }

    @Override
    public List<HubCheck> checks(Database database) {
        return ToolTable.checks(database);
    }

    @Override
    public HubExtension open(HubParts hub) {
        return new HostedServers(hub, content);
    }
}
