-- Whose tasks of which agent: what every question about tasks begins with.
CREATE TABLE lane (
    lane_no  INTEGER PRIMARY KEY,
    group_id TEXT NOT NULL,
    owner    TEXT NOT NULL,
    agent    TEXT NOT NULL,
    UNIQUE (group_id, owner, agent)
);

-- What is known of a task without reading its events. Ids sort by the time they were made, so rows go to the end.
CREATE TABLE task (
    task_id    TEXT PRIMARY KEY,
    lane_no    INTEGER NOT NULL REFERENCES lane,
    context_id TEXT NOT NULL,
    state      INTEGER NOT NULL,
    status_ms  INTEGER NOT NULL,
    last_seq   INTEGER NOT NULL,
    caller     TEXT NOT NULL,
    trace      TEXT
) WITHOUT ROWID;

CREATE INDEX task_by_time ON task (lane_no, status_ms, task_id);
CREATE INDEX task_by_state ON task (lane_no, state, status_ms, task_id);
CREATE INDEX task_by_context ON task (lane_no, context_id, status_ms, task_id);
-- Only what a crash would interrupt; most tasks are written once, when they have ended, and never enter it.
CREATE INDEX task_unfinished ON task (lane_no) WHERE state IN (0, 1, 2);

-- How many tasks a lane has in each state, so that a list can say its total without counting a million rows.
CREATE TABLE tally (
    lane_no INTEGER NOT NULL REFERENCES lane,
    state   INTEGER NOT NULL,
    tasks   INTEGER NOT NULL,
    PRIMARY KEY (lane_no, state)
) WITHOUT ROWID;

-- Events that were emitted together: a JSON array of A2A 1.0 StreamResponses, numbered from first_seq on.
CREATE TABLE segment (
    task_id   TEXT NOT NULL,
    first_seq INTEGER NOT NULL,
    events    BLOB NOT NULL,
    PRIMARY KEY (task_id, first_seq)
) WITHOUT ROWID;

-- Which message led to which task. By day, so that forgetting a day is the removal of one range.
CREATE TABLE message (
    day        INTEGER NOT NULL,
    lane_no    INTEGER NOT NULL,
    message_id TEXT NOT NULL,
    task_id    TEXT NOT NULL,
    made_ms    INTEGER NOT NULL,
    PRIMARY KEY (day, lane_no, message_id)
) WITHOUT ROWID;

-- What callers of the versions that have it so call their tasks.
CREATE TABLE task_name (
    lane_no INTEGER NOT NULL REFERENCES lane,
    name    TEXT NOT NULL,
    task_id TEXT NOT NULL,
    PRIMARY KEY (lane_no, name)
) WITHOUT ROWID;

CREATE INDEX task_name_by_task ON task_name (task_id);

-- Webhooks and how far each has been told; config is the JSON of its TaskPushNotificationConfig. They
-- are told in the dialect in which they were asked for, under the name that the task has there.
CREATE TABLE webhook (
    task_id   TEXT NOT NULL,
    config_id TEXT NOT NULL,
    lane_no   INTEGER NOT NULL REFERENCES lane,
    made_ms   INTEGER NOT NULL,
    config    BLOB NOT NULL,
    dialect   TEXT NOT NULL,
    task_name TEXT,
    delivered INTEGER NOT NULL,
    attempts  INTEGER NOT NULL,
    next_ms   INTEGER,
    dead_ms   INTEGER,
    error     TEXT,
    PRIMARY KEY (task_id, config_id)
) WITHOUT ROWID;

CREATE INDEX webhook_dead ON webhook (dead_ms) WHERE dead_ms IS NOT NULL;
