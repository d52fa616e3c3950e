/** The A2A 1.0 model: everything else in Parley is written against these types. */
module dev.parley.protocol {
    requires static transitive org.jspecify;

    exports dev.parley.protocol;
    exports dev.parley.protocol.extension;
    exports dev.parley.protocol.settings;
    exports dev.parley.protocol.support;
}
