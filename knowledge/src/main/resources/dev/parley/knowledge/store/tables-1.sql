-- Groups by number. KEY stands for the type of a row's own number, ROWLESS for what saves SQLite a second tree.
-- forgotten is the newest change that is not kept any more.
CREATE TABLE kg_space (
    space     KEY PRIMARY KEY,
    group_id  TEXT NOT NULL UNIQUE,
    forgotten BIGINT NOT NULL
);

-- Everything that statements are made of, once. datatype is 0 for a resource, else the term that names it;
-- number is what the literal is worth, for comparison.
CREATE TABLE kg_term (
    term_no  KEY PRIMARY KEY,
    hash     BIGINT NOT NULL,
    lexical  TEXT NOT NULL,
    datatype BIGINT NOT NULL,
    language TEXT,
    number   DOUBLE PRECISION
);

-- By hash, because a literal may be longer than an index allows, and because numbers are small.
CREATE INDEX kg_term_by_hash ON kg_term (hash);

-- What is held. hint is 1 for types that were only mentioned with a statement.
CREATE TABLE kg_statement (
    space        BIGINT NOT NULL,
    s            BIGINT NOT NULL,
    p            BIGINT NOT NULL,
    o            BIGINT NOT NULL,
    g            BIGINT NOT NULL,
    certainty    DOUBLE PRECISION,
    confirmed_ms BIGINT NOT NULL,
    provenance   BIGINT NOT NULL,
    source       BIGINT NOT NULL,
    change_no    BIGINT NOT NULL,
    hint         INTEGER NOT NULL,
    PRIMARY KEY (space, s, p, o, g)
) ROWLESS;

CREATE INDEX kg_statement_by_object ON kg_statement (space, o, p, s, g);
CREATE INDEX kg_statement_by_predicate ON kg_statement (space, p, o, s, g);

-- What others than the latest source have said of the same statement.
CREATE TABLE kg_assertion (
    space        BIGINT NOT NULL,
    s            BIGINT NOT NULL,
    p            BIGINT NOT NULL,
    o            BIGINT NOT NULL,
    g            BIGINT NOT NULL,
    source       BIGINT NOT NULL,
    certainty    DOUBLE PRECISION,
    confirmed_ms BIGINT NOT NULL,
    provenance   BIGINT NOT NULL,
    change_no    BIGINT NOT NULL,
    PRIMARY KEY (space, s, p, o, g, source)
) ROWLESS;

-- Where statements come from, as JSON; those of one update share a row.
CREATE TABLE kg_provenance (
    provenance KEY PRIMARY KEY,
    space      BIGINT NOT NULL,
    json       TEXT NOT NULL
);

-- How many statements of each predicate a graph has, so that a list need not count them.
CREATE TABLE kg_tally (
    space      BIGINT NOT NULL,
    g          BIGINT NOT NULL,
    p          BIGINT NOT NULL,
    statements BIGINT NOT NULL,
    PRIMARY KEY (space, g, p)
) ROWLESS;

-- The feed: every change in the order of commits. replaced is JSON, more is JSON of what belongs to the update. types is a list
-- in JSON of those that the subject had, if a rule asks for them.
CREATE TABLE kg_change (
    space      BIGINT NOT NULL,
    change_no  BIGINT NOT NULL,
    op         INTEGER NOT NULL,
    s          BIGINT NOT NULL,
    p          BIGINT NOT NULL,
    o          BIGINT NOT NULL,
    g          BIGINT NOT NULL,
    s_type     BIGINT NOT NULL,
    o_type     BIGINT NOT NULL,
    certainty  DOUBLE PRECISION,
    provenance BIGINT NOT NULL,
    made_ms    BIGINT NOT NULL,
    replaced   TEXT,
    more       BIGINT NOT NULL,
    types      TEXT,
    PRIMARY KEY (space, change_no)
) ROWLESS;

-- Which changes a task has made.
CREATE TABLE kg_task (
    space     BIGINT NOT NULL,
    task_id   TEXT NOT NULL,
    change_no BIGINT NOT NULL,
    PRIMARY KEY (space, task_id, change_no)
) ROWLESS;

-- Updates that wait for somebody to look at them, and what became of them.
CREATE TABLE kg_review (
    review_no   KEY PRIMARY KEY,
    space       BIGINT NOT NULL,
    state       TEXT NOT NULL,
    made_ms     BIGINT NOT NULL,
    caller      TEXT NOT NULL,
    request     TEXT NOT NULL,
    reason      TEXT NOT NULL,
    decided_ms  BIGINT,
    decided_by  TEXT,
    remark      TEXT
);

CREATE INDEX kg_review_by_state ON kg_review (space, state, review_no);

-- Who asked for what, and what came of it.
CREATE TABLE kg_audit (
    audit_no  KEY PRIMARY KEY,
    space     BIGINT NOT NULL,
    made_ms   BIGINT NOT NULL,
    caller    TEXT NOT NULL,
    operation TEXT NOT NULL,
    outcome   TEXT NOT NULL,
    detail    TEXT NOT NULL
);

CREATE INDEX kg_audit_by_space ON kg_audit (space, audit_no);

-- Answers to updates that were given a key, so that a repetition does nothing twice.
CREATE TABLE kg_key (
    space   BIGINT NOT NULL,
    caller  TEXT NOT NULL,
    key     TEXT NOT NULL,
    made_ms BIGINT NOT NULL,
    result  TEXT NOT NULL,
    PRIMARY KEY (space, caller, key)
) ROWLESS;

-- What a group has set: rules, shapes, certainty of what has none. value is text of the setting's own form.
CREATE TABLE kg_setting (
    space BIGINT NOT NULL,
    name  TEXT NOT NULL,
    value TEXT NOT NULL,
    PRIMARY KEY (space, name)
) ROWLESS;
