/** Engine, store and server wired into one process. */
module dev.parley.hub {
    requires static transitive org.jspecify;
    requires transitive dev.parley.engine;
    requires transitive dev.parley.extension;
    requires transitive dev.parley.dialect;
    requires transitive dev.parley.trust;
    requires dev.parley.store;
    requires transitive dev.parley.server;
    requires dev.parley.client;
    requires dev.parley.outbound;
    requires transitive io.opentelemetry.api;
    requires io.opentelemetry.context;
    requires io.prometheus.metrics.core;
    requires io.prometheus.metrics.instrumentation.jvm;
    requires transitive io.prometheus.metrics.model;
    requires io.prometheus.writer.text;
    requires java.logging;

    exports dev.parley.hub;

    uses dev.parley.extension.HubExtensionSource;
}
