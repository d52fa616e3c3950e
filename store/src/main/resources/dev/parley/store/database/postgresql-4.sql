-- Bytes of a group by kind of data: contents, and 200 for each row. The slot is that of a hub.
CREATE TABLE stored (
    group_id TEXT COLLATE "C" NOT NULL,
    kind     TEXT COLLATE "C" NOT NULL,
    hub_slot SMALLINT NOT NULL DEFAULT 0,
    bytes    BIGINT NOT NULL,
    PRIMARY KEY (group_id, kind, hub_slot)
) WITH (fillfactor = 20);

-- Bytes of the segments of a task; 0 if its events are in its own row.
ALTER TABLE task ADD COLUMN bytes BIGINT NOT NULL DEFAULT 0;
UPDATE task SET bytes = (SELECT coalesce(sum(octet_length(events) + 200), 0) FROM segment WHERE segment.task_id = task.task_id)
    WHERE events IS NULL;
INSERT INTO stored (group_id, kind, bytes)
    SELECT group_id, 'tasks', sum(200 + coalesce(octet_length(events), 0) + bytes) FROM task
        JOIN lane ON lane.lane_no = task.lane_no GROUP BY group_id;
