/** Contract tests, scripted agents and other things that tests of A2A software need. */
module dev.parley.testkit {
    requires static transitive org.jspecify;
    requires transitive dev.parley.engine;
    requires transitive java.sql;
    requires static transitive org.junit.jupiter.api;
    requires static org.assertj.core;

    exports dev.parley.testkit;
}
