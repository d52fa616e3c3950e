-- Bytes of a group by kind of data: contents, and 200 for each row.
CREATE TABLE stored (
    group_id TEXT NOT NULL,
    kind     TEXT NOT NULL,
    bytes    INTEGER NOT NULL,
    PRIMARY KEY (group_id, kind)
) WITHOUT ROWID;

-- Bytes of the segments of a task; 0 if its events are in its own row.
ALTER TABLE task ADD COLUMN bytes INTEGER NOT NULL DEFAULT 0;
UPDATE task SET bytes = (SELECT coalesce(sum(length(events) + 200), 0) FROM segment WHERE segment.task_id = task.task_id)
    WHERE events IS NULL;
INSERT INTO stored (group_id, kind, bytes)
    SELECT group_id, 'tasks', sum(200 + coalesce(length(events), 0) + bytes) FROM task JOIN lane ON lane.lane_no = task.lane_no
        GROUP BY group_id;
