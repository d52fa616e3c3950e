/** Runs agents and keeps the log of every task. */
module dev.parley.engine {
    requires static transitive org.jspecify;
    requires transitive dev.parley.protocol;
    requires com.github.benmanes.caffeine;

    exports dev.parley.engine;
    exports dev.parley.engine.spi;

    uses dev.parley.engine.AgentSource;
}
