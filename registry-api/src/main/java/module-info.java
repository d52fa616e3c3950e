/** Entries of a registry, and its operations. */
module dev.parley.registry {
    requires static transitive org.jspecify;
    requires transitive dev.parley.dialect;
    requires transitive dev.parley.protocol;

    exports dev.parley.registry;

    provides dev.parley.protocol.extension.ExtensionProtocol.Provider with
            dev.parley.registry.RegistryProtocol;
}
