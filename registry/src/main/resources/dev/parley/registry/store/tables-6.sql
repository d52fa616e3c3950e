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
