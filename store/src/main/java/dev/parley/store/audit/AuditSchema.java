package dev.parley.store.audit;

import dev.parley.store.spi.DatabaseKind;
import java.util.ArrayList;
import java.util.List;

/** Tables of the audit. */
final class AuditSchema {
    private static final List<String> COMMON = List.of("""
            CREATE TABLE audit (
                row_no   KEY PRIMARY KEY,
                at_ms    BIGINT NOT NULL,
                group_id TEXT NOT NULL,
                actor    TEXT NOT NULL,
                action   TEXT NOT NULL,
                target   TEXT NOT NULL,
                subject  TEXT NOT NULL,
                outcome  TEXT NOT NULL,
                address  TEXT NOT NULL,
                trace    TEXT NOT NULL,
                detail   TEXT NOT NULL,
                hash     TEXT NOT NULL,
                -- Goes with the address into the hash, and goes with it: there are too few addresses to hide one in a hash.
                salt     TEXT NOT NULL
            );
            CREATE INDEX audit_by_target ON audit (target, row_no);
            CREATE INDEX audit_by_group ON audit (group_id, row_no);
            -- How far the chain goes, so that cutting off its end shows.
            CREATE TABLE audit_end (row_no BIGINT NOT NULL, hash TEXT NOT NULL);
            """, """
            CREATE TABLE audit_log (
                -- The number of its last entry; so many before it are in the same link.
                row_no  KEY PRIMARY KEY,
                at_ms   BIGINT NOT NULL,
                entries INTEGER NOT NULL,
                -- Task id and first number of each segment, a line each.
                places  TEXT NOT NULL,
                hash    TEXT NOT NULL
            );
            """);

    /** The entries of a link by group, so that readers of one group read nothing of others. */
    private static final String PARTS = """
            CREATE TABLE audit_part (
                group_id TEXT NOT NULL,
                -- Time and hash of the link, too.
                row_no   BIGINT NOT NULL,
                at_ms    BIGINT NOT NULL,
                hash     TEXT NOT NULL,
                -- Number of the entry, task id and first number of the segment, a line each.
                places   TEXT NOT NULL,
                PRIMARY KEY (group_id, row_no)
            ) ROWLESS;
            INSERT INTO audit_part (group_id, row_no, at_ms, hash, places)
                SELECT coalesce(lane.group_id, kept.group_id, ''), link.row_no, link.at_ms, link.hash,
                    %s
                FROM (%s) AS link
                LEFT JOIN task ON task.task_id = link.task_id
                LEFT JOIN lane ON lane.lane_no = task.lane_no
                LEFT JOIN audit AS kept ON kept.row_no = link.entry_no
                GROUP BY coalesce(lane.group_id, kept.group_id, ''), link.row_no, link.at_ms, link.hash;
            """;

    /** Lines of {@code audit_log.places} as rows, which the two systems make in words of their own. */
    private static final String SQLITE_PARTS =
            PARTS.formatted("group_concat(link.entry_no || ' ' || link.place, char(10))", """
            SELECT audit_log.row_no, at_ms, hash, audit_log.row_no - entries + 1 + line.key AS entry_no, line.value AS place,
                substr(line.value, 1, length(rtrim(line.value, '0123456789')) - 1) AS task_id
            FROM audit_log, json_each('["' || replace(replace(replace(rtrim(places, char(10)), char(92), char(92) || char(92)), '"',
                char(92) || '"'), char(10), '","') || '"]') AS line
            """);

    private static final String POSTGRESQL_PARTS =
            PARTS.formatted("string_agg(link.entry_no || ' ' || link.place, chr(10))", """
            SELECT row_no, at_ms, hash, row_no - entries + line.place_no AS entry_no, line.place,
                left(line.place, length(line.place) - position('/' IN reverse(line.place))) AS task_id
            FROM audit_log, string_to_table(rtrim(places, chr(10)), chr(10)) WITH ORDINALITY AS line (place, place_no)
            """);

    private AuditSchema() {}

    /** The scripts of all versions, in their order. */
    static List<String> scripts(DatabaseKind kind) {
        var all = new ArrayList<>(COMMON);
        all.add(kind == DatabaseKind.SQLITE ? SQLITE_PARTS : POSTGRESQL_PARTS);
        return all;
    }
}
