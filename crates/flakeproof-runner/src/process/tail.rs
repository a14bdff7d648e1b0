//! The end of what a process printed.

use std::collections::VecDeque;
use std::io::{Read, Write};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use crossbeam_channel::{Receiver, bounded};

/// Bytes that are kept as a rule. What a process prints beyond that is read and dropped, so that it
/// never blocks on us and never fills our memory.
pub(crate) const USUAL_CAP: usize = 256 * 1024;

/// How long to wait for the end of a stream whose writers should be gone. Somebody who escaped
/// may hold it open for ever.
const END_OF_STREAM: Duration = Duration::from_secs(2);

/// Reads a stream to its end in the background and keeps the last part.
#[derive(Debug)]
pub(super) struct Tail {
    kept: Arc<Mutex<VecDeque<u8>>>,
    /// Disconnects at the end of the stream.
    end: Receiver<()>,
}

impl Tail {
    /// Follow a stream and keep its last `cap` bytes; every piece is also written to `copy`.
    pub(super) fn follow(
        mut stream: impl Read + Send + 'static,
        cap: usize,
        mut copy: Option<Box<dyn Write + Send>>,
    ) -> Self {
        let kept = Arc::new(Mutex::new(VecDeque::new()));
        let shared = Arc::clone(&kept);
        let (at_end, end) = bounded(0);
        std::thread::spawn(move || {
            let _at_end = at_end;
            let mut piece = [0; 8192];
            while let Ok(size @ 1..) = stream.read(&mut piece) {
                let mut kept = shared.lock().unwrap_or_else(PoisonError::into_inner);
                kept.extend(&piece[..size]);
                let surplus = kept.len().saturating_sub(cap);
                kept.drain(..surplus);
                drop(kept);
                if let Some(copy) = &mut copy {
                    let _ = copy.write_all(&piece[..size]).and_then(|()| copy.flush());
                }
            }
        });
        Self { kept, end }
    }

    /// What was kept so far.
    pub(super) fn text(&self) -> String {
        let kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let (front, back) = kept.as_slices();
        String::from_utf8_lossy(&[front, back].concat()).into_owned()
    }

    /// Wait for the end of the stream: all that was printed is in [`text`](Self::text) then.
    pub(super) fn finish(&self) {
        let _ = self.end.recv_timeout(END_OF_STREAM);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_end_of_a_long_output_is_kept() {
        let mut long = vec![b'a'; 100];
        long.extend(b"the end");
        let tail = Tail::follow(std::io::Cursor::new(long), 100, None);
        tail.finish();
        assert_eq!(tail.text().len(), 100);
        assert!(tail.text().ends_with("the end"));
    }
}
