package dev.parley.store.spi;

/** Database system. */
public enum DatabaseKind {
    SQLITE,
    POSTGRESQL
}
