/** The A2A 1.0 model: everything else in Parley is written against these types. */
@SuppressWarnings("module") // the modules of a qualified export are compiled after this one
module dev.parley.protocol {
    requires static transitive org.jspecify;
    requires transitive tools.jackson.core;

    exports dev.parley.protocol;
    exports dev.parley.protocol.extension;
    exports dev.parley.protocol.json;
    exports dev.parley.protocol.retry;
    exports dev.parley.protocol.settings;
    exports dev.parley.protocol.support to
            dev.parley.activity,
            dev.parley.client,
            dev.parley.console,
            dev.parley.dialect,
            dev.parley.dialect.grpc,
            dev.parley.engine,
            dev.parley.gateway,
            dev.parley.hub,
            dev.parley.knowledge,
            dev.parley.mcp,
            dev.parley.mesh,
            dev.parley.mesh.client,
            dev.parley.mesh.hub,
            dev.parley.mesh.workflow,
            dev.parley.pipelines,
            dev.parley.registry,
            dev.parley.registry.client,
            dev.parley.registry.hub,
            dev.parley.server,
            dev.parley.store,
            dev.parley.trust;

    uses dev.parley.protocol.extension.ExtensionProtocol.Provider;
}
