/** Keeps the logs of tasks, and webhooks, on disk. */
module dev.parley.store {
    requires static transitive org.jspecify;
    requires transitive dev.parley.engine;
    requires dev.parley.dialect;
    requires transitive java.sql;
    requires static org.postgresql.jdbc;
    requires org.xerial.sqlitejdbc;

    exports dev.parley.store;
    exports dev.parley.store.audit;
    exports dev.parley.store.database;
    exports dev.parley.store.encryption;
    exports dev.parley.store.hubs;
    exports dev.parley.store.memories;
    exports dev.parley.store.move;
    exports dev.parley.store.rows;
    exports dev.parley.store.shared;
    exports dev.parley.store.spi;
}
