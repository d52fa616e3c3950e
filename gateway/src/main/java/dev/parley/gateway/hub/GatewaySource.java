package dev.parley.gateway.hub;

import dev.parley.extension.HubCheck;
import dev.parley.extension.HubExtension;
import dev.parley.extension.HubExtensionSource;
import dev.parley.extension.HubParts;
import dev.parley.gateway.card.RemoteCard;
import dev.parley.gateway.push.PushRelay;
import dev.parley.gateway.route.RouteTable;
import dev.parley.outbound.AddressRule;
import dev.parley.protocol.extension.ExtensionMethod;
import dev.parley.protocol.settings.SettingReader;
import dev.parley.store.database.Database;
import dev.parley.store.spi.DatabaseKind;
import dev.parley.store.spi.ModuleTables;
import java.util.List;
import java.util.Set;
import java.util.function.Function;

/** Adds a gateway for remote agents to hubs. */
public final class GatewaySource implements HubExtensionSource {
    private final GatewaySettings settings;
    private final Function<List<String>, AddressRule> rule;

    /** For the service loader. */
    public GatewaySource() {
        this(allowed -> AddressRule.allowing(allowed, "gateway-allow"));
    }

    /** @param rule makes the rule for addresses, with the hosts that may be private */
    GatewaySource(Function<List<String>, AddressRule> rule) {
        this(GatewaySettings.read(SettingReader.DEFAULTS), rule);
    }

    private GatewaySource(GatewaySettings settings, Function<List<String>, AddressRule> rule) {
        this.settings = settings;
        this.rule = rule;
    }

    @Override
    public boolean sharesDatabase() {
        return true;
    }

    @Override
    public String uri() {
        return RemoteCard.PROVENANCE;
    }

    @Override
    public HubExtensionSource configured(SettingReader in) {
        return new GatewaySource(GatewaySettings.read(in), rule);
    }

    @Override
    public List<ExtensionMethod<?, ?>> administration() {
        return RouteOperation.ROWS;
    }

    @Override
    public List<HubCheck> checks(Database database) {
        return RouteTable.checks(database);
    }

    @Override
    public Set<String> agents() {
        return settings.remotes().keySet();
    }

    @Override
    public Set<String> agents(Database database) {
        return RouteTable.names(database);
    }

    @Override
    public List<ModuleTables> tables(DatabaseKind kind) {
        return List.of(RouteTable.TABLES, PushRelay.TABLES);
    }

    @Override
    public HubExtension open(HubParts hub) {
        return new GatewayHub(hub, settings, rule);
    }
}
