-- When a segment was written; null in older ones. Behind the events, as a column that is added: only the history of one task reads it.
ALTER TABLE segment ADD COLUMN at_ms INTEGER;
