/** Parts that an extension adds to a hub. */
module dev.parley.extension {
    requires static transitive org.jspecify;
    requires transitive dev.parley.dialect;
    requires transitive dev.parley.engine;
    requires transitive dev.parley.protocol;
    requires transitive dev.parley.store;
    requires transitive java.net.http;

    exports dev.parley.extension;
}
