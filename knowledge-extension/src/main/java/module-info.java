/** The knowledge graph as an extension of a hub and of the program. */
module dev.parley.knowledge.extension {
    requires static transitive org.jspecify;
    requires transitive dev.parley.extension;
    requires transitive dev.parley.knowledge;
    requires transitive dev.parley.knowledge.api;
    requires dev.parley.command;
    requires dev.parley.dialect;
    requires dev.parley.engine;
    requires dev.parley.protocol;
    requires java.desktop;

    exports dev.parley.knowledge.hub;

    provides dev.parley.command.CommandSource with
            dev.parley.knowledge.command.KnowledgeCommands;
    provides dev.parley.extension.HubExtensionSource with
            dev.parley.knowledge.hub.KnowledgeSource;
}
