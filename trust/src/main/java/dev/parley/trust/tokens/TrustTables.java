package dev.parley.trust.tokens;

import dev.parley.store.spi.ModuleTables;
import java.util.List;

/** Tables of the members and keys of groups, of sign-ins and of sessions. */
public final class TrustTables {
    /** A script for each version. */
    public static final ModuleTables TABLES =
            new ModuleTables("trust", List.of("""
            CREATE TABLE trust_group (group_id TEXT PRIMARY KEY, made_ms BIGINT NOT NULL, archived_ms BIGINT);
            CREATE TABLE trust_user (
                group_id    TEXT NOT NULL,
                name        TEXT NOT NULL,
                made_ms     BIGINT NOT NULL,
                disabled_ms BIGINT,
                PRIMARY KEY (group_id, name)
            );
            CREATE TABLE trust_key (
                key_id     TEXT PRIMARY KEY,
                group_id   TEXT NOT NULL,
                principal  TEXT NOT NULL,
                scopes     TEXT NOT NULL,
                hash       TEXT NOT NULL,
                made_ms    BIGINT NOT NULL,
                expires_ms BIGINT,
                revoked_ms BIGINT,
                successor  TEXT
            );
            """, """
            CREATE TABLE trust_sign_in (
                sign_in_id   TEXT PRIMARY KEY,
                group_id     TEXT NOT NULL,
                principal    TEXT NOT NULL,
                key_id       TEXT NOT NULL,
                client       TEXT NOT NULL,
                redirect     TEXT NOT NULL,
                challenge    TEXT NOT NULL,
                scopes       TEXT NOT NULL,
                resource     TEXT NOT NULL,
                turns        INTEGER NOT NULL,
                code_used_ms BIGINT,
                refreshed_ms BIGINT,
                expires_ms   BIGINT NOT NULL,
                revoked_ms   BIGINT
            );
            CREATE INDEX trust_sign_in_of_user ON trust_sign_in (group_id, principal);
            CREATE INDEX trust_sign_in_expiry ON trust_sign_in (expires_ms);
            """, """
            CREATE TABLE trust_session (
                session_hash TEXT PRIMARY KEY,
                group_id     TEXT NOT NULL,
                principal    TEXT NOT NULL,
                credential   TEXT NOT NULL,
                begun_ms     BIGINT NOT NULL,
                expires_ms   BIGINT NOT NULL
            );
            CREATE INDEX trust_session_of_user ON trust_session (group_id, principal);
            CREATE INDEX trust_session_expiry ON trust_session (expires_ms);
            """, """
            DELETE FROM trust_session;
            ALTER TABLE trust_session ADD COLUMN proof_hash TEXT NOT NULL DEFAULT '';
            """, "ALTER TABLE trust_key ADD COLUMN used_ms BIGINT"));

    private TrustTables() {}
}
