-- How each test fared in a run, without how long its passes took, so that who only asks which tests need work
-- reads little. A table of its own: what stands behind a large value in a row is slow to reach.
CREATE TABLE brief (
    run   INTEGER PRIMARY KEY REFERENCES run (number),
    marks BLOB NOT NULL
) STRICT;
