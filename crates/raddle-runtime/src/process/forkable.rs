//! Whether a process that has come as far as main can be a fork server: each run must start with exactly what a process
//! of its own would have. A fork copies memory, and shares or leaves out much of what the kernel keeps.
//!
//! | What a constructor may have made | What a fork does with it |
//! |---|---|
//! | threads, timers, waiting signals, locked memory, children | leaves it out |
//! | shared memory, open files with their positions, objects of System V | shares it |
//! | a process id that it keeps in a variable | makes it wrong |
//!
//! Alarms are not in here: they are moved to the virtual clock (`points/alarm.rs`). Pipes are made anew for each run.

use core::ffi::CStr;
use core::sync::atomic::{AtomicU32, Ordering};

use raddle_protocol::block::ADDRESS;
use raddle_protocol::{settings, Block, Fallback};

use super::pipes;
use crate::control::{self, Mode};
use crate::os::memory::each_line;
use crate::os::sys;
use crate::syscall;

/// What interposed functions have seen before the run; a bit for each [`Fallback`].
static SEEN: AtomicU32 = AtomicU32::new(0);

/// An interposed function is called that makes something which cannot be found later. Counts before the run only.
pub fn note(reason: Fallback) {
    if control::mode() == Mode::Before {
        SEEN.fetch_or(1 << reason as u32, Ordering::Relaxed);
    }
}

/// Whether that was noted.
pub fn is_noted(reason: Fallback) -> bool {
    SEEN.load(Ordering::Relaxed) & 1 << reason as u32 != 0
}

/// Why this process cannot be a fork server, if there is a reason.
pub(super) fn hindrance(block: &Block) -> Option<Fallback> {
    let noted = Fallback::ALL.iter().copied().find(|reason| is_noted(*reason));
    noted
        .or_else(|| has_threads().then_some(Fallback::Threads))
        .or_else(|| (has_children() || adopts_orphans()).then_some(Fallback::Children))
        .or_else(|| has_pending_signals().then_some(Fallback::PendingSignals))
        .or_else(|| has_timers().then_some(Fallback::Timers))
        .or_else(|| standard_streams(block))
        .or_else(|| has_descriptors(block).then_some(Fallback::Descriptors))
        .or_else(|| is_elsewhere(block).then_some(Fallback::Directory))
        .or_else(special_memory)
}

fn has_threads() -> bool {
    let mut tasks = 0;
    list(c"/proc/self/task", &mut |_| tasks += 1);
    tasks > 1
}

/// Children that have ended, but were not waited for, count.
pub(super) fn has_children() -> bool {
    let options = libc::WEXITED | libc::WNOHANG | libc::WNOWAIT;
    // SAFETY: no memory is involved.
    unsafe { syscall!(libc::SYS_waitid, libc::P_ALL, 0, 0, options, 0) == 0 }
}

/// Whether the process is to be the parent of its children's orphans.
fn adopts_orphans() -> bool {
    let mut adopts = 0i32;
    // SAFETY: the kernel writes one word.
    unsafe { syscall!(sys::SYS_prctl, libc::PR_GET_CHILD_SUBREAPER, &mut adopts as *mut i32, 0, 0, 0) };
    adopts != 0
}

fn has_pending_signals() -> bool {
    let mut set = 0u64;
    // SAFETY: the kernel writes the set.
    unsafe { syscall!(libc::SYS_rt_sigpending, &mut set as *mut _, size_of_val(&set)) };
    set != 0
}

/// Timers of CPU time; those of `timer_create` are noted when they are made.
fn has_timers() -> bool {
    [libc::ITIMER_VIRTUAL, libc::ITIMER_PROF].iter().any(|&which| {
        // SAFETY: the kernel writes the timer.
        unsafe {
            let mut timer: libc::itimerval = core::mem::zeroed();
            syscall!(libc::SYS_getitimer, which, &mut timer as *mut _);
            timer.it_value.tv_sec != 0 || timer.it_value.tv_usec != 0
        }
    })
}

/// The standard streams are those of the start, and nothing was printed, which would belong to every run.
fn standard_streams(block: &Block) -> Option<Fallback> {
    if !(0..=2).all(|fd| file_of(fd).is_some_and(|stat| is_inherited(block, fd, &stat))) {
        return Some(Fallback::Streams);
    }
    let printed = [1, 2].iter().any(|&fd| file_of(fd).is_some_and(|stat| stat.st_size > 0));
    if printed {
        return Some(Fallback::Output);
    }
    let is_shared = block.settings.stdin[0] == 0 && file_of(0).is_some_and(|stat| !is_plain(0, &stat));
    is_shared.then_some(Fallback::Descriptors)
}

/// Whether there are descriptors, besides the standard streams, whose state a parent and a child share.
fn has_descriptors(block: &Block) -> bool {
    let mut found = false;
    list(c"/proc/self/fd", &mut |fd| {
        let known = |stat| is_plain(fd, &stat) || is_inherited(block, fd, &stat) || pipes::note(fd, &stat);
        found |= fd > 2 && !file_of(fd).is_none_or(known);
    });
    found
}

fn file_of(fd: i32) -> Option<libc::stat> {
    // SAFETY: the kernel fills the structure.
    unsafe {
        let mut stat: libc::stat = core::mem::zeroed();
        (syscall!(libc::SYS_fstat, fd, &mut stat as *mut _) == 0).then_some(stat)
    }
}

fn is_inherited(block: &Block, fd: i32, stat: &libc::stat) -> bool {
    block.settings.inherited.contains(&settings::descriptor(fd, stat.st_dev, stat.st_ino))
}

