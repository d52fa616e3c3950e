-- Ids of the last message from a caller and from the agent in a segment.
ALTER TABLE task ADD COLUMN received TEXT;
ALTER TABLE task ADD COLUMN sent TEXT;
ALTER TABLE segment ADD COLUMN received TEXT;
ALTER TABLE segment ADD COLUMN sent TEXT;
DROP VIEW logged;
CREATE VIEW logged AS
    SELECT task_id, first_seq, entry_no, state, previous, caller, address, salt, trace, agents, received, sent, events, stream_no
        FROM segment
    UNION ALL
    SELECT task_id, 1, entry_no, state, NULL, NULL, address, salt, NULL, NULL, received, sent, events, stream_no FROM task
        WHERE events IS NOT NULL;
