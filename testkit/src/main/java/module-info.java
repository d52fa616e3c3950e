/** Contract tests, scripted agents and other things that tests of A2A software need. */
module dev.parley.testkit {
    requires static transitive org.jspecify;
    requires dev.parley.dialect;
    requires transitive dev.parley.engine;
    requires transitive java.net.http;
    requires jdk.httpserver;
    requires static transitive org.junit.jupiter.api;
    requires static org.assertj.core;

    exports dev.parley.testkit;
}
