package dev.parley.activity.hub;

import dev.parley.activity.ActivityProtocol;
import dev.parley.extension.HubExtension;
import dev.parley.extension.HubExtensionSource;
import dev.parley.extension.HubParts;
import java.util.Map;

/** Adds the agent {@code activity} to hubs. */
public final class ActivitySource implements HubExtensionSource {
    /** For the service loader. */
    public ActivitySource() {}

    @Override
    public String uri() {
        return ActivityProtocol.PROTOCOL.uri();
    }

    @Override
    public Map<String, String> paths() {
        return Map.of("/" + ActivityProtocol.AGENT, ActivityProtocol.AGENT);
    }

    @Override
    public HubExtension open(HubParts hub) {
        return new ActivityHub(hub);
    }
}
