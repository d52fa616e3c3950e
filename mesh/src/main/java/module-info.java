/** The ONE mesh as an extension of a hub. */
module dev.parley.mesh.hub {
    requires static transitive org.jspecify;
    requires transitive dev.parley.extension;
    requires transitive dev.parley.mesh;
    requires dev.parley.outbound;
    requires dev.parley.dialect;
    requires dev.parley.engine;
    requires dev.parley.protocol;
    requires dev.parley.store;
    requires dev.parley.trust;
    requires java.sql;

    exports dev.parley.mesh.hub;

    provides dev.parley.dialect.spi.DialectProvider with
            dev.parley.mesh.hub.MeshDialect;
    provides dev.parley.extension.HubExtensionSource with
            dev.parley.mesh.hub.MeshSource;
}
