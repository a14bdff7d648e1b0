-- What makes a test fail, found by changing one thing at a time. Later ones have greater numbers.
CREATE TABLE cause (
    number   INTEGER PRIMARY KEY,
    id       TEXT NOT NULL UNIQUE,
    started  TEXT NOT NULL,                    -- RFC 3339
    command  TEXT NOT NULL,                    -- JSON: the words the user typed
    seed     TEXT NOT NULL,                    -- an unsigned number
    test     INTEGER NOT NULL REFERENCES test (number),
    found    TEXT,                             -- JSON: the answer; NULL while it is open
    progress TEXT NOT NULL                     -- JSON: the pairs of runs so far
) STRICT;

CREATE INDEX cause_test ON cause (test, number);
