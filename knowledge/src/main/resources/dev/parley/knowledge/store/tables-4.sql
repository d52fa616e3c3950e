-- Bytes for the quota of the group: 200 for the row, the text of the object, and the provenance; of a change also what it replaced.
ALTER TABLE kg_statement ADD COLUMN bytes BIGINT NOT NULL DEFAULT 0;
UPDATE kg_statement SET bytes = 200 + coalesce((SELECT octet_length(lexical) FROM kg_term WHERE term_no = kg_statement.o), 0)
    + coalesce((SELECT octet_length(json) FROM kg_provenance y WHERE y.provenance = kg_statement.provenance), 0);
ALTER TABLE kg_assertion ADD COLUMN bytes BIGINT NOT NULL DEFAULT 0;
UPDATE kg_assertion SET bytes = 200 + coalesce((SELECT octet_length(lexical) FROM kg_term WHERE term_no = kg_assertion.o), 0)
    + coalesce((SELECT octet_length(json) FROM kg_provenance y WHERE y.provenance = kg_assertion.provenance), 0);
ALTER TABLE kg_change ADD COLUMN bytes BIGINT NOT NULL DEFAULT 0;
UPDATE kg_change SET bytes = 200 + coalesce((SELECT octet_length(lexical) FROM kg_term WHERE term_no = kg_change.o), 0)
    + coalesce((SELECT octet_length(json) FROM kg_provenance y WHERE y.provenance = kg_change.provenance), 0)
    + coalesce(octet_length(replaced), 0);
ALTER TABLE kg_review ADD COLUMN bytes BIGINT NOT NULL DEFAULT 0;
UPDATE kg_review SET bytes = 200 + octet_length(request);
INSERT INTO stored (group_id, kind, bytes)
    SELECT group_id, 'changes', sum(bytes) FROM kg_change JOIN kg_space ON kg_space.space = kg_change.space GROUP BY group_id;
INSERT INTO stored (group_id, kind, bytes)
    SELECT group_id, 'knowledge', sum(bytes) FROM (
        SELECT space, bytes FROM kg_statement
        UNION ALL SELECT space, bytes FROM kg_assertion
        UNION ALL SELECT space, bytes FROM kg_review
        UNION ALL SELECT space, 200 + octet_length(result) FROM kg_key
        UNION ALL SELECT space, 200 + octet_length(value) FROM kg_setting WHERE space > 0
    ) AS counted JOIN kg_space ON kg_space.space = counted.space GROUP BY group_id;
