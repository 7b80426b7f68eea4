//! What a run prints: files in memory that are emptied between runs.

use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd, RawFd};
use std::os::unix::fs::FileExt;

use crate::os::sys;

/// More than this is thrown away, so that a program that prints gigabytes does no harm.
pub const LIMIT: u64 = 64 << 20;

/// One stream of a run's output.
#[derive(Debug)]
pub struct Capture {
    file: File,
    limit: u64,
    cut: bool,
    /// Whether it was looked at since it was emptied, and how long it was then.
    looked: bool,
    length: u64,
}

impl Capture {
    /// A new, empty capture.
    pub fn new() -> io::Result<Capture> {
        let file = sys::memfd(c"raddle-output")?;
        sys::append_only(&file)?;
        Ok(Capture { file, limit: LIMIT, cut: false, looked: false, length: 0 })
    }

    /// Another handle on the same capture.
    pub fn share(&self) -> io::Result<Capture> {
        Ok(Capture { file: self.file.try_clone()?, limit: self.limit, cut: self.cut, looked: false, length: 0 })
    }

    /// The descriptor that the program writes to.
    pub fn descriptor(&self) -> RawFd {
        self.file.as_raw_fd()
    }

    /// What the system knows of the file.
    pub fn metadata(&self) -> io::Result<std::fs::Metadata> {
        self.file.metadata()
    }

    /// Empties it for the next run.
    pub fn clear(&mut self) -> io::Result<()> {
        self.cut = false;
        // Most runs print nothing, as the look after the run has seen.
        if std::mem::take(&mut self.length) == 0 && self.looked {
            return Ok(());
        }
        self.looked = false;
        self.file.set_len(0)
    }

    /// Throws away what is there when it has become too much; to be called now and then.
    pub fn look(&mut self) -> io::Result<()> {
        self.length = self.file.metadata()?.len();
        self.looked = true;
        if self.length > self.limit {
            self.file.set_len(0)?;
            self.cut = true;
        }
        Ok(())
    }

    /// Whether something was thrown away since it was last emptied.
    pub fn was_cut(&self) -> bool {
        self.cut
    }

    /// All that is there.
    pub fn read(&self) -> io::Result<Vec<u8>> {
        let length = self.file.metadata()?.len().min(2 * self.limit);
        let mut bytes = vec![0; length as usize];
        let mut filled = 0;
        while filled < bytes.len() {
            match self.file.read_at(&mut bytes[filled..], filled as u64)? {
                0 => break,
                n => filled += n,
            }
        }
        bytes.truncate(filled);
        Ok(bytes)
    }
}

/// The two streams of a job.
#[derive(Debug)]
pub struct Output {
    /// Standard output.
    pub stdout: Capture,
    /// Standard error.
    pub stderr: Capture,
}

impl Output {
    /// Two new, empty captures.
    pub fn new() -> io::Result<Output> {
        Ok(Output { stdout: Capture::new()?, stderr: Capture::new()? })
    }

    /// See [`Capture::share`].
    pub fn share(&self) -> io::Result<Output> {
        Ok(Output { stdout: self.stdout.share()?, stderr: self.stderr.share()? })
    }

    /// See [`Capture::clear`].
    pub fn clear(&mut self) -> io::Result<()> {
        self.stdout.clear()?;
        self.stderr.clear()
    }

    /// See [`Capture::look`].
    pub fn look(&mut self) -> io::Result<()> {
        self.stdout.look()?;
        self.stderr.look()
    }

    /// See [`Capture::was_cut`].
    pub fn was_cut(&self) -> bool {
        self.stdout.was_cut() || self.stderr.was_cut()
    }
}

/// The last lines of an output, as text.
pub fn tail(bytes: &[u8], lines: usize) -> Vec<String> {
    let text = String::from_utf8_lossy(bytes);
    let all: Vec<_> = text.lines().collect();
    all[all.len().saturating_sub(lines)..].iter().map(|line| (*line).to_string()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    #[test]
    fn keeps_what_was_written_since_it_was_emptied() {
        let mut capture = Capture::new().expect("a capture");
        capture.file.write_all(b"old").expect("written");
        capture.clear().expect("emptied");
        capture.file.write_all(b"new").expect("written");
        assert_eq!(capture.read().expect("read"), b"new");
        assert!(!capture.was_cut());
    }

    #[test]
    fn too_much_is_thrown_away_and_remembered() {
        let mut capture = Capture::new().expect("a capture");
        capture.limit = 10;
        capture.file.write_all(b"0123456789").expect("written");
        capture.look().expect("looked");
        assert!(!capture.was_cut());
        capture.file.write_all(b"!").expect("written");
        capture.look().expect("looked");
        assert!(capture.was_cut());
        capture.file.write_all(b"tail").expect("written");
        assert_eq!(capture.read().expect("read"), b"tail");
    }

    #[test]
    fn the_tail_is_the_last_lines() {
        assert_eq!(tail(b"a\nb\nc\n", 2), ["b", "c"]);
        assert_eq!(tail(b"", 2), Vec::<String>::new());
    }
}
