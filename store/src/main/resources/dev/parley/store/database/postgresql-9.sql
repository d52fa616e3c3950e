-- How often rows of a kind were changed of which hubs have copies in memory. What a hub has seen is in hub.seen, at the place kind + 1.
CREATE TABLE epoch (
    kind SMALLINT PRIMARY KEY,
    n    BIGINT NOT NULL
) WITH (fillfactor = 10);
