/** Engine, store and server wired into one process. */
module dev.parley.hub {
    requires static transitive org.jspecify;
    requires transitive dev.parley.engine;
    requires transitive dev.parley.dialect;
    requires transitive dev.parley.knowledge;
    requires transitive dev.parley.trust;
    requires dev.parley.store;
    requires dev.parley.server;
    requires dev.parley.client;

    exports dev.parley.hub;
}
