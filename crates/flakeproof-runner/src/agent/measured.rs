//! What agents tell of the lines that ran: files are named once, and meant by their number ever after.

use std::collections::BTreeMap;
use std::time::Duration;

use flakeproof_core::{Covered, Lines, Measured};

use super::protocol::MeasuredMessage;
use crate::adapter::{Error, Result};

/// The files that one agent has named, by their number.
#[derive(Debug, Default)]
pub(crate) struct MeasuredFiles(Vec<String>);

impl MeasuredFiles {
    /// The measurement that a message means.
    pub(crate) fn read(
        &mut self,
        message: MeasuredMessage,
        run_time: Duration,
    ) -> Result<Measured> {
        self.0.extend(message.files);
        let covered = match message.lines_unknown {
            Some(reason) => Covered::Unknown { reason },
            None => Covered::Lines(self.named(message.lines)?),
        };
        Ok(Measured {
            read_count: message.read_count,
            write_count: message.write_count,
            run_time,
            wait_time: message.wait_time.and_then(|time| Duration::try_from_secs_f64(time).ok()),
            context_switches: message.context_switches,
            max_threads: message.max_threads,
            max_children: message.max_children,
            max_memory: message.max_memory,
            covered,
        })
    }

    fn named(&self, lines: Vec<(usize, Lines)>) -> Result<BTreeMap<String, Lines>> {
        let mut named: BTreeMap<String, Lines> = BTreeMap::new();
        for (number, lines) in lines {
            let Some(file) = self.0.get(number) else {
                return Err(Error::Agent(format!("file {number} was covered but never named")));
            };
            // A file can be named twice: it is imported under two names, or holds two classes.
            let known = named.entry(file.clone()).or_default();
            *known = known.ranges().chain(lines.ranges()).flatten().collect();
        }
        Ok(named)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(fields: &str) -> MeasuredMessage {
        let text = format!(
            r#"{{"read_count":0,"write_count":8,"context_switches":2,"max_threads":1,
                "max_memory":4096,{fields}}}"#
        );
        serde_json::from_str(&text).expect("a message")
    }

    #[test]
    fn a_file_is_named_once_and_meant_ever_after() {
        let mut files = MeasuredFiles::default();
        let first = message(r#""files":["/a.py","/b.py"],"lines":[[0,[1,3]],[1,[7,7]]]"#);
        files.read(first, Duration::ZERO).unwrap();
        let second = message(r#""files":["/c.py"],"lines":[[2,[5,5]],[0,[2,2]]]"#);
        let read = files.read(second, Duration::from_secs(1)).unwrap();
        let lines = |line| Lines::from_iter([line]);
        let expected = [("/a.py".to_owned(), lines(2)), ("/c.py".to_owned(), lines(5))];
        assert_eq!(read.covered, Covered::Lines(BTreeMap::from(expected)));
        assert_eq!((read.run_time, read.wait_time), (Duration::from_secs(1), None));
    }

    #[test]
    fn a_number_without_a_name_is_a_fault_of_the_agent() {
        let unnamed = message(r#""lines":[[0,[1,3]]]"#);
        let read = MeasuredFiles::default().read(unnamed, Duration::ZERO);
        assert!(matches!(read, Err(Error::Agent(_))), "{read:?}");
    }

    #[test]
    fn lines_that_could_not_be_followed_say_why() {
        let blind = message(r#""lines_unknown":"a debugger is there","wait_time":0.25"#);
        let read = MeasuredFiles::default().read(blind, Duration::ZERO).unwrap();
        assert_eq!(read.covered, Covered::Unknown { reason: "a debugger is there".into() });
        assert_eq!(read.wait_time, Some(Duration::from_millis(250)));
    }
}
