ALTER TABLE registry_entry ADD COLUMN created_ms BIGINT NOT NULL DEFAULT 0;
ALTER TABLE registry_entry ADD COLUMN updated_ms BIGINT NOT NULL DEFAULT 0;
CREATE INDEX registry_entry_by_updated ON registry_entry (updated_ms, number);
