CREATE TABLE registry_entry (
    number     KEY PRIMARY KEY,
    id         TEXT NOT NULL UNIQUE,
    human_id   TEXT,
    name       TEXT NOT NULL,
    group_id   TEXT NOT NULL,
    owner      TEXT NOT NULL,
    visibility INTEGER NOT NULL,
    status     TEXT NOT NULL,
    change     BIGINT NOT NULL,
    content    BLOB NOT NULL,
    views      BLOB,
    open       BLOB
);
CREATE INDEX registry_entry_by_name ON registry_entry (name, number);
CREATE INDEX registry_entry_by_change ON registry_entry (change);
CREATE INDEX registry_entry_by_human_id ON registry_entry (human_id) WHERE human_id IS NOT NULL;
CREATE TABLE registry_document (
    entry     BIGINT NOT NULL,
    revision  INTEGER NOT NULL,
    at_ms     BIGINT NOT NULL,
    principal TEXT NOT NULL,
    type      TEXT NOT NULL,
    changes   BLOB NOT NULL,
    bytes     BLOB NOT NULL,
    PRIMARY KEY (entry, revision)
);
CREATE TABLE registry_label (
    label TEXT NOT NULL,
    entry BIGINT NOT NULL,
    PRIMARY KEY (label, entry)
) ROWLESS;
CREATE TABLE registry_change (
    number     KEY PRIMARY KEY,
    entry      BIGINT NOT NULL,
    at_ms      BIGINT NOT NULL,
    kind       TEXT NOT NULL,
    group_id   TEXT NOT NULL,
    owner      TEXT NOT NULL,
    visibility INTEGER NOT NULL,
    details    BLOB NOT NULL
);
CREATE INDEX registry_change_by_entry ON registry_change (entry, number);
CREATE TABLE registry_review (
    entry     BIGINT NOT NULL,
    group_id  TEXT NOT NULL,
    principal TEXT NOT NULL,
    kind      TEXT NOT NULL,
    at_ms     BIGINT NOT NULL,
    stars     INTEGER NOT NULL,
    text      TEXT NOT NULL,
    PRIMARY KEY (entry, kind, group_id, principal)
);
