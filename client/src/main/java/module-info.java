/** Calls agents anywhere, and delivers webhooks. */
@SuppressWarnings("module") // the modules of a qualified export are compiled after this one
module dev.parley.client {
    requires static transitive org.jspecify;
    requires transitive dev.parley.protocol;
    requires dev.parley.dialect;
    requires transitive io.opentelemetry.api;
    requires transitive io.opentelemetry.context;
    requires java.net.http;
    requires org.apache.httpcomponents.client5.httpclient5;
    requires org.apache.httpcomponents.core5.httpcore5;

    exports dev.parley.client;
    exports dev.parley.client.http to
            dev.parley.mcp;
    exports dev.parley.client.keys;
    exports dev.parley.client.oauth;
    exports dev.parley.client.spi;
    exports dev.parley.client.webhooks;

    uses dev.parley.dialect.spi.Transport;
    uses dev.parley.protocol.extension.ExtensionProtocol.Provider;
}
