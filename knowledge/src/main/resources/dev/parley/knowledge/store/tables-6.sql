-- How often terms were erased, the same number in all rows: a hub that finds another one forgets the numbers of terms that it has in memory.
ALTER TABLE kg_space ADD COLUMN erasures BIGINT NOT NULL DEFAULT 0;
