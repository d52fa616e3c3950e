-- When a segment was written; null in older ones.
ALTER TABLE segment ADD COLUMN at_ms BIGINT;
