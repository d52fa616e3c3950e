/** Demo agents that do real work without a model. */
module dev.parley.agents {
    requires static transitive org.jspecify;
    requires dev.parley.knowledge.api;
    requires transitive dev.parley.engine;
    requires dev.parley.protocol;
    requires de.siegmar.fastcsv;
    requires java.desktop;

    exports dev.parley.agents;
}
