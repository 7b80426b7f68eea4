//! Pipes that were made before main: parent and child of a fork would share them. So each run of a fork server gets pipes
//! of its own, with what the constructors have left in them.
//!
//! libunwind, which gperftools' tcmalloc uses, has one.

use core::cell::UnsafeCell;

use crate::os::sys;
use crate::syscall;

/// More descriptors of pipes than this are too many.
const MOST: usize = 16;

#[derive(Clone, Copy)]
struct End {
    fd: i32,
    inode: u64,
    /// What fcntl says of the open file and of the descriptor.
    status: i32,
    descriptor: i32,
}

impl End {
    fn reads(&self) -> bool {
        self.status & libc::O_ACCMODE == libc::O_RDONLY
    }
}

struct Ends {
    count: usize,
    all: [End; MOST],
}

struct Table(UnsafeCell<Ends>);

// SAFETY: touched by a fork server and the first thread of each run, before there are others.
unsafe impl Sync for Table {}

static TABLE: Table =
    Table(UnsafeCell::new(Ends { count: 0, all: [End { fd: 0, inode: 0, status: 0, descriptor: 0 }; MOST] }));

/// Notes an open descriptor if it is that of a pipe without a name. Returns whether it is, and can be made anew.
pub(super) fn note(fd: i32, stat: &libc::stat) -> bool {
    if stat.st_mode & libc::S_IFMT != libc::S_IFIFO || !is_nameless(fd) {
        return false;
    }
    // SAFETY: asks about a descriptor; the only thread.
    unsafe {
        let status = syscall!(libc::SYS_fcntl, fd, libc::F_GETFL) as i32;
        let descriptor = syscall!(libc::SYS_fcntl, fd, libc::F_GETFD) as i32;
        let table = &mut *TABLE.0.get();
        // One that is open for both.
        if table.count == MOST || status & libc::O_ACCMODE == libc::O_RDWR {
            return false;
        }
        table.all[table.count] = End { fd, inode: stat.st_ino, status, descriptor };
        table.count += 1;
    }
    true
}

/// Whether the descriptor's file is called `pipe:[NUMBER]`.
fn is_nameless(fd: i32) -> bool {
    const NAME: &[u8] = b"pipe:[";
    let path = sys::descriptor_path(fd);
    let mut target = [0u8; NAME.len()];
    // SAFETY: a path ended by zero and a buffer of the length given.
    let length = unsafe { syscall!(libc::SYS_readlink, path.as_ptr(), target.as_mut_ptr(), target.len()) };
    length == NAME.len() as isize && target == NAME
}

/// Gives the run that starts in this process pipes of its own.
#[link_section = "raddle_run"]
pub(super) fn renew() {
    // SAFETY: the only thread.
    let ends = unsafe { &*TABLE.0.get() };
    let ends = &ends.all[..ends.count];
    for (i, end) in ends.iter().enumerate() {
        if ends[..i].iter().all(|earlier| earlier.inode != end.inode) {
            renew_one(ends.iter().filter(|other| other.inode == end.inode));
        }
    }
}

#[cold]
fn renew_one<'a>(ends: impl Iterator<Item = &'a End> + Clone) {
    let mut new = [0i32; 2];
    let mut content = 0i32;
    // SAFETY: descriptors of this process; the kernel writes the numbers.
    unsafe {
        let packets = ends.clone().any(|end| end.status & libc::O_DIRECT != 0);
        if syscall!(libc::SYS_pipe2, new.as_mut_ptr(), if packets { libc::O_DIRECT } else { 0 }) != 0 {
            return;
        }
        if let Some(end) = ends.clone().next() {
            let size = syscall!(libc::SYS_fcntl, end.fd, libc::F_GETPIPE_SZ);
            syscall!(libc::SYS_fcntl, new[1], libc::F_SETPIPE_SZ, size);
        }
        if let Some(reader) = ends.clone().find(|end| end.reads()) {
            syscall!(libc::SYS_ioctl, reader.fd, libc::FIONREAD, &mut content as *mut i32);
            if content > 0 {
                syscall!(libc::SYS_tee, reader.fd, new[1], content, libc::SPLICE_F_NONBLOCK);
            }
        }
        for end in ends {
            let from = if end.reads() { new[0] } else { new[1] };
            let close = if end.descriptor & libc::FD_CLOEXEC != 0 { libc::O_CLOEXEC } else { 0 };
            syscall!(libc::SYS_dup3, from, end.fd, close);
            syscall!(libc::SYS_fcntl, end.fd, libc::F_SETFL, end.status);
        }
        new.into_iter().for_each(sys::close);
    }
}
