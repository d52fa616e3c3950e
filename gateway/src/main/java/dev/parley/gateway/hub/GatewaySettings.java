package dev.parley.gateway.hub;

import dev.parley.gateway.route.Route;
import dev.parley.protocol.settings.SettingReader;
import dev.parley.protocol.settings.SettingSpec.Trait;
import dev.parley.protocol.settings.SettingType;
import java.nio.file.Path;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Settings of a gateway.
 *
 * @param remotes addresses of remote agents by the names of their routes
 * @param allowed hosts with private addresses that routes may call
 * @param trusted keys that verify cards
 * @param refresh interval in which cards are read again
 * @param secrets directory of the secrets of routes; null for none
 */
record GatewaySettings(
        Map<String, String> remotes,
        List<String> allowed,
        List<Path> trusted,
        Duration refresh,
        @Nullable Path secrets) {
    static GatewaySettings read(SettingReader in) {
        var remotes = new LinkedHashMap<String, String>();
        for (String remote : in.list(
                "remote",
                "NAME=URL[,NAME=URL]",
                "Remote agents to host: the address of an agent or of its card, or registry:ID; repeatable. Their hosts"
                        + " may have private addresses.",
                Trait.REPEATABLE)) {
            int end = remote.indexOf('=');
            String name = remote.substring(0, Math.max(0, end)).strip();
            String url = remote.substring(end + 1).strip();
            if (!Route.isName(name)) {
                throw new IllegalArgumentException("remote: " + remote
                        + " (expected: NAME=URL, with a name of at most 63 of a-z, 0-9, dots, underscores and dashes)");
            }
            if (!Addresses.isAddress(url)) {
                throw new IllegalArgumentException(
                        "remote: " + remote + " (expected: an http or https URL, or registry:ID)");
            }
            if (remotes.put(name, url) != null) {
                throw new IllegalArgumentException("remote: " + name + ": duplicate name");
            }
        }
        return new GatewaySettings(
                remotes,
                in.list(
                        "gateway-allow",
                        "HOST[,HOST]",
                        "Hosts, addresses and ranges (10.1.0.0/16) with private addresses that routes of the gateway may"
                                + " call; repeatable. A hub that only this machine calls may call loopback.",
                        Trait.REPEATABLE),
                in
                        .list(
                                "gateway-trust",
                                "FILE[,FILE]",
                                "Keys that verify the signatures of the cards of remote agents; repeatable.",
                                Trait.REPEATABLE)
                        .stream()
                        .map(Path::of)
                        .toList(),
                in.get(
                        SettingType.DURATION,
                        "gateway-refresh",
                        "1m",
                        "TIME",
                        "Interval in which the cards of remote agents are read again."),
                in.find(
                        SettingType.PATH,
                        "gateway-secrets",
                        "DIR",
                        "Directory of the secrets of routes, one in each file; default: none."));
    }
}
