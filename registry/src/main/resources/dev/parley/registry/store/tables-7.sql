-- The number of the newest change, in one row. A transaction that changes entries locks it.
CREATE TABLE registry_newest (only_one KEY PRIMARY KEY, change BIGINT NOT NULL);
INSERT INTO registry_newest (only_one, change) SELECT 1, coalesce(max(number), 0) FROM registry_change;
