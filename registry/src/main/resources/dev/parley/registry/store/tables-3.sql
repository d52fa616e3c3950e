CREATE INDEX registry_entry_by_sight ON registry_entry (status, visibility, group_id, owner, number);
