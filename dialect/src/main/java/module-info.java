/** Codec of the wire, in both directions. */
@SuppressWarnings("module") // the modules of a qualified export are compiled after this one
module dev.parley.dialect {
    requires static transitive org.jspecify;
    requires transitive dev.parley.protocol;

    exports dev.parley.dialect;
    exports dev.parley.dialect.spi;
    exports dev.parley.dialect.served to
            dev.parley.dialect.grpc,
            dev.parley.hub,
            dev.parley.registry.hub,
            dev.parley.server,
            dev.parley.trust;
    exports dev.parley.dialect.wire to
            dev.parley.dialect.grpc,
            dev.parley.hub,
            dev.parley.server,
            dev.parley.store,
            dev.parley.trust;

    uses dev.parley.dialect.spi.DialectProvider;
    uses dev.parley.protocol.extension.ExtensionProtocol.Provider;

    provides dev.parley.protocol.extension.ExtensionProtocol.Provider with
            dev.parley.dialect.v1.V1Values;
}