/// Whether children may share the descriptor: a device without state, or a mere name for a file.
fn is_plain(fd: i32, stat: &libc::stat) -> bool {
    /// The major number of /dev/null, /dev/zero, /dev/urandom and the like.
    const MEMORY_DEVICES: u32 = 1;
    if stat.st_mode & libc::S_IFMT == libc::S_IFCHR && libc::major(stat.st_rdev) == MEMORY_DEVICES {
        return true;
    }
    // SAFETY: asks about a descriptor.
    let flags = unsafe { syscall!(libc::SYS_fcntl, fd, libc::F_GETFL) };
    flags >= 0 && flags as i32 & libc::O_PATH != 0
}

/// Whether the program has left the directory in which the runs start.
fn is_elsewhere(block: &Block) -> bool {
    if block.settings.directory[0] == 0 {
        return false;
    }
    let place = |path: *const u8| {
        // SAFETY: a path ended by zero; the kernel fills the structure.
        unsafe {
            let mut stat: libc::stat = core::mem::zeroed();
            let error = syscall!(libc::SYS_stat, path, &mut stat as *mut _);
            (error, stat.st_dev, stat.st_ino)
        }
    };
    place(c".".as_ptr().cast()) != place(block.settings.directory.as_ptr())
}

/// Memory that is not simply copied. A kernel that does not show its flags shows at least what is shared.
fn special_memory() -> Option<Fallback> {
    let mut found = None;
    let mut mapping = Mapping::Ordinary;
    let mut line = |line: &[u8]| {
        if let Some(header) = Mapping::of_header(line) {
            mapping = header;
            if mapping == Mapping::Shared {
                found = Some(Fallback::SharedMemory);
            }
        } else if let Some(flags) = line.strip_prefix(b"VmFlags:") {
            let has = |wanted: &[u8]| flags.split(|&byte| byte == b' ').any(|flag| flag == wanted);
            match mapping {
                // Not writable now, but it may become so.
                Mapping::SharedForReading if has(b"mw") => found = found.or(Some(Fallback::SharedMemory)),
                Mapping::Ordinary if [&b"dc"[..], b"wf", b"lo"].into_iter().any(has) => {
                    found = found.or(Some(Fallback::SpecialMemory));
                }
                _ => {}
            }
        }
        true
    };
    if !each_line(c"/proc/self/smaps", &mut line) {
        each_line(c"/proc/self/maps", &mut line);
    }
    found
}

#[derive(Clone, Copy, PartialEq, Debug)]
enum Mapping {
    Ordinary,
    Shared,
    SharedForReading,
    /// Raddle's, or the kernel's.
    Foreign,
}

impl Mapping {
    /// What the first line about a mapping says; `None`: it is another line.
    fn of_header(line: &[u8]) -> Option<Mapping> {
        let mut words = line.split(|&byte| byte == b' ');
        let (range, rights) = (words.next()?, words.next()?);
        let start = core::str::from_utf8(range.split(|&byte| byte == b'-').next()?).ok()?;
        let start = u64::from_str_radix(start, 16).ok()?;
        if rights.len() != 4 {
            return None;
        }
        // [vvar], [vdso] and the like.
        let of_kernel = line.windows(2).any(|bytes| bytes == b"[v");
        Some(match (rights[1], rights[3]) {
            _ if start == ADDRESS as u64 || of_kernel => Mapping::Foreign,
            (b'w', b's') => Mapping::Shared,
            (_, b's') => Mapping::SharedForReading,
            _ => Mapping::Ordinary,
        })
    }
}

/// Calls `visit` with every entry of a directory that is a number, except for the descriptor that the
/// listing itself uses.
fn list(path: &CStr, visit: &mut dyn FnMut(i32)) {
    let mut buffer = [0u8; 2048];
    // SAFETY: a path ended by zero and a buffer of the length given; the kernel's records are well
    // formed.
    unsafe {
        let flags = libc::O_RDONLY | libc::O_DIRECTORY | libc::O_CLOEXEC;
        let fd = syscall!(sys::SYS_open, path.as_ptr(), flags);
        if fd < 0 {
            return;
        }
        loop {
            let n = syscall!(libc::SYS_getdents64, fd, buffer.as_mut_ptr(), buffer.len());
            if n <= 0 {
                break;
            }
            let mut at = 0;
            while at < n as usize {
                let record = &*buffer.as_ptr().add(at).cast::<libc::dirent64>();
                let name = CStr::from_ptr(record.d_name.as_ptr()).to_bytes();
                if let Some(number) = number(name) {
                    if number as isize != fd {
                        visit(number);
                    }
                }
                at += record.d_reclen as usize;
            }
        }
        syscall!(libc::SYS_close, fd);
    }
}

/// A number in decimal.
pub(super) fn number(text: &[u8]) -> Option<i32> {
    core::str::from_utf8(text).ok()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mappings_are_told_apart_by_their_first_line() {
        let of = |line: &str| Mapping::of_header(line.as_bytes());
        assert_eq!(of("7f00-7f10 rw-p 00000000 00:00 0 "), Some(Mapping::Ordinary));
        assert_eq!(of("7f00-7f10 rw-s 00000000 00:01 7 /dev/zero (deleted)"), Some(Mapping::Shared));
        assert_eq!(of("7f00-7f10 r--s 00000000 00:01 7 /usr/lib/cache"), Some(Mapping::SharedForReading));
        assert_eq!(of("7f00-7f10 r--p 00000000 00:00 0    [vvar]"), Some(Mapping::Foreign));
        assert_eq!(of(&format!("{ADDRESS:x}-200030000000 rw-s 0 00:01 7 /memfd:x")), Some(Mapping::Foreign));
        assert_eq!(of("VmFlags: rd wr mr mw"), None);
        assert_eq!(of("Size:                  4 kB"), None);
    }
}
