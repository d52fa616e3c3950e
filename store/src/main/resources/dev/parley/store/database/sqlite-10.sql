-- Rows by a number of their own and an index of their keys: in a table that is its own index, SQLite reads a row to its end, over all
-- of its pages, to compare its key.
DROP VIEW logged;
CREATE TABLE keyed_segment (
    task_id   TEXT NOT NULL,
    first_seq INTEGER NOT NULL,
    entry_no  INTEGER,
    state     INTEGER,
    previous  INTEGER,
    caller    TEXT,
    address   TEXT,
    salt      TEXT,
    trace     TEXT,
    agents    TEXT,
    received  TEXT,
    sent      TEXT,
    events    BLOB NOT NULL,
    PRIMARY KEY (task_id, first_seq)
);
INSERT INTO keyed_segment (task_id, first_seq, entry_no, state, previous, caller, address, salt, trace, agents, received, sent, events)
    SELECT task_id, first_seq, entry_no, state, previous, caller, address, salt, trace, agents, received, sent, events FROM segment
    ORDER BY task_id, first_seq;
DROP TABLE segment;
ALTER TABLE keyed_segment RENAME TO segment;
CREATE INDEX segment_by_caller ON segment (caller) WHERE caller IS NOT NULL;
CREATE VIEW logged AS
    SELECT task_id, first_seq, entry_no, state, previous, caller, address, salt, trace, agents, received, sent, events FROM segment
    UNION ALL
    SELECT task_id, 1, entry_no, state, NULL, NULL, address, salt, NULL, NULL, received, sent, events FROM task
        WHERE events IS NOT NULL;

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
