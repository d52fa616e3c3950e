package dev.parley.gateway.hub;

import dev.parley.extension.HubExtension;
import dev.parley.extension.HubExtensionSource;
import dev.parley.extension.HubParts;
import dev.parley.gateway.card.RemoteCard;
import dev.parley.protocol.extension.ExtensionMethod;
import dev.parley.protocol.settings.SettingReader;
import java.util.List;

/** Adds a gateway for remote agents to hubs. */
public final class GatewaySource implements HubExtensionSource {
    private final GatewaySettings settings;

    /** For the service loader. */
    public GatewaySource() {
        this(GatewaySettings.read(SettingReader.DEFAULTS));
    }

    private GatewaySource(GatewaySettings settings) {
        this.settings = settings;
    }

    @Override
    public String uri() {
        return RemoteCard.PROVENANCE;
    }

    @Override
    public HubExtensionSource configured(SettingReader in) {
        return new GatewaySource(GatewaySettings.read(in));
    }

    @Override
    public List<ExtensionMethod<?, ?>> administration() {
        return RouteOperations.administration();
    }

    @Override
    public HubExtension open(HubParts hub) {
        return new GatewayHub(hub, settings);
    }
}
