/** Calls agents anywhere, and delivers webhooks. */
module dev.parley.client {
    requires static transitive org.jspecify;
    requires transitive dev.parley.outbound;
    requires transitive dev.parley.protocol;
    requires dev.parley.dialect;
    requires transitive io.opentelemetry.api;
    requires transitive io.opentelemetry.context;

    exports dev.parley.client;
    exports dev.parley.client.keys;
    exports dev.parley.client.login;
    exports dev.parley.client.spi;
    exports dev.parley.client.webhooks;

    uses dev.parley.dialect.spi.Transport;
    uses dev.parley.protocol.extension.ExtensionProtocol.Provider;
}
