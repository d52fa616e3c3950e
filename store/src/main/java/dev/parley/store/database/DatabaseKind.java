package dev.parley.store.database;

/** Database system. */
public enum DatabaseKind {
    SQLITE,
    POSTGRESQL
}
