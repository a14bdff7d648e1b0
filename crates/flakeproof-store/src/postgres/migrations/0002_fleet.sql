-- Hunts on many machines: one machine plans, and any number of others take trials and bring back what happened.
-- All times are the server's: the clock of no other machine matters.

-- A hunt that is handed out. Of each name there is one.
CREATE TABLE fleet (
    number      bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    project     bigint NOT NULL REFERENCES project (number),
    name        text NOT NULL,
    hunt        bigint NOT NULL REFERENCES hunt (number),
    needs       text NOT NULL,                -- JSON: what a worker must have
    lease       bigint NOT NULL CHECK (lease > 0), -- milliseconds after which who is silent is gone
    coordinator bytea NOT NULL,               -- who plans
    held_until  timestamptz NOT NULL,         -- until then nobody else may plan
    is_over     boolean NOT NULL DEFAULT false,
    UNIQUE (project, name)
);

-- The machines that take trials.
CREATE TABLE fleet_worker (
    token bytea PRIMARY KEY,
    fleet bigint NOT NULL REFERENCES fleet (number) ON DELETE CASCADE,
    seen  timestamptz NOT NULL
);

CREATE INDEX fleet_worker_fleet ON fleet_worker (fleet, seen);

-- A unit of work: trials that one worker has until a time. A number is never given twice, so that whoever comes
-- back with one that is gone is told from who has the same trials now.
CREATE TABLE fleet_lease (
    number     bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    fleet      bigint NOT NULL REFERENCES fleet (number) ON DELETE CASCADE,
    worker     bytea NOT NULL,
    held_until timestamptz NOT NULL
);

CREATE INDEX fleet_lease_fleet ON fleet_lease (fleet, held_until);

-- A trial that was asked for. It waits (no lease), is out (a lease), or is done (by a lease, and in `trial`).
CREATE TABLE fleet_trial (
    fleet      bigint NOT NULL REFERENCES fleet (number) ON DELETE CASCADE,
    key_digest bytea NOT NULL,
    number     bigint GENERATED ALWAYS AS IDENTITY,
    key        text NOT NULL,
    work       text NOT NULL,                 -- JSON: what to run
    tests      integer NOT NULL,              -- how many tests that is
    lease      bigint,
    is_done    boolean NOT NULL DEFAULT false,
    given      integer NOT NULL DEFAULT 0,    -- how often it was given to a worker
    troubles   integer NOT NULL DEFAULT 0,    -- how often a worker gave up on it
    trouble    text,                          -- what it said last
    PRIMARY KEY (fleet, key_digest)
);

CREATE INDEX fleet_trial_waiting ON fleet_trial (fleet, number) WHERE lease IS NULL AND NOT is_done;
CREATE INDEX fleet_trial_lease ON fleet_trial (lease) WHERE lease IS NOT NULL;
