ALTER TABLE registry_entry ADD COLUMN look TEXT NOT NULL DEFAULT '';
CREATE INDEX registry_entry_by_look ON registry_entry (look, number);
CREATE TABLE registry_setting (
    name  TEXT PRIMARY KEY,
    value TEXT NOT NULL
);
INSERT INTO registry_setting (name, value)
    SELECT 'publisher', 'agent.localhost' FROM registry_entry LIMIT 1;
