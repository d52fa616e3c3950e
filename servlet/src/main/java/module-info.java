/** Servlet that serves the agents of a platform. */
module dev.parley.servlet {
    requires static transitive org.jspecify;
    requires transitive dev.parley.dialect;
    requires transitive dev.parley.hub;
    requires dev.parley.server;
    requires transitive jakarta.servlet;

    exports dev.parley.servlet;
}
