-- What a segment says in the audit: null in those that leave their task in its state, or were written before.
-- Caller, trace and agents of the first segment are those of the task; a later one has a caller if it is another.
ALTER TABLE segment ADD COLUMN entry_no INTEGER;
ALTER TABLE segment ADD COLUMN state INTEGER;
ALTER TABLE segment ADD COLUMN previous INTEGER;
ALTER TABLE segment ADD COLUMN caller TEXT;
ALTER TABLE segment ADD COLUMN address TEXT;
ALTER TABLE segment ADD COLUMN salt TEXT;
ALTER TABLE segment ADD COLUMN trace TEXT;
ALTER TABLE segment ADD COLUMN agents TEXT;
-- Finds what a caller did in tasks of others, for an erasure; hardly any segment enters it.
CREATE INDEX segment_by_caller ON segment (caller) WHERE caller IS NOT NULL;
