-- Marks the file as a history of flakeproof: the letters "flkp".
PRAGMA application_id = 0x666c6b70;

-- Later runs have greater numbers.
CREATE TABLE run (
    number       INTEGER PRIMARY KEY,
    id           TEXT NOT NULL UNIQUE,
    started      TEXT NOT NULL,               -- RFC 3339
    finished     TEXT,                        -- RFC 3339, in UTC
    command      TEXT NOT NULL,               -- JSON: the words the user typed
    seed         INTEGER NOT NULL,            -- the bits of an unsigned number: printf('%llu', seed)
    revision     TEXT,
    branch       TEXT,
    tree         TEXT NOT NULL,               -- JSON: revision, branch and edited files
    surroundings TEXT NOT NULL,               -- JSON: runtime, packages, variables
    version      TEXT NOT NULL,               -- of flakeproof
    exit_code    INTEGER,
    state        TEXT NOT NULL DEFAULT 'open' -- open, finished
) STRICT;

CREATE TABLE test (
    number INTEGER PRIMARY KEY,
    id     TEXT NOT NULL UNIQUE
) STRICT;

CREATE TABLE signature (
    number INTEGER PRIMARY KEY,
    text   TEXT NOT NULL UNIQUE
) STRICT;

-- Later executions have greater numbers.
CREATE TABLE execution (
    number       INTEGER PRIMARY KEY,
    run          INTEGER NOT NULL REFERENCES run (number),
    test         INTEGER NOT NULL REFERENCES test (number),
    attempt      INTEGER NOT NULL,            -- counts from 1 within a run and a test
    stage        TEXT NOT NULL,               -- first, immediate, postponed, fresh
    isolation    TEXT NOT NULL,               -- same, fork, spawn
    position     INTEGER,                     -- in the order of the first run, from 0
    outcome      TEXT NOT NULL,               -- passed, failed, errored, skipped, crashed, timed_out
    microseconds INTEGER NOT NULL CHECK (microseconds >= 0),
    signature    INTEGER REFERENCES signature (number),
    message      TEXT                         -- of the failure, in one line
) STRICT;

-- In which run did a test last pass at its first attempt?
CREATE INDEX execution_first_pass ON execution (test, run)
    WHERE stage = 'first' AND outcome = 'passed';

-- How long did a test take when it last passed?
CREATE INDEX execution_pass ON execution (test)
    WHERE outcome = 'passed';

CREATE TABLE finding (
    number   INTEGER PRIMARY KEY,
    run      INTEGER NOT NULL REFERENCES run (number),
    test     INTEGER NOT NULL REFERENCES test (number),
    verdict  TEXT NOT NULL,                   -- flaky, real, unknown
    kind     TEXT,                            -- not-bursty, bursty, state-dependent
    evidence TEXT NOT NULL                    -- JSON: a list of facts
) STRICT;
