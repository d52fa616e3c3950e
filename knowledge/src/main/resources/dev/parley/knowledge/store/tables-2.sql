-- Groups whose statements are on a SPARQL server: the number of their last update, and its text until the server has it.
CREATE TABLE kg_remote (
    space     KEY PRIMARY KEY,
    update_no BIGINT NOT NULL,
    pending   TEXT
);
