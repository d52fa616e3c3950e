package dev.parley.trust.shared;

import dev.parley.store.spi.ModuleTables;
import java.util.List;

/** Tables of hubs that share a database of PostgreSQL; other databases have none of them. */
final class SharedTables {
    static final ModuleTables TABLES = new ModuleTables("trust of several hubs", List.of("""
            CREATE TABLE trust_proof (
                proof_hash BYTEA PRIMARY KEY,
                seen_at    TIMESTAMPTZ NOT NULL DEFAULT clock_timestamp()
            );
            CREATE INDEX trust_proof_seen ON trust_proof (seen_at);
            """));

    private SharedTables() {}
}
