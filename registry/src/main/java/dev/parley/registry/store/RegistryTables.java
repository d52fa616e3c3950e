package dev.parley.registry.store;

import dev.parley.store.database.Database;
import dev.parley.store.database.DatabaseKind;
import dev.parley.store.database.DatabaseSession;
import java.sql.SQLException;
import java.util.List;

/** Tables of a registry. See {@code docs/adr/0049-record-of-a-registry.md}. */
final class RegistryTables {
    /** Each script is run once; further ones are added at the end. */
    private static final List<String> SCRIPTS = List.of("""
            CREATE TABLE registry_entry (
                number     KEY PRIMARY KEY,
                id         TEXT NOT NULL UNIQUE,
                human_id   TEXT,
                name       TEXT NOT NULL,
                group_id   TEXT NOT NULL,
                owner      TEXT NOT NULL,
                visibility INTEGER NOT NULL,
                status     TEXT NOT NULL,
                change     BIGINT NOT NULL,
                content    BLOB NOT NULL,
                views      BLOB,
                open       BLOB
            );
            CREATE INDEX registry_entry_by_name ON registry_entry (name, number);
            CREATE INDEX registry_entry_by_change ON registry_entry (change);
            CREATE INDEX registry_entry_by_human_id ON registry_entry (human_id) WHERE human_id IS NOT NULL;
            CREATE TABLE registry_document (
                entry     BIGINT NOT NULL,
                revision  INTEGER NOT NULL,
                at_ms     BIGINT NOT NULL,
                principal TEXT NOT NULL,
                type      TEXT NOT NULL,
                changes   BLOB NOT NULL,
                bytes     BLOB NOT NULL,
                PRIMARY KEY (entry, revision)
            );
            CREATE TABLE registry_label (
                label TEXT NOT NULL,
                entry BIGINT NOT NULL,
                PRIMARY KEY (label, entry)
            ) ROWLESS;
            CREATE TABLE registry_change (
                number     KEY PRIMARY KEY,
                entry      BIGINT NOT NULL,
                at_ms      BIGINT NOT NULL,
                kind       TEXT NOT NULL,
                group_id   TEXT NOT NULL,
                owner      TEXT NOT NULL,
                visibility INTEGER NOT NULL,
                details    BLOB NOT NULL
            );
            CREATE INDEX registry_change_by_entry ON registry_change (entry, number);
            CREATE TABLE registry_review (
                entry     BIGINT NOT NULL,
                group_id  TEXT NOT NULL,
                principal TEXT NOT NULL,
                kind      TEXT NOT NULL,
                at_ms     BIGINT NOT NULL,
                stars     INTEGER NOT NULL,
                text      TEXT NOT NULL,
                PRIMARY KEY (entry, kind, group_id, principal)
            );
            """, """
            ALTER TABLE registry_entry ADD COLUMN created_ms BIGINT NOT NULL DEFAULT 0;
            ALTER TABLE registry_entry ADD COLUMN updated_ms BIGINT NOT NULL DEFAULT 0;
            CREATE INDEX registry_entry_by_updated ON registry_entry (updated_ms, number);
            """, """
            CREATE INDEX registry_entry_by_sight ON registry_entry (status, visibility, group_id, owner, number);
            """, """
            ALTER TABLE registry_entry ADD COLUMN look TEXT NOT NULL DEFAULT '';
            CREATE INDEX registry_entry_by_look ON registry_entry (look, number);
            CREATE TABLE registry_setting (
                name  TEXT PRIMARY KEY,
                value TEXT NOT NULL
            );
            INSERT INTO registry_setting (name, value)
                SELECT 'publisher', 'agent.localhost' FROM registry_entry LIMIT 1;
            """, """
            UPDATE registry_entry SET look = '';
            """, """
            ALTER TABLE registry_entry ADD COLUMN bytes BIGINT NOT NULL DEFAULT 0;
            UPDATE registry_entry SET bytes = %s WHERE owner <> '*' AND group_id <> '*';
            INSERT INTO stored (group_id, kind, bytes)
                SELECT group_id, 'registry', sum(bytes) FROM (
                    SELECT group_id, bytes FROM registry_entry WHERE status <> 'deleted'
                    UNION ALL SELECT group_id, 200 + octet_length(text) FROM registry_review
                ) AS counted GROUP BY group_id HAVING sum(bytes) > 0;
            INSERT INTO stored (group_id, kind, bytes)
                SELECT group_id, 'deleted', sum(bytes) FROM registry_entry WHERE status = 'deleted'
                    GROUP BY group_id HAVING sum(bytes) > 0;
            """.formatted(EntryBytes.SUM));

    private RegistryTables() {}

    /** Whether the tables of a database have skeletons of names. */
    static boolean haveLooks(DatabaseSession session) throws SQLException {
        return session.number("SELECT count(*) FROM module_version WHERE module = 'registry' AND version >= 4") == 1;
    }

    static void make(Database database) {
        boolean isPostgresql = database.kind() == DatabaseKind.POSTGRESQL;
        database.migrate(
                "registry",
                SCRIPTS.stream()
                        .map(script -> isPostgresql ? script.replace(" BLOB", " BYTEA") : script)
                        .toList());
    }
}
