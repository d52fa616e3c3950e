package dev.parley.store;

/** Database system. */
public enum DatabaseKind {
    SQLITE,
    POSTGRESQL
}
