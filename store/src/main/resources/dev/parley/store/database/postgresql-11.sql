-- The oldest version whose programs can read the tables, although they lack the scripts of later versions.
ALTER TABLE module_version ADD COLUMN readable_from INTEGER NOT NULL DEFAULT 0;
