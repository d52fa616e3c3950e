-- Each transaction of a stream adds a row and locks the row of its stream, so that nothing is updated in place: a row that each
-- transaction updates has a version for each of them as long as any snapshot is open, and all are looked through. The row has the
-- end of the audit's chain as of its transaction. The stream removes old rows.
CREATE TABLE stream_group (
    stream_no  BIGINT NOT NULL,
    group_no   BIGINT NOT NULL,
    audit_no   BIGINT NOT NULL,
    audit_hash TEXT NOT NULL,
    PRIMARY KEY (stream_no, group_no)
);
INSERT INTO stream_group (stream_no, group_no, audit_no, audit_hash)
    SELECT stream_no, group_no, audit_no, audit_hash FROM stream;
DROP VIEW audit_end;
ALTER TABLE stream DROP COLUMN group_no;
-- How far a living stream and its chain go. The row of the stream has the end of the chain before its first transaction.
CREATE VIEW stream_newest AS
    SELECT s.stream_no, coalesce(g.group_no, 0) AS group_no, coalesce(g.audit_no, s.audit_no) AS audit_no,
        coalesce(g.audit_hash, s.audit_hash) AS audit_hash
    FROM stream s LEFT JOIN LATERAL
        (SELECT * FROM stream_group WHERE stream_no = s.stream_no ORDER BY group_no DESC LIMIT 1) g ON true;
CREATE VIEW audit_end AS SELECT audit_no AS row_no, audit_hash AS hash FROM stream_newest;

ALTER TABLE hub ADD COLUMN version TEXT NOT NULL DEFAULT '';
ALTER TABLE hub ADD COLUMN begun_at TIMESTAMPTZ NOT NULL DEFAULT clock_timestamp();

-- Counts are sums over slots. A slot belongs to a stream, which gives a row that it updates often another one now and then, since
-- versions of a row add up in the same way.
ALTER TABLE tally ALTER COLUMN hub_slot TYPE BIGINT;
ALTER TABLE stored ALTER COLUMN hub_slot TYPE BIGINT;
