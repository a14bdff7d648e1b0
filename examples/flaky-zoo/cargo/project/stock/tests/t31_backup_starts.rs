//! A backup job takes the till.

#[test]
fn backup_job_starts_and_takes_the_till() {
    stock::backup::start();
}
