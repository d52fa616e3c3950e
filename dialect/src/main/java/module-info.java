/** Codec of the wire, in both directions. */
module dev.parley.dialect {
    requires static transitive org.jspecify;
    requires transitive dev.parley.protocol;

    exports dev.parley.dialect;
    exports dev.parley.dialect.spi;
    exports dev.parley.dialect.served;
    exports dev.parley.dialect.wire;

    uses dev.parley.dialect.spi.DialectProvider;
    uses dev.parley.protocol.extension.ExtensionProtocol.Provider;

    provides dev.parley.protocol.extension.ExtensionProtocol.Provider with
            dev.parley.dialect.v1.V1Values;
}
