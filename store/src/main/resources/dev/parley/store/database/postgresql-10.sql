-- Whether the hub works at the same time as others.
ALTER TABLE stream ADD COLUMN at_once BOOLEAN NOT NULL DEFAULT false;
-- A hub that works at the same time as others has a chain of its own, whose numbers begin above those of all others.
ALTER TABLE audit DROP CONSTRAINT audit_pkey;
ALTER TABLE audit ADD PRIMARY KEY (row_no);
ALTER TABLE audit_log DROP CONSTRAINT audit_log_pkey;
ALTER TABLE audit_log ADD PRIMARY KEY (row_no);
