/** A registry of agents as an extension of a hub. */
module dev.parley.registry.hub {
    requires static transitive org.jspecify;
    requires transitive dev.parley.extension;
    requires transitive dev.parley.registry;
    requires dev.parley.outbound;
    requires dev.parley.dialect;
    requires dev.parley.engine;
    requires dev.parley.protocol;
    requires dev.parley.store;
    requires dev.parley.trust;
    requires java.sql;

    exports dev.parley.registry.hub;
    exports dev.parley.registry.spi;

    uses dev.parley.registry.Embedder;
    uses dev.parley.registry.spi.RegistryExtensionSource;

    provides dev.parley.extension.HubExtensionSource with
            dev.parley.registry.hub.RegistrySource,
            dev.parley.registry.reports.ReportSource;
}
