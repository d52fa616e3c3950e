/** One port for any set of agents. */
module dev.parley.server {
    requires static transitive org.jspecify;
    requires transitive dev.parley.dialect;
    requires dev.parley.dialect.grpc;
    requires dev.parley.protocol;
    requires io.grpc;
    requires io.helidon.common.buffers;
    requires io.helidon.common.concurrency.limits;
    requires io.helidon.common.socket;
    requires io.helidon.common.tls;
    requires io.helidon.http;
    requires io.helidon.http.encoding;
    requires io.helidon.http.http2;
    requires io.helidon.http.media;
    requires io.helidon.webserver;
    requires io.helidon.webserver.http2;
    requires java.logging;
    requires jdk.net;

    exports dev.parley.server;
}
