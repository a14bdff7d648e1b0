//! How fast reports are read: `cargo run --release --example read_report FILE…`.

#![expect(clippy::print_stdout, reason = "an example prints its figures")]

use std::fs::File;
use std::io::BufReader;
use std::time::Instant;

use flakeproof_runner::reports::read_each;

fn main() -> std::io::Result<()> {
    for path in std::env::args().skip(1) {
        let begin = Instant::now();
        let mut tests = 0_u64;
        let input = BufReader::with_capacity(128 * 1024, File::open(&path)?);
        let issues = read_each(input, None, &mut |_| tests += 1)?;
        let (time, size) = (begin.elapsed(), std::fs::metadata(&path)?.len());
        #[expect(clippy::cast_precision_loss, reason = "a figure for people")]
        let speed = size as f64 / 1e6 / time.as_secs_f64();
        println!("{path}: {tests} tests, {} issues, {speed:.0} MB/s", issues.len());
    }
    Ok(())
}
