/** The A2A 1.0 model: everything else in Parley is written against these types. */
module dev.parley.protocol {
    requires static transitive org.jspecify;
    requires transitive tools.jackson.core;

    exports dev.parley.protocol;
    exports dev.parley.protocol.extension;
    exports dev.parley.protocol.json;
    exports dev.parley.protocol.retry;
    exports dev.parley.protocol.settings;
    exports dev.parley.protocol.support;

    uses dev.parley.protocol.extension.ExtensionProtocol.Provider;
}
