package dev.parley.server;

import static dev.parley.protocol.settings.SettingSpec.Trait.REPEATABLE;
import static dev.parley.protocol.settings.SettingType.DURATION;
import static dev.parley.protocol.settings.SettingType.HTTP_URL;
import static dev.parley.protocol.settings.SettingType.PATH;
import static dev.parley.protocol.settings.SettingType.PORT;
import static dev.parley.protocol.settings.SettingType.SIZE;
import static dev.parley.protocol.settings.SettingType.TEXT;

import dev.parley.protocol.settings.SettingReader;
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
        List<String> allowedHosts,
        List<String> corsOrigins,
        long maxBodyBytes,
        @Nullable Path tlsCertificate,
        @Nullable Path tlsKey,
        @Nullable Path clientAuthorities,
        Duration drain) {

    public static final ServerSettings DEFAULTS = read(SettingReader.DEFAULTS);

    /** Reads the settings of a server. */
    public static ServerSettings read(SettingReader in) {
        return new ServerSettings(
                in.get(PORT, "port", "7420", "N", "Port to listen on; 0 takes a free one."),
                in.get(
                        TEXT,
                        "bind",
                        "127.0.0.1",
                        "ADDRESS",
                        "Address to listen on. Addresses other than loopback need TLS and authentication for every agent."),
                in.find(HTTP_URL, "public-url", "URL", "Address that cards show, if the hub is behind a proxy."),
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
