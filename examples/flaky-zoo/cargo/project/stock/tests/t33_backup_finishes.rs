//! The backup job ends and gives the till back.

#[test]
fn backup_job_finishes_and_frees_the_till() {
    stock::backup::finish();
}
