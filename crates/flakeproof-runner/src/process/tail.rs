//! The end of what a process printed.

use std::collections::VecDeque;
use std::io::{Read, Write};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

/// Bytes that are kept. What a process prints beyond that is read and dropped, so that it never
/// blocks on us and never fills our memory.
const CAP: usize = 256 * 1024;

/// Reads a stream to its end in the background and keeps the last part.
#[derive(Debug)]
pub(super) struct Tail {
    kept: Arc<Mutex<VecDeque<u8>>>,
    reader: Option<JoinHandle<()>>,
}

impl Tail {
    /// Follow a stream; every piece is also written to `copy`.
    pub(super) fn follow(
        mut stream: impl Read + Send + 'static,
        mut copy: Option<Box<dyn Write + Send>>,
    ) -> Self {
        let kept = Arc::new(Mutex::new(VecDeque::new()));
        let shared = Arc::clone(&kept);
        let reader = std::thread::spawn(move || {
            let mut piece = [0; 8192];
            while let Ok(size @ 1..) = stream.read(&mut piece) {
                let mut kept = shared.lock().unwrap_or_else(PoisonError::into_inner);
                kept.extend(&piece[..size]);
                let surplus = kept.len().saturating_sub(CAP);
                kept.drain(..surplus);
                drop(kept);
                if let Some(copy) = &mut copy {
                    let _ = copy.write_all(&piece[..size]).and_then(|()| copy.flush());
                }
            }
        });
        Self { kept, reader: Some(reader) }
    }

    /// What was kept so far.
    pub(super) fn text(&self) -> String {
        let kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let (front, back) = kept.as_slices();
        String::from_utf8_lossy(&[front, back].concat()).into_owned()
    }

    /// Wait for the end of the stream: all that was printed is in [`text`](Self::text) then.
    pub(super) fn finish(&mut self) {
        if let Some(reader) = self.reader.take() {
            let _ = reader.join();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_end_of_a_long_output_is_kept() {
        let mut long = vec![b'a'; CAP];
        long.extend(b"the end");
        let mut tail = Tail::follow(std::io::Cursor::new(long), None);
        tail.finish();
        assert_eq!(tail.text().len(), CAP);
        assert!(tail.text().ends_with("the end"));
    }
}
