package dev.parley.mcp.command;

import dev.parley.client.spi.ClientException;
import dev.parley.command.CommandCall;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.json.Codecs;
import dev.parley.protocol.json.JsonText;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Agents that a hub lists at its address. */
final class HubListing {
    private HubListing() {}

    /** Addresses of the agents of a hub at its own origin; the address itself if it is not a hub, or lists none. */
    static List<String> of(CommandCall call, String address) {
        String hub = address.endsWith("/") ? address.substring(0, address.length() - 1) : address;
        if (!hub.matches("https?://[^/?#]+")) {
            return List.of(address);
        }
        try {
            List<String> urls =
                    call.document(hub + "/agents").map(body -> urls(hub, body)).orElse(List.of());
            return urls.isEmpty() ? List.of(address) : urls;
        } catch (IllegalArgumentException | A2AException | ClientException none) {
            return List.of(address);
        }
    }

    private static List<String> urls(String hub, byte[] listing) {
        Map<String, @Nullable Object> json = JsonText.read(listing, Codecs.STRUCT);
        return json.get("agents") instanceof List<?> agents
                ? agents.stream()
                        .map(agent -> agent instanceof Map<?, ?> map ? String.valueOf(map.get("url")) : "")
                        .filter(url -> url.startsWith(hub + "/") && !url.endsWith("/agents/mcp"))
                        .toList()
                : List.of();
    }
}
