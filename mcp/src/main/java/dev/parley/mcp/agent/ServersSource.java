package dev.parley.mcp.agent;

import dev.parley.extension.HubCheck;
import dev.parley.extension.HubExtension;
import dev.parley.extension.HubExtensionSource;
import dev.parley.extension.HubParts;
import dev.parley.protocol.extension.ExtensionMethod;
import dev.parley.protocol.extension.ExtensionUri;
import dev.parley.protocol.settings.SettingReader;
import dev.parley.protocol.settings.SettingType;
import dev.parley.store.database.Database;
import dev.parley.store.spi.DatabaseKind;
import dev.parley.store.spi.ModuleTables;
import java.nio.file.Path;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;

/** Hosts MCP servers of a file as agents. */
public final class ServersSource implements HubExtensionSource {
    static final String URI = ExtensionUri.permanent("/extensions/mcp-servers/v1");

    private final ServersFile.Content content;

    /** For the service loader. */
    public ServersSource() {
        this(ServersFile.Content.NONE);
    }

    private ServersSource(ServersFile.Content content) {
        this.content = content;
    }

    @Override
    public boolean sharesDatabase() {
        return true;
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
        return ServerOperation.ROWS;
    }

    @Override
    public List<HubCheck> checks(Database database) {
        return ToolTable.checks(database);
    }

    @Override
    public List<ModuleTables> tables(DatabaseKind kind) {
        return List.of(ToolTable.TABLES);
    }

    @Override
    public HubExtension open(HubParts hub) {
        return new HostedServers(hub, content);
    }
}
