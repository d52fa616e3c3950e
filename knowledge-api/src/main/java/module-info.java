/** The operations of the knowledge graph extension, and their form on the wire. */
module dev.parley.knowledge.api {
    requires static transitive org.jspecify;
    requires transitive dev.parley.protocol;
    requires dev.parley.dialect;
    requires tools.jackson.core;

    exports dev.parley.knowledge.api;

    provides dev.parley.protocol.extension.ExtensionProtocol.Provider with
            dev.parley.knowledge.api.KnowledgeProtocol;
}
