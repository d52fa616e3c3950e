-- Through which agents the call came that began a task, as it was told; null if through none but its own.
ALTER TABLE task ADD COLUMN agents TEXT;
