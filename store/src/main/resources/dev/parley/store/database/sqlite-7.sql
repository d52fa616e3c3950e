-- A table in the order of its rows, which new tasks are appended to. A task that is written once, with its end, has its
-- events in its row, and what they say in the audit; those of other tasks are segments.
CREATE TABLE appended_task (
    task_id    TEXT NOT NULL PRIMARY KEY,
    lane_no    INTEGER NOT NULL REFERENCES lane,
    context_id TEXT NOT NULL,
    state      INTEGER NOT NULL,
    status_ms  INTEGER NOT NULL,
    last_seq   INTEGER NOT NULL,
    caller     TEXT NOT NULL,
    trace      TEXT,
    turns      INTEGER NOT NULL DEFAULT 1,
    agents     TEXT,
    entry_no   INTEGER,
    address    TEXT,
    salt       TEXT,
    events     BLOB
);
INSERT INTO appended_task (task_id, lane_no, context_id, state, status_ms, last_seq, caller, trace, turns, agents)
    SELECT task_id, lane_no, context_id, state, status_ms, last_seq, caller, trace, turns, agents FROM task ORDER BY task_id;
DROP TABLE task;
ALTER TABLE appended_task RENAME TO task;

-- Lists by time, and those of completed tasks: the state is there to be compared without reading the row.
CREATE INDEX task_by_time ON task (lane_no, status_ms, state);
-- Lists of any other state. Most tasks are completed when they are written, and never enter it.
CREATE INDEX task_by_state ON task (lane_no, state, status_ms) WHERE state <> 3;
CREATE INDEX task_by_context ON task (lane_no, context_id, status_ms);
-- Only what a crash would interrupt.
CREATE INDEX task_unfinished ON task (lane_no) WHERE state IN (0, 1, 2);

-- All segments, wherever they are.
CREATE VIEW logged AS
    SELECT task_id, first_seq, events, entry_no, state, previous, caller, address, salt, trace, agents FROM segment
    UNION ALL
    SELECT task_id, 1, events, entry_no, state, NULL, NULL, address, salt, NULL, NULL FROM task WHERE events IS NOT NULL;
