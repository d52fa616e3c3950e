/** Agents and tools of MCP servers as tools of models, and handlers of conversations with models; for modules of model libraries. */
module dev.parley.agenttools {
    requires static transitive org.jspecify;
    requires transitive dev.parley.client;
    requires dev.parley.dialect;
    requires transitive dev.parley.engine;
    requires dev.parley.protocol;

    exports dev.parley.agenttools;
}
