//! What the program reads: the user's standard input, whole, for each run.
//!
//! | standard input is | a run reads |
//! |---|---|
//! | a file | the file, opened anew |
//! | a pipe or socket | what came through it until it ended, captured once |
//! | a pipe that stays silent | nothing |
//! | a terminal | nothing |

use std::fs::File;
use std::io::{self, Write};
use std::os::fd::{AsRawFd, FromRawFd, RawFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileExt, FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::os::sys;

/// The number under which the target inherits a captured input.
pub const DESCRIPTOR: RawFd = 901;

/// After so long the user is told what we wait for.
const NOTICE: Duration = Duration::from_secs(1);

/// After so long without a byte, nobody is there.
const SILENCE: Duration = Duration::from_secs(2);

/// What the user should know about standard input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Notice {
    /// It is a terminal.
    Terminal,
    /// It has not ended yet.
    Waiting,
    /// Nothing comes.
    Silent,
}

impl Notice {
    /// In words.
    pub fn text(self) -> &'static str {
        match self {
            Notice::Terminal => "standard input is a terminal: the program reads an empty one",
            Notice::Waiting => "waiting for standard input to end: every run reads all of it",
            Notice::Silent => {
                "nothing came on standard input: the program reads an empty one (`< /dev/null` says so at once)"
            }
        }
    }
}

/// What the program reads.
#[derive(Clone, Debug)]
pub enum Stdin {
    /// Nothing.
    Null,
    File(PathBuf),
    /// What was captured.
    Captured(Arc<File>),
}

impl Stdin {
    /// Looks at our own standard input; `notice` tells the user something.
    pub fn from_ours(mut notice: impl FnMut(Notice)) -> io::Result<Stdin> {
        // SAFETY: the descriptor is borrowed: it is never closed.
        let ours = std::mem::ManuallyDrop::new(unsafe { File::from_raw_fd(0) });
        let Ok(metadata) = ours.metadata() else {
            return Ok(Stdin::Null);
        };
        let kind = metadata.file_type();
        if kind.is_char_device() {
            return Ok(Stdin::of_device(&mut notice));
        }
        if kind.is_file() {
            if let Some(path) = own_path(&metadata) {
                return Ok(Stdin::File(path));
            }
            // A file without a name, such as a here-document: its bytes will do.
            let mut bytes = vec![0; metadata.len() as usize];
            ours.read_exact_at(&mut bytes, 0)?;
            return Stdin::from_bytes(&bytes);
        }
        capture(0, NOTICE, SILENCE, &mut notice)
    }

    fn of_device(notice: &mut impl FnMut(Notice)) -> Stdin {
        // SAFETY: asks about a descriptor.
        if unsafe { libc::isatty(0) } == 1 {
            notice(Notice::Terminal);
            return Stdin::Null;
        }
        match std::fs::read_link("/proc/self/fd/0") {
            Ok(path) if path != Path::new("/dev/null") => Stdin::File(path),
            _ => Stdin::Null,
        }
    }

    /// An input with these bytes.
    pub fn from_bytes(bytes: &[u8]) -> io::Result<Stdin> {
        let mut file = sys::memfd(c"raddle-stdin")?;
        file.write_all(bytes)?;
        Ok(Stdin::Captured(Arc::new(file)))
    }

    /// What was captured.
    pub fn bytes(file: &File) -> io::Result<Vec<u8>> {
        let mut bytes = vec![0; file.metadata()?.len() as usize];
        file.read_exact_at(&mut bytes, 0)?;
        Ok(bytes)
    }

    /// What a run opens as its standard input.
    pub fn path(&self) -> PathBuf {
        match self {
            Stdin::Null => "/dev/null".into(),
            Stdin::File(path) => path.clone(),
            Stdin::Captured(_) => format!("/proc/self/fd/{DESCRIPTOR}").into(),
        }
    }

