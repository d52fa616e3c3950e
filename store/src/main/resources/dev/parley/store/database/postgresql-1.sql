-- Hubs that have had the database open.
CREATE TABLE hub (
    hub_no      BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name        TEXT NOT NULL,
    -- The newest form of events and tables that it understands.
    level       INTEGER NOT NULL,
    agents      TEXT[] NOT NULL DEFAULT '{}',
    beat_at     TIMESTAMPTZ NOT NULL DEFAULT clock_timestamp(),
    lease_until TIMESTAMPTZ,
    seen        BIGINT[] NOT NULL DEFAULT '{}',
    ended_at    TIMESTAMPTZ
) WITH (fillfactor = 20);

-- A start of a hub's writer. Each of its transactions begins with an update of the row, so that a writer without a row writes
-- nothing. Whether a transaction has been committed whose answer was lost is told by the number of the group.
CREATE TABLE stream (
    stream_no  BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    hub_no     BIGINT NOT NULL,
    group_no   BIGINT NOT NULL DEFAULT 0,
    audit_no   BIGINT NOT NULL DEFAULT 0,
    audit_hash TEXT NOT NULL
) WITH (fillfactor = 10);

CREATE TABLE stream_end (
    stream_no  BIGINT PRIMARY KEY,
    group_no   BIGINT NOT NULL,
    audit_no   BIGINT NOT NULL,
    audit_hash TEXT NOT NULL,
    ended_by   BIGINT NOT NULL
);

CREATE TABLE lane (
    lane_no  BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    group_id TEXT COLLATE "C" NOT NULL,
    owner    TEXT COLLATE "C" NOT NULL,
    agent    TEXT COLLATE "C" NOT NULL,
    UNIQUE (group_id, owner, agent)
);

CREATE TABLE task (
    task_id    TEXT COLLATE "C" PRIMARY KEY,
    lane_no    BIGINT NOT NULL,
    context_id TEXT COLLATE "C" NOT NULL,
    state      INTEGER NOT NULL,
    status_ms  BIGINT NOT NULL,
    last_seq   BIGINT NOT NULL,
    caller     TEXT COLLATE "C" NOT NULL,
    trace      TEXT,
    turns      INTEGER NOT NULL DEFAULT 1,
    agents     TEXT,
    entry_no   BIGINT,
    address    TEXT,
    salt       TEXT,
    events     BYTEA,
    -- The stream that runs it; null if it has ended or waits for its caller.
    owner      BIGINT,
    -- The stream of the entry.
    stream_no  BIGINT
) WITH (fillfactor = 85);
ALTER TABLE task ALTER COLUMN events SET STORAGE EXTERNAL;

CREATE INDEX task_by_time ON task (lane_no, status_ms, task_id);
-- Most tasks are completed when they are written, and never enter it.
CREATE INDEX task_by_state ON task (lane_no, state, status_ms, task_id) WHERE state <> 3;
CREATE INDEX task_by_context ON task (lane_no, context_id, status_ms, task_id);
CREATE INDEX task_owned ON task (owner) WHERE owner IS NOT NULL;

-- The slot is that of a hub, so that hubs do not wait for each other's counts.
CREATE TABLE tally (
    lane_no  BIGINT NOT NULL,
    state    INTEGER NOT NULL,
    hub_slot SMALLINT NOT NULL DEFAULT 0,
    tasks    INTEGER NOT NULL,
    PRIMARY KEY (lane_no, state, hub_slot)
) WITH (fillfactor = 20);

CREATE TABLE segment (
    task_id   TEXT COLLATE "C" NOT NULL,
    first_seq BIGINT NOT NULL,
    stream_no BIGINT NOT NULL,
    events    BYTEA NOT NULL,
    entry_no  BIGINT,
    state     INTEGER,
    previous  INTEGER,
    caller    TEXT COLLATE "C",
    address   TEXT,
    salt      TEXT,
    trace     TEXT,
    agents    TEXT,
    PRIMARY KEY (task_id, first_seq)
);
ALTER TABLE segment ALTER COLUMN events SET STORAGE EXTERNAL;
CREATE INDEX segment_by_caller ON segment (caller) WHERE caller IS NOT NULL;

CREATE VIEW logged AS
    SELECT task_id, first_seq, events, entry_no, state, previous, caller, address, salt, trace, agents, stream_no FROM segment
    UNION ALL
    SELECT task_id, 1, events, entry_no, state, NULL, NULL, address, salt, NULL, NULL, stream_no FROM task
        WHERE events IS NOT NULL;

