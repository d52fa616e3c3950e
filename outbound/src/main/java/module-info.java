/** HTTP requests of a server and of clients: the rule of addresses, connections, bounded documents, event streams. */
module dev.parley.outbound {
    requires static transitive org.jspecify;
    requires transitive dev.parley.protocol;
    requires transitive java.net.http;
    requires transitive org.apache.httpcomponents.client5.httpclient5;
    requires transitive org.apache.httpcomponents.core5.httpcore5;

    exports dev.parley.outbound;
    exports dev.parley.outbound.http;
}
