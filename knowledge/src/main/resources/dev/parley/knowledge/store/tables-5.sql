-- The number of the newest change of each space, which the transaction that gives the next one locks. Until now all spaces shared their
-- numbers, and the ids of changes had no other part: plain_ids is the newest change with such an id.
ALTER TABLE kg_space ADD COLUMN newest BIGINT NOT NULL DEFAULT 0;
ALTER TABLE kg_space ADD COLUMN plain_ids BIGINT NOT NULL DEFAULT 0;
UPDATE kg_space SET newest = coalesce((SELECT max(change_no) FROM kg_change c WHERE c.space = kg_space.space), forgotten);
UPDATE kg_space SET newest = forgotten WHERE newest < forgotten;
UPDATE kg_space SET plain_ids = newest;
-- Terms with the same hash have different twins, so that two writers cannot insert a term twice.
ALTER TABLE kg_term ADD COLUMN twin INTEGER NOT NULL DEFAULT 0;
UPDATE kg_term SET twin = (SELECT count(*) FROM kg_term t WHERE t.hash = kg_term.hash AND t.term_no < kg_term.term_no)
    WHERE EXISTS (SELECT 1 FROM kg_term t WHERE t.hash = kg_term.hash AND t.term_no < kg_term.term_no);
DROP INDEX kg_term_by_hash;
CREATE UNIQUE INDEX kg_term_by_hash ON kg_term (hash, twin);
