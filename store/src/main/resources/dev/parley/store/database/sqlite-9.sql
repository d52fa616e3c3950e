-- Events stand behind all other columns, because SQLite reads a long row from its beginning up to the column that it needs: the audit
-- and lists read none of them. With the ids of the last message from a caller and from the agent in a segment.
DROP VIEW logged;

CREATE TABLE narrow_segment (
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
) WITHOUT ROWID;
INSERT INTO narrow_segment (task_id, first_seq, entry_no, state, previous, caller, address, salt, trace, agents, events)
    SELECT task_id, first_seq, entry_no, state, previous, caller, address, salt, trace, agents, events FROM segment
    ORDER BY task_id, first_seq;
DROP TABLE segment;
ALTER TABLE narrow_segment RENAME TO segment;
CREATE INDEX segment_by_caller ON segment (caller) WHERE caller IS NOT NULL;

CREATE TABLE narrow_task (
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
    received   TEXT,
    sent       TEXT,
    events     BLOB
);
INSERT INTO narrow_task (task_id, lane_no, context_id, state, status_ms, last_seq, caller, trace, turns, agents, entry_no, address, salt,
        events)
    SELECT task_id, lane_no, context_id, state, status_ms, last_seq, caller, trace, turns, agents, entry_no, address, salt, events
    FROM task ORDER BY rowid;
DROP TABLE task;
ALTER TABLE narrow_task RENAME TO task;
CREATE INDEX task_by_time ON task (lane_no, status_ms, state);
CREATE INDEX task_by_state ON task (lane_no, state, status_ms) WHERE state <> 3;
CREATE INDEX task_by_context ON task (lane_no, context_id, status_ms);
CREATE INDEX task_unfinished ON task (lane_no) WHERE state IN (0, 1, 2);

CREATE VIEW logged AS
    SELECT task_id, first_seq, entry_no, state, previous, caller, address, salt, trace, agents, received, sent, events FROM segment
    UNION ALL
    SELECT task_id, 1, entry_no, state, NULL, NULL, address, salt, NULL, NULL, received, sent, events FROM task
        WHERE events IS NOT NULL;
