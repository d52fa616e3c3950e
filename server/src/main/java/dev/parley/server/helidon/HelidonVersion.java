package dev.parley.server.helidon;

import io.helidon.webserver.WebServer;
import org.jspecify.annotations.Nullable;

/** Version of Helidon that the repairs in this package were reviewed for. */
final class HelidonVersion {
    /**
     * To be changed after the review: the repairs rely on how Helidon behaves inside, and a class of Helidon that changes may
     * neither fail to compile nor fail a test. The steps are in docs/adr/0030.
     */
    static final String REVIEWED = "4.5.0";

    private HelidonVersion() {}

    /** The version that runs; null if its files do not say. */
    static @Nullable String running() {
        var module = WebServer.class.getModule();
        if (module.isNamed()) {
            return module.getDescriptor().rawVersion().orElse(null);
        }
        return WebServer.class.getPackage().getImplementationVersion();
    }
}
