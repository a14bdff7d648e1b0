-- What was measured about a test in a run (CANNIER, Table 1). A missing value is NULL.
CREATE TABLE feature (
    run                   INTEGER NOT NULL REFERENCES run (number),
    test                  INTEGER NOT NULL REFERENCES test (number),
    read_count            REAL,
    write_count           REAL,
    run_time              REAL,                -- seconds
    wait_time             REAL,                -- seconds
    context_switches      REAL,
    covered_lines         REAL,
    source_covered_lines  REAL,
    covered_changes       REAL,
    max_threads           REAL,
    max_children          REAL,
    max_memory            REAL,                -- bytes
    ast_depth             REAL,
    assertions            REAL,
    external_modules      REAL,
    halstead_volume       REAL,
    cyclomatic_complexity REAL,
    test_lines_of_code    REAL,
    maintainability       REAL,
    PRIMARY KEY (run, test)
) STRICT, WITHOUT ROWID;
