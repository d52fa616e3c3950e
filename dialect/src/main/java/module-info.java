/** Codec of the wire, in both directions. */
module dev.parley.dialect {
    requires static transitive org.jspecify;
    requires transitive dev.parley.protocol;
    requires transitive tools.jackson.core;

    exports dev.parley.dialect;

    uses dev.parley.dialect.DialectProvider;
    uses dev.parley.protocol.extension.ExtensionProtocol.Provider;
}