    /// The descriptor that the target inherits as [`DESCRIPTOR`].
    pub fn inherited(&self) -> Option<RawFd> {
        match self {
            Stdin::Captured(file) => Some(file.as_raw_fd()),
            Stdin::Null | Stdin::File(_) => None,
        }
    }
}

/// The path of our standard input, if it leads to the same file and a block has room for it.
fn own_path(metadata: &std::fs::Metadata) -> Option<PathBuf> {
    let path = std::fs::read_link("/proc/self/fd/0").ok()?;
    let there = path.metadata().ok()?;
    let same = (there.dev(), there.ino()) == (metadata.dev(), metadata.ino());
    (same && fits(&path)).then_some(path)
}

/// Whether a block has room for a path.
pub fn fits(path: &Path) -> bool {
    path.as_os_str().as_bytes().len() < 128
}

/// Reads a pipe to its end.
fn capture(
    pipe: RawFd,
    first_notice: Duration,
    silence: Duration,
    notice: &mut impl FnMut(Notice),
) -> io::Result<Stdin> {
    let mut file = sys::memfd(c"raddle-stdin")?;
    let started = Instant::now();
    let mut told = false;
    let mut total = 0;
    let mut buffer = vec![0; 1 << 16];
    loop {
        if readable(pipe, Duration::from_millis(100))? {
            // SAFETY: the buffer has the length that is passed.
            let got = unsafe { libc::read(pipe, buffer.as_mut_ptr().cast(), buffer.len()) };
            match got {
                0 => return Ok(Stdin::Captured(Arc::new(file))),
                -1 => match io::Error::last_os_error() {
                    error if error.kind() == io::ErrorKind::Interrupted => continue,
                    error => return Err(error),
                },
                n => {
                    file.write_all(&buffer[..n as usize])?;
                    total += n;
                }
            }
        }
        if total == 0 && started.elapsed() > silence {
            notice(Notice::Silent);
            return Ok(Stdin::Null);
        }
        if !told && started.elapsed() > first_notice {
            notice(Notice::Waiting);
            told = true;
        }
    }
}

fn readable(fd: RawFd, at_most: Duration) -> io::Result<bool> {
    let mut poll = libc::pollfd { fd, events: libc::POLLIN, revents: 0 };
    // SAFETY: one descriptor, as passed.
    let ready = unsafe { libc::poll(&mut poll, 1, at_most.as_millis() as i32) };
    match sys::errno(ready) {
        Ok(ready) => Ok(ready > 0),
        Err(error) if error.kind() == io::ErrorKind::Interrupted => Ok(false),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn quickly(pipe: &impl AsRawFd, notices: &mut Vec<Notice>) -> Stdin {
        let mut notice = |notice| notices.push(notice);
        let (first, silence) = (Duration::from_millis(50), Duration::from_millis(250));
        capture(pipe.as_raw_fd(), first, silence, &mut notice).expect("captured")
    }

    #[test]
    fn a_pipe_is_read_to_its_end() {
        let (reader, mut writer) = io::pipe().expect("a pipe");
        writer.write_all(b"one\ntwo\n").expect("written");
        drop(writer);
        let mut notices = Vec::new();
        let Stdin::Captured(file) = quickly(&reader, &mut notices) else { panic!("not captured") };
        assert_eq!(Stdin::bytes(&file).expect("read"), b"one\ntwo\n");
        assert!(notices.is_empty());
    }

    #[test]
    fn a_silent_pipe_is_empty_and_said_to_be() {
        let (reader, _writer) = io::pipe().expect("a pipe");
        let mut notices = Vec::new();
        assert!(matches!(quickly(&reader, &mut notices), Stdin::Null));
        assert_eq!(notices, [Notice::Waiting, Notice::Silent]);
    }

    #[test]
    fn each_opening_reads_from_the_start() {
        let stdin = Stdin::from_bytes(b"again").expect("captured");
        let fd = stdin.inherited().expect("is inherited");
        for _ in 0..2 {
            assert_eq!(std::fs::read(format!("/proc/self/fd/{fd}")).expect("read"), b"again");
        }
    }
}
