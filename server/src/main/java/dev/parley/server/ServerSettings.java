package dev.parley.server;

import static dev.parley.protocol.settings.SettingSpec.Trait.REPEATABLE;
import static dev.parley.protocol.settings.SettingType.DURATION;
import static dev.parley.protocol.settings.SettingType.HTTP_URL;
import static dev.parley.protocol.settings.SettingType.PATH;
import static dev.parley.protocol.settings.SettingType.PORT;
import static dev.parley.protocol.settings.SettingType.SIZE;
import static dev.parley.protocol.settings.SettingType.TEXT;

import dev.parley.protocol.settings.SettingReader;
import dev.parley.protocol.support.AddressRange;
import dev.parley.server.limits.Proxies;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Settings of a server; {@link #read} states their names, defaults and units. */
public record ServerSettings(
        int port,
        String bind,
        @Nullable URI publicUrl,
        boolean behindProxy,
        List<AddressRange> trustedProxies,
        List<String> allowedHosts,
        List<String> corsOrigins,
        long maxBodyBytes,
        @Nullable Path tlsCertificate,
        @Nullable Path tlsKey,
        @Nullable Path clientAuthorities,
        Duration drain) {

    public ServerSettings {
        if (!trustedProxies.isEmpty() && !behindProxy) {
            throw new IllegalArgumentException("trusted-proxy: without behind-proxy (expected: both)");
        }
    }

    public static final ServerSettings DEFAULTS = read(SettingReader.DEFAULTS);

    private static AddressRange proxy(String text) {
        try {
            return AddressRange.of(text);
        } catch (IllegalArgumentException none) {
            throw new IllegalArgumentException(
                    "trusted-proxy \"" + text + "\": no address (expected: such as 10.1.2.3 or 10.1.0.0/16)", none);
        }
    }

    /** The proxies in front of the server. */
    Proxies proxies() {
        return new Proxies(trustedProxies, behindProxy);
    }

    /** Reads the settings of a server. */
    public static ServerSettings read(SettingReader in) {
        return new ServerSettings(
                in.get(PORT, "port", "7420", "N", "Port to listen on; 0 takes a free one."),
                in.get(
                        TEXT,
                        "bind",
                        "127.0.0.1",
                        "ADDRESS",
                        "Address to listen on. Addresses other than loopback need authentication for every agent, and TLS or"
                                + " --behind-proxy."),
                in.find(HTTP_URL, "public-url", "URL", "Address that cards show, if the hub is behind a proxy."),
                in.flag(
                        "behind-proxy",
                        "Serve without TLS at any address, because a proxy ends it. Needs authentication for every agent"
                                + " and --public-url with https."),
                in
                        .list(
                                "trusted-proxy",
                                "ADDRESS[,ADDRESS]",
                                "Addresses and ranges (10.1.0.0/16) of proxies whose X-Forwarded-For names the client;"
                                        + " repeatable. Needs --behind-proxy.",
                                REPEATABLE)
                        .stream()
                        .map(ServerSettings::proxy)
                        .toList(),
                in.list(
                        "allowed-host",
                        "HOST[,HOST]",
                        "Host name by which clients may call, besides localhost and that of --public-url; repeatable.",
                        REPEATABLE),
                in.list("cors-origin", "ORIGIN", "Web origin whose pages may call the hub; repeatable.", REPEATABLE),
                in.get(SIZE, "max-body", "10MB", "SIZE", "Limit of the size of a request."),
                in.find(PATH, "tls-cert", "FILE", "Certificate chain (PEM); needs --tls-key too."),
                in.find(PATH, "tls-key", "FILE", "Private key (PEM)."),
                in.find(
                        PATH,
                        "tls-client-ca",
                        "FILE",
                        "Certificate authority (PEM) of the certificates of callers, for --auth mutualTLS."),
                in.get(DURATION, "drain", "10s", "DURATION", "Time that calls in progress have to end at a stop."));
    }
}
