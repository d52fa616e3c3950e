-- Answers and settings, which may be long, in rows with a number of their own: SQLite reads a row of a table that is its own index to
-- its end to compare its key.
CREATE TABLE kg_keyed_key (
    space   BIGINT NOT NULL,
    caller  TEXT NOT NULL,
    key     TEXT NOT NULL,
    made_ms BIGINT NOT NULL,
    result  TEXT NOT NULL,
    PRIMARY KEY (space, caller, key)
);
INSERT INTO kg_keyed_key (space, caller, key, made_ms, result) SELECT space, caller, key, made_ms, result FROM kg_key;
DROP TABLE kg_key;
ALTER TABLE kg_keyed_key RENAME TO kg_key;
CREATE TABLE kg_keyed_setting (
    space BIGINT NOT NULL,
    name  TEXT NOT NULL,
    value TEXT NOT NULL,
    PRIMARY KEY (space, name)
);
INSERT INTO kg_keyed_setting (space, name, value) SELECT space, name, value FROM kg_setting;
DROP TABLE kg_setting;
ALTER TABLE kg_keyed_setting RENAME TO kg_setting;
