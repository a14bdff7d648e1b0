-- The history of a team: several projects in one database. All times are RFC 3339 text, as flakeproof
-- writes them; all JSON is text. Of a NUL, which no text here can hold, the reference says what stands
-- for it.

-- Nothing is ever changed or removed by those who write: what comes later is a row of its own, so that
-- a writer needs no more than INSERT and SELECT.

CREATE TABLE project (
    number  bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name    text NOT NULL UNIQUE
);

-- A run, as it was known when it began. Later runs have greater numbers.
CREATE TABLE run (
    number       bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    project      bigint NOT NULL REFERENCES project (number),
    id           text NOT NULL,
    started      text NOT NULL,
    command      text NOT NULL,               -- JSON: the words the user typed
    seed         text NOT NULL,               -- an unsigned number
    revision     text,
    branch       text,
    tree         text NOT NULL,               -- JSON: revision, branch and edited files
    is_complete  boolean NOT NULL,            -- whether it is known what exactly ran
    code         bytea NOT NULL,              -- digest of tree, runtime and packages
    surroundings text NOT NULL,               -- JSON: runtime, packages, variables
    version      text NOT NULL,               -- of flakeproof
    origin       text NOT NULL,               -- run, reports
    job          text,                        -- of the CI system
    folder       text NOT NULL,               -- where the command ran, relative to the repository
    rules        integer NOT NULL,            -- the rules of evidence by which its findings were made
    arrived      timestamptz NOT NULL DEFAULT now(),
    UNIQUE (project, id)
);

-- How a run ended. A run without this row is going on, or was killed.
CREATE TABLE run_end (
    run       bigint PRIMARY KEY REFERENCES run (number),
    finished  text NOT NULL,
    exit_code integer,
    marks     bytea NOT NULL                  -- how each test fared, in a few bytes each
);

-- How each test fared in a run that was killed long ago, so that its executions are not read each time.
-- Should it end after all, because what was not sent arrives later, that counts.
CREATE TABLE killed (
    run   bigint PRIMARY KEY REFERENCES run (number),
    marks bytea NOT NULL
);

-- A run whose code changed while it ran: a pass in it proves nothing.
CREATE TABLE unsettled (
    run bigint PRIMARY KEY REFERENCES run (number)
);

CREATE TABLE test (
    number  bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    project bigint NOT NULL REFERENCES project (number),
    digest  bytea NOT NULL,                   -- of the id: no index holds ids of any length
    id      text NOT NULL,
    UNIQUE (project, digest)
);

CREATE TABLE signature (
    number  bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    project bigint NOT NULL REFERENCES project (number),
    digest  bytea NOT NULL,
    text    text NOT NULL,
    UNIQUE (project, digest)
);

-- Numbered by who writes them, so that a batch that is sent twice is kept once.
CREATE TABLE execution (
    run          bigint NOT NULL REFERENCES run (number),
    number       integer NOT NULL,            -- counts from 0 within a run
    test         bigint NOT NULL REFERENCES test (number),
    attempt      integer NOT NULL,            -- counts from 1 within a run and a test
    stage        text NOT NULL,               -- first, immediate, postponed, fresh, order
    isolation    text NOT NULL,               -- same, fork, spawn
    position     integer,                     -- in the order of the first run, from 0
    outcome      text NOT NULL,               -- passed, failed, errored, skipped, crashed, timed_out
    microseconds bigint NOT NULL CHECK (microseconds >= 0),
    signature    bigint REFERENCES signature (number),
    message      text,                        -- of the failure, in one line
    PRIMARY KEY (run, number)
);

-- How did a test fare in its latest runs?
CREATE INDEX execution_test ON execution (test, run DESC, number DESC);

-- How did tests fail?
CREATE INDEX execution_failure ON execution (test, run)
    WHERE outcome NOT IN ('passed', 'skipped');

CREATE TABLE finding (
    run      bigint NOT NULL REFERENCES run (number),
    test     bigint NOT NULL REFERENCES test (number),
    verdict  text,                            -- flaky, real, unknown, …
    kind     text,                            -- not-bursty, bursty, state-dependent
    evidence text NOT NULL,                   -- JSON: a list of facts
    PRIMARY KEY (run, test)
);

-- What was measured about a test in a run (CANNIER, Table 1).
CREATE TABLE feature (
    run      bigint NOT NULL REFERENCES run (number),
    test     bigint NOT NULL REFERENCES test (number),
    measured text NOT NULL,                   -- JSON: the features that are known, by name
    PRIMARY KEY (run, test)
);

-- A hunt for flaky tests. Later hunts have greater numbers.
CREATE TABLE hunt (
    number      bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    project     bigint NOT NULL REFERENCES project (number),
    id          text NOT NULL,
    started     text NOT NULL,
    command     text NOT NULL,                -- JSON
    fingerprint text NOT NULL,                -- of the code, the suite and the settings
    seed        text NOT NULL,
    settings    text NOT NULL,                -- JSON
    version     text NOT NULL,
    arrived     timestamptz NOT NULL DEFAULT now(),
    UNIQUE (project, id)
);

-- What a hunt found so far. Of several of one hunt, the one with the greatest number counts.
CREATE TABLE hunt_end (
    number  bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    hunt    bigint NOT NULL REFERENCES hunt (number),
    token   bytea NOT NULL UNIQUE,            -- of who writes it: what is sent twice is kept once
    is_over boolean NOT NULL,
    summary text                              -- JSON: cost, end, number of tests
);

CREATE INDEX hunt_end_hunt ON hunt_end (hunt, number DESC);

-- The tests that a hunt has an opinion about, flaky or not, as ranges of their numbers.
CREATE TABLE looked_at (
    hunt_end bigint NOT NULL REFERENCES hunt_end (number),
    first    bigint NOT NULL,
    last     bigint NOT NULL,
    PRIMARY KEY (hunt_end, first)
);

-- The flaky tests among them.
CREATE TABLE hunted (
    hunt_end bigint NOT NULL REFERENCES hunt_end (number),
    test     bigint NOT NULL REFERENCES test (number),
    kind     text NOT NULL,                   -- NOD, victim, brittle, ID
    found    text NOT NULL,                   -- JSON: all that was found out about the test
    PRIMARY KEY (hunt_end, test)
);

-- What is not run again when the hunt is taken up again. Of several of one key, the one with the greatest
-- number counts.
CREATE TABLE trial (
    number       bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    hunt         bigint NOT NULL REFERENCES hunt (number),
    key          text NOT NULL,
    key_digest   bytea NOT NULL,
    token        bytea NOT NULL UNIQUE,       -- of who writes it
    letters      text NOT NULL,               -- an outcome each, a stroke between continuations
    failures     text NOT NULL,               -- JSON: the first failure of each test
    executions   integer NOT NULL,
    microseconds bigint NOT NULL CHECK (microseconds >= 0)
);

CREATE INDEX trial_key ON trial (hunt, key_digest, number DESC);

-- An experiment that says what makes a test fail. Of several of one id, the one with the greatest number
-- counts.
CREATE TABLE cause (
    number   bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    project  bigint NOT NULL REFERENCES project (number),
    id       text NOT NULL,
    token    bytea NOT NULL UNIQUE,           -- of who writes it
    started  text NOT NULL,
    command  text NOT NULL,                   -- JSON
    seed     text NOT NULL,
    test     bigint NOT NULL REFERENCES test (number),
    found    text,                            -- JSON: the answer; NULL while it is open
    progress text NOT NULL                    -- JSON: the pairs of runs so far
);

CREATE INDEX cause_id ON cause (project, id);

CREATE INDEX cause_test ON cause (test, number);
