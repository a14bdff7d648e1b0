-- How each test fared in a run, without how long its passes took, so that who only asks which tests need work
-- reads little; of runs that an older version ended it is made when it is asked for.
ALTER TABLE run_end ADD COLUMN brief bytea;
ALTER TABLE killed ADD COLUMN brief bytea;

-- To look up run, test and signature of each execution takes as long as to keep it. Whoever writes has made
-- these rows before, in the same transaction or an earlier one, and no writer may remove any.
ALTER TABLE execution
    DROP CONSTRAINT execution_run_fkey,
    DROP CONSTRAINT execution_test_fkey,
    DROP CONSTRAINT execution_signature_fkey;
