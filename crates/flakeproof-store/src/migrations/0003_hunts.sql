-- A hunt for flaky tests. Later hunts have greater numbers.
CREATE TABLE hunt (
    number       INTEGER PRIMARY KEY,
    id           TEXT NOT NULL UNIQUE,
    started      TEXT NOT NULL,                -- RFC 3339
    command      TEXT NOT NULL,                -- JSON: the words the user typed
    fingerprint  TEXT NOT NULL,                -- of the code, the suite and the settings
    seed         TEXT NOT NULL,                -- an unsigned number
    settings     TEXT NOT NULL,                -- JSON: what was asked for
    version      TEXT NOT NULL,                -- of flakeproof
    state        TEXT NOT NULL DEFAULT 'open', -- open, finished
    executions   INTEGER NOT NULL DEFAULT 0,   -- what it took so far
    microseconds INTEGER NOT NULL DEFAULT 0 CHECK (microseconds >= 0)
) STRICT;

-- What is not run again when the hunt is taken up again.
CREATE TABLE trial (
    hunt         INTEGER NOT NULL REFERENCES hunt (number),
    key          TEXT NOT NULL,
    letters      TEXT NOT NULL,                -- an outcome each, a stroke between continuations
    failures     TEXT NOT NULL,                -- JSON: the first failure of each test
    executions   INTEGER NOT NULL,
    microseconds INTEGER NOT NULL CHECK (microseconds >= 0),
    PRIMARY KEY (hunt, key)
) STRICT, WITHOUT ROWID;

-- Flaky tests only.
CREATE TABLE hunted (
    hunt  INTEGER NOT NULL REFERENCES hunt (number),
    test  INTEGER NOT NULL REFERENCES test (number),
    kind  TEXT NOT NULL,                       -- NOD, victim, brittle
    found TEXT NOT NULL,                       -- JSON: all that was found out about the test
    PRIMARY KEY (hunt, test)
) STRICT, WITHOUT ROWID;

-- The tests that a hunt has an opinion about, flaky or not, as ranges of their numbers: a suite is
-- numbered in one go, so that there are few.
CREATE TABLE looked_at (
    hunt  INTEGER NOT NULL REFERENCES hunt (number),
    first INTEGER NOT NULL,
    last  INTEGER NOT NULL,
    PRIMARY KEY (hunt, first)
) STRICT, WITHOUT ROWID;
