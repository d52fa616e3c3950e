/** Web console of a hub, as an extension of the hub. */
module dev.parley.console {
    requires static transitive org.jspecify;
    requires transitive dev.parley.extension;
    requires dev.parley.dialect;
    requires dev.parley.engine;
    requires dev.parley.protocol;

    exports dev.parley.console;

    provides dev.parley.extension.HubExtensionSource with
            dev.parley.console.ConsoleSource;
}
