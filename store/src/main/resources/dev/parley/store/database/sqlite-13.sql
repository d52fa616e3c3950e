-- When a segment was written; null in older ones. Before the events: a column behind them costs its reader all pages of a long row.
DROP VIEW logged;
CREATE TABLE timed_segment (
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
    at_ms     INTEGER,
    events    BLOB NOT NULL,
    PRIMARY KEY (task_id, first_seq)
);
INSERT INTO timed_segment (task_id, first_seq, entry_no, state, previous, caller, address, salt, trace, agents, received, sent, events)
    SELECT task_id, first_seq, entry_no, state, previous, caller, address, salt, trace, agents, received, sent, events FROM segment
    ORDER BY task_id, first_seq;
DROP TABLE segment;
ALTER TABLE timed_segment RENAME TO segment;
CREATE INDEX segment_by_caller ON segment (caller) WHERE caller IS NOT NULL;
CREATE VIEW logged AS
    SELECT task_id, first_seq, entry_no, state, previous, caller, address, salt, trace, agents, received, sent, events FROM segment
    UNION ALL
    SELECT task_id, 1, entry_no, state, NULL, NULL, address, salt, NULL, NULL, received, sent, events FROM task
        WHERE events IS NOT NULL;
