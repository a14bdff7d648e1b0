-- Where a run is known from: flakeproof ran it, or it was read from reports. Of the latter, tests that
-- passed at their first attempt are only in the digest.
ALTER TABLE run ADD COLUMN origin TEXT NOT NULL DEFAULT 'run';  -- run, reports
ALTER TABLE run ADD COLUMN job TEXT;                            -- of the CI system

-- How each test fared in a run, in a few bytes each, so that scores need not read all executions.
CREATE TABLE digest (
    run   INTEGER PRIMARY KEY REFERENCES run (number),
    marks BLOB NOT NULL
) STRICT;

-- What a hunt took and why it ended, for those who look back.
ALTER TABLE hunt ADD COLUMN summary TEXT;                       -- JSON: cost, end, number of tests

-- How did a test fail?
CREATE INDEX execution_failure ON execution (test, run)
    WHERE outcome NOT IN ('passed', 'skipped');

-- What was said about a test?
CREATE INDEX finding_test ON finding (test, run);