CREATE TABLE message (
    day        INTEGER NOT NULL,
    lane_no    BIGINT NOT NULL,
    message_id TEXT COLLATE "C" NOT NULL,
    task_id    TEXT COLLATE "C" NOT NULL,
    made_ms    BIGINT NOT NULL,
    stream_no  BIGINT NOT NULL,
    PRIMARY KEY (day, lane_no, message_id)
) PARTITION BY RANGE (day);
-- Days without a partition of their own.
CREATE TABLE message_rest PARTITION OF message DEFAULT;

CREATE TABLE task_name (
    lane_no BIGINT NOT NULL,
    name    TEXT COLLATE "C" NOT NULL,
    task_id TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (lane_no, name)
);
CREATE INDEX task_name_by_task ON task_name (task_id);

CREATE TABLE webhook (
    task_id    TEXT COLLATE "C" NOT NULL,
    config_id  TEXT COLLATE "C" NOT NULL,
    lane_no    BIGINT NOT NULL,
    made_ms    BIGINT NOT NULL,
    config     BYTEA NOT NULL,
    dialect    TEXT NOT NULL,
    task_name  TEXT,
    delivered  BIGINT NOT NULL,
    attempts   INTEGER NOT NULL,
    next_ms    BIGINT,
    dead_ms    BIGINT,
    error      TEXT,
    generation BIGINT NOT NULL DEFAULT 0,
    -- The stream that delivers it.
    claimed_by BIGINT,
    PRIMARY KEY (task_id, config_id)
) WITH (fillfactor = 70);
CREATE INDEX webhook_dead ON webhook (dead_ms) WHERE dead_ms IS NOT NULL;
CREATE INDEX webhook_by_lane ON webhook (lane_no);

-- An entry belongs to the chain of a stream. While one hub has the database, its streams continue one chain.
CREATE TABLE IF NOT EXISTS audit (
    row_no   BIGINT PRIMARY KEY,
    at_ms    BIGINT NOT NULL,
    group_id TEXT NOT NULL,
    actor    TEXT NOT NULL,
    action   TEXT NOT NULL,
    target   TEXT NOT NULL,
    subject  TEXT NOT NULL,
    outcome  TEXT NOT NULL,
    address  TEXT NOT NULL,
    trace    TEXT NOT NULL,
    detail   TEXT NOT NULL,
    hash     TEXT NOT NULL,
    salt     TEXT NOT NULL
);
CREATE INDEX IF NOT EXISTS audit_by_target ON audit (target, row_no);
CREATE INDEX IF NOT EXISTS audit_by_group ON audit (group_id, row_no);
CREATE TABLE IF NOT EXISTS audit_log (
    row_no  BIGINT PRIMARY KEY,
    at_ms   BIGINT NOT NULL,
    entries INTEGER NOT NULL,
    places  TEXT NOT NULL,
    hash    TEXT NOT NULL
);
CREATE TABLE IF NOT EXISTS audit_end (row_no BIGINT NOT NULL, hash TEXT NOT NULL);
DELETE FROM module_version WHERE module = 'audit';
INSERT INTO module_version (module, version) VALUES ('audit', 2);

ALTER TABLE audit ADD COLUMN stream_no BIGINT NOT NULL DEFAULT 0;
ALTER TABLE audit ALTER COLUMN stream_no SET DEFAULT CAST(current_setting('parley.stream') AS BIGINT);
ALTER TABLE audit DROP CONSTRAINT audit_pkey;
ALTER TABLE audit ADD PRIMARY KEY (row_no, stream_no);
ALTER TABLE audit_log ADD COLUMN stream_no BIGINT NOT NULL DEFAULT 0;
ALTER TABLE audit_log ALTER COLUMN stream_no SET DEFAULT CAST(current_setting('parley.stream') AS BIGINT);
ALTER TABLE audit_log DROP CONSTRAINT audit_log_pkey;
ALTER TABLE audit_log ADD PRIMARY KEY (row_no, stream_no);
INSERT INTO stream_end (stream_no, group_no, audit_no, audit_hash, ended_by) SELECT 0, 0, row_no, hash, 0 FROM audit_end;
DROP TABLE audit_end;
-- How far the chain of the living stream goes.
CREATE VIEW audit_end AS SELECT audit_no AS row_no, audit_hash AS hash FROM stream;
