-- How many messages of callers a task answers for. Of tasks that are older than the column it is not known: one at least.
ALTER TABLE task ADD COLUMN turns INTEGER NOT NULL DEFAULT 1;
