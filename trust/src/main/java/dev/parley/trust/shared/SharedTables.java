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
            """, """
            CREATE TABLE trust_bucket (
                account TEXT PRIMARY KEY,
                day     BIGINT NOT NULL,
                calls   DOUBLE PRECISION NOT NULL,
                lent    BIGINT NOT NULL,
                at      TIMESTAMPTZ NOT NULL
            ) WITH (fillfactor = 10);
            """));

    private SharedTables() {}
}
