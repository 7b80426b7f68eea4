//! From exec to main: finds the block, becomes a fork server if asked to, and starts the run.
//!
//! The runtime is entered either by its constructor or by an interposed call that comes earlier;
//! ld.so and the sanitizers may call us before libc's `environ` exists, so the settings are found
//! through /proc/self/environ.

use core::ffi::{c_char, c_int, c_void};
use core::fmt::{self, Display, Write};
use core::mem::offset_of;
use core::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use raddle_core::policy::Descriptor;
use raddle_core::ThreadId;
use raddle_protocol::block::{ADDRESS, FD_VARIABLE, LAYOUT, MAGIC};
use raddle_protocol::control::{command, event, fallback};
use raddle_protocol::settings::flag;
use raddle_protocol::Block;

use crate::control::{self, Mode};
use crate::os::output::Output;
use crate::os::sys;
use crate::process::series;
use crate::scheduler::names;
use crate::{dispatch, points, real, syscall};

type Main = unsafe extern "C-unwind" fn(c_int, *mut *mut c_char, *mut *mut c_char) -> c_int;

static MAIN: AtomicUsize = AtomicUsize::new(0);
static ATTACHED: AtomicBool = AtomicBool::new(false);
static PREPARED: AtomicBool = AtomicBool::new(false);

#[cfg(not(test))]
extern "C" fn constructor() {
    prepare();
}

// The test harness must not be taken over.
#[cfg(not(test))]
#[used]
#[link_section = ".init_array"]
static CONSTRUCTOR: extern "C" fn() = constructor;

/// Finds the block and maps it; once. Calls nothing of libc, because an allocator may ask us about
/// the machine while it sets itself up.
pub fn attach() {
    if ATTACHED.swap(true, Ordering::Relaxed) {
        return;
    }
    let Some(fd) = descriptor_from_environment() else {
        return control::pass_through();
    };
    match map_block(fd) {
        Ok(block) => {
            control::set_block(block);
            control::reserve();
        }
        Err(error) => {
            let mut output = Output::to(2);
            // If standard error is closed, there is nowhere left to report that.
            let _ = writeln!(output, "raddle: {error}").and_then(|()| output.flush());
            control::pass_through();
        }
    }
}

/// Makes everything ready for a run; once.
pub fn prepare() {
    attach();
    let Some(block) = control::block() else { return };
    if PREPARED.swap(true, Ordering::Relaxed) {
        return;
    }
    points::find_all();
    points::find_errno();
    points::thread::prepare();
    points::process::prepare();
    points::thread_attributes::prepare();
    dispatch::prepare();
    crate::switch::prepare();
    open_descriptors(&mut |_| DESCRIPTORS.fetch_add(1, Ordering::Relaxed));
    block.control.attached.store(1, Ordering::Release);
}

/// Descriptors that were open when the program started.
static DESCRIPTORS: AtomicUsize = AtomicUsize::new(0);

/// Reads the environment as the kernel keeps it.
fn descriptor_from_environment() -> Option<i32> {
    let mut buffer = [0u8; 4096];
    let mut matched = 0;
    let mut number: Option<i32> = None;
    let key = block_key();
    // SAFETY: a path ended by zero, and a buffer of the length given.
    unsafe {
        let fd = syscall!(sys::SYS_open, c"/proc/self/environ".as_ptr(), libc::O_RDONLY | libc::O_CLOEXEC);
        if fd < 0 {
            return None;
        }
        'read: loop {
            let n = syscall!(libc::SYS_read, fd, buffer.as_mut_ptr(), buffer.len());
            if n <= 0 {
                break;
            }
            for &byte in &buffer[..n as usize] {
                match number {
                    Some(value) if byte.is_ascii_digit() => number = Some(value * 10 + i32::from(byte - b'0')),
                    Some(_) => break 'read,
                    // usize::MAX: this variable is another one; wait for its end.
                    None if byte == 0 => matched = 0,
                    None if matched < key.len() && byte == key[matched] => {
                        matched += 1;
                        if matched == key.len() {
                            number = Some(0);
                        }
                    }
                    None => matched = usize::MAX,
                }
            }
        }
        syscall!(libc::SYS_close, fd);
    }
    number
}

fn block_key() -> &'static [u8] {
    debug_assert_eq!(FD_VARIABLE, "RADDLE_BLOCK");
    b"RADDLE_BLOCK="
}

/// Why the block cannot be used.
#[derive(Debug, PartialEq)]
enum AttachError {
    /// The descriptor is not that of a block.
    NoBlock { fd: i32 },
    /// The block is that of a raddle built from other sources.
    OtherLayout { layout: u64 },
    /// The kernel did not map it where it belongs.
    NotMapped { error: isize },
}

impl Display for AttachError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            AttachError::NoBlock { fd } => write!(
                f,
                "descriptor {fd}, which {FD_VARIABLE} names, is not a block of shared memory from raddle, so the \
                 program runs without control; unset {FD_VARIABLE}, or start the program with `raddle test`"
            ),
            AttachError::OtherLayout { layout } => write!(
                f,
                "the block of shared memory has layout {layout:016x}, but this runtime library (version {}) expects \
                 {LAYOUT:016x}, so the program runs without control; rebuild the library from the sources of this \
                 raddle, or leave out --runtime and RADDLE_RUNTIME",
                env!("CARGO_PKG_VERSION")
            ),
            AttachError::NotMapped { error } => write!(
                f,
                "the block of shared memory cannot be mapped at {ADDRESS:#x} (error {error}), so the program runs \
                 without control; that address must be free, and the limit of address space (ulimit -v) high enough"
            ),
        }
    }
}

const _: () = assert!(offset_of!(Block, magic) == 0 && offset_of!(Block, layout) == 8);

/// Looks at the first words of a block, which every build of raddle has in the same place, and at its size.
fn verify_header(fd: i32, header: &[u64; 2], size: usize) -> Result<(), AttachError> {
    match *header {
        [MAGIC, LAYOUT] if size >= Block::LOG_OFFSET => Ok(()),
        [MAGIC, layout] if layout != LAYOUT => Err(AttachError::OtherLayout { layout }),
        _ => Err(AttachError::NoBlock { fd }),
    }
}

fn map_block(fd: i32) -> Result<*mut Block, AttachError> {
    // SAFETY: the kernel fills the structure and the header, which may hold any numbers. MAP_FIXED_NOREPLACE replaces
    // nothing; the file's size is checked against its contents.
    unsafe {
        let mut stat: libc::stat = core::mem::zeroed();
        let mut header = [0u64; 2];
        syscall!(libc::SYS_fstat, fd, &mut stat as *mut _);
        syscall!(libc::SYS_pread64, fd, header.as_mut_ptr(), size_of_val(&header), 0);
        verify_header(fd, &header, stat.st_size as usize)?;
        let flags = libc::MAP_SHARED | libc::MAP_FIXED_NOREPLACE;
        let protection = libc::PROT_READ | libc::PROT_WRITE;
        let at = syscall!(sys::SYS_mmap, ADDRESS, stat.st_size, protection, flags, fd, 0);
        // The program sees its own descriptors only.
        syscall!(libc::SYS_close, fd);
        match at as usize {
            ADDRESS => Ok(ADDRESS as *mut Block),
            _ => Err(AttachError::NotMapped { error: -at }),
        }
    }
}

/// Takes our variables out of the environment, so that child programs run as if alone.
unsafe fn clean_environment(environment: *mut *mut c_char) {
    let bound = control::block().is_some_and(|block| block.settings.flags & flag::BIND_NOW != 0);
    let ours = |entry: &[u8]| {
        entry.starts_with(b"LD_PRELOAD=")
            || entry.starts_with(block_key())
            || entry == b"RADDLE_BIND=1"
            || bound && entry == b"LD_BIND_NOW=1"
    };
    // SAFETY: the process's environment: a list of strings ended by null, before anybody uses it.
    unsafe {
        let mut original: *mut c_char = core::ptr::null_mut();
        let (mut from, mut to) = (environment, environment);
        while !(*from).is_null() {
            let entry = core::ffi::CStr::from_ptr(*from).to_bytes();
            if entry.starts_with(b"RADDLE_PRELOAD=") {
                // What LD_PRELOAD was for the user; the name is cut down to that of the variable.
                original = (*from).add("RADDLE_PRELOAD=".len() - "LD_PRELOAD=".len());
                core::ptr::copy_nonoverlapping(c"LD_PRELOAD=".as_ptr(), original, "LD_PRELOAD=".len());
            } else if !ours(entry) {
                *to = *from;
                to = to.add(1);
            }
            from = from.add(1);
        }
        if !original.is_null() {
            *to = original;
            to = to.add(1);
        }
        *to = core::ptr::null_mut();
    }
}

/// Stands between libc's start-up and the program's main.
#[cfg_attr(not(test), no_mangle)]
pub unsafe extern "C-unwind" fn __libc_start_main(
    main: usize,
    argc: c_int,
    argv: *mut *mut c_char,
    init: usize,
    fini: usize,
    rtld_fini: usize,
    stack_end: *mut c_void,
) -> c_int {
    MAIN.store(main, Ordering::Relaxed);
    // SAFETY: the real function, with the program's arguments.
    unsafe {
        let real =
            real!(__libc_start_main: fn(usize, c_int, *mut *mut c_char, usize, usize, usize, *mut c_void) -> c_int);
        real(before_main as *const () as usize, argc, argv, init, fini, rtld_fini, stack_end)
    }
}

#[link_section = "raddle_run"]
unsafe extern "C-unwind" fn before_main(argc: c_int, argv: *mut *mut c_char, environment: *mut *mut c_char) -> c_int {
    prepare();
    // SAFETY: libc's arguments; the program's main.
    unsafe {
        crate::process::policies::list_if_asked(environment);
        // The allocator's first call may ask for random bytes, and identities are made with its help:
        // it is made at the same time in every run.
        libc::free(core::hint::black_box(libc::malloc(1)));
        clean_environment(environment);
        let wanted = control::block().is_some_and(|block| block.settings.check_number != 0);
        if wanted && control::mode() == Mode::Before && crate::process::check::find_note() {
            // Control starts inside the checks.
            control::pass_through();
        } else if let Some(block) = control::block() {
            if control::mode() == Mode::Before {
                // No thread was created by a constructor.
                ready_main();
                let policy = if block.settings.flags & flag::FORK_SERVER != 0 && can_serve(block) {
                    serve(block)
                } else {
                    if crate::switch::fibers() {
                        points::new_identity::provide_identities(&block.settings.stacks);
                    }
                    crate::access::racy_places::load(&block.racy_places);
                    control::policy(block)
                };
                begin_run(block, policy);
            } else if block.settings.flags & flag::FORK_SERVER != 0 {
                refuse_fork_server(block, fallback::THREADS);
            }
        }
        let main: Main = core::mem::transmute(MAIN.load(Ordering::Relaxed));
        if control::mode() == Mode::Controlled {
            names::begin(ThreadId::MAIN);
        }
        let status = main(argc, argv, environment);
        points::process::exit(status)
    }
}

/// Makes the calling thread ready to be the main thread of a run: all that a fork copies, so that a fork
/// server does it once for all its runs.
fn ready_main() {
    crate::signals::kernel::take_over();
    crate::signals::kernel::adopt_main();
    points::thread::adopt_main();
    points::thread_attributes::adopt_main();
    crate::points::tick::prepare();
}

/// Starts the run in the calling thread, which is ready.
#[link_section = "raddle_run"]
fn begin_run(block: &'static Block, policy: Option<&'static Descriptor>) {
    control::start_run(block, policy);
    dispatch::arm(ThreadId::MAIN);
    points::sync_function::start_run();
    crate::points::tick::start();
}

/// A constructor creates a thread: the run starts before main.
pub fn begin_early() {
    prepare();
    if let Some(block) = control::block() {
        ready_main();
        begin_run(block, control::policy(block));
    }
}

/// A fork server must not have anything that a fork does not copy: threads, or descriptors whose
/// state is shared between parent and child.
fn can_serve(block: &Block) -> bool {
    let mut tasks = 0;
    list(c"/proc/self/task", &mut |_| tasks += 1);
    if tasks > 1 {
        refuse_fork_server(block, fallback::THREADS);
        return false;
    }
    let mut now = 0;
    let mut plain = true;
    open_descriptors(&mut |fd| {
        now += 1;
        plain &= fd <= 2 || is_plain(fd);
        now
    });
    let input_is_shared = block.settings.stdin[0] == 0;
    if now > DESCRIPTORS.load(Ordering::Relaxed) && !plain || input_is_shared && !is_plain(0) {
        refuse_fork_server(block, fallback::DESCRIPTORS);
        return false;
    }
    true
}

fn refuse_fork_server(block: &Block, why: u32) {
    block.control.fallback.store(why, Ordering::Release);
    block.control.event.fetch_or(event::READY, Ordering::AcqRel);
    sys::futex_wake_shared(&block.control.event);
}

/// Whether children may share the descriptor: a device without state.
fn is_plain(fd: i32) -> bool {
    // SAFETY: the kernel fills the structure.
    unsafe {
        let mut stat: libc::stat = core::mem::zeroed();
        if syscall!(libc::SYS_fstat, fd, &mut stat as *mut _) != 0 {
            return true;
        }
        matches!(stat.st_mode & libc::S_IFMT, libc::S_IFCHR | libc::S_IFDIR)
    }
}

fn open_descriptors(visit: &mut dyn FnMut(i32) -> usize) {
    list(c"/proc/self/fd", &mut |fd| {
        visit(fd);
    });
}

/// Calls `visit` with every entry of a directory that is a number, but for the descriptor that the
/// listing itself uses.
fn list(path: &core::ffi::CStr, visit: &mut dyn FnMut(i32)) {
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
                let name = core::ffi::CStr::from_ptr(record.d_name.as_ptr()).to_bytes();
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

fn number(text: &[u8]) -> Option<i32> {
    core::str::from_utf8(text).ok()?.parse().ok()
}

/// Serves runs: returns in the child of each, with its policy, never in the server.
unsafe fn serve(block: &Block) -> Option<&'static Descriptor> {
    let control = &block.control;
    // SAFETY: plain system calls; the real fork.
    unsafe {
        syscall!(sys::SYS_prctl, libc::PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
        control.event.fetch_or(event::READY, Ordering::AcqRel);
        sys::futex_wake_shared(&control.event);
        let server = sys::getpid();
        let input_flags = syscall!(libc::SYS_fcntl, 0, libc::F_GETFL);
        control::prefault();
        loop {
            match control.command.load(Ordering::Acquire) {
                command::RUN => control.command.store(command::IDLE, Ordering::Release),
                command::QUIT => sys::exit_group(0),
                _ => {
                    sys::futex_wait_shared(&control.command, command::IDLE, None);
                    continue;
                }
            }
            if crate::switch::fibers() {
                points::new_identity::provide_identities(&block.settings.stacks);
            }
            crate::access::racy_places::load(&block.racy_places);
            let policy = control::policy(block);
            let (first, last) = (block.settings.first_run, block.settings.last_run);
            let scratch = if first == 0 { -1 } else { series::open_scratch(block) };
            let mut run = first;
            let status = loop {
                if run != 0 {
                    series::prepare(block, run);
                }
                if input_flags >= 0 {
                    // What an earlier run has made of them.
                    syscall!(libc::SYS_fcntl, 0, libc::F_SETFL, input_flags);
                }
                let pid = if crate::switch::fibers() { fork_with_identities() } else { real!(fork: fn() -> c_int)() };
                if pid == 0 {
                    sys::close(scratch);
                    become_run(block, server);
                    return policy;
                }
                let status = if pid < 0 { 0x7f00 } else { wait_for_run(block, pid) };
                // A good run of a series is not worth a word.
                if run == 0 || !series::count_good_run(block, scratch, run - first, status) || run == last {
                    break status;
                }
                run += 1;
            };
            sys::close(scratch);
            control.wait_status.store(status, Ordering::Release);
            control.event.fetch_or(event::DONE, Ordering::AcqRel);
            sys::futex_wake_shared(&control.event);
        }
    }
}

/// A fork that leaves libc's list of threads alone: the identities in it are to be used in the child.
/// There is one OS thread and nobody holds a lock, so the rest of what libc does at a fork is not needed.
unsafe fn fork_with_identities() -> c_int {
    let flags = libc::SIGCHLD | libc::CLONE_CHILD_SETTID | libc::CLONE_CHILD_CLEARTID;
    let word = points::thread::tid_word(sys::thread_pointer());
    // SAFETY: a fork; the kernel writes the child's id into the child's control block.
    unsafe { syscall!(libc::SYS_clone, flags, 0, 0, word, 0) as c_int }
}

unsafe fn wait_for_run(block: &Block, pid: c_int) -> c_int {
    let mut status: c_int = 0;
    // SAFETY: the kernel writes the status.
    unsafe {
        block.control.run_pid.store(pid, Ordering::Release);
        while syscall!(libc::SYS_wait4, pid, &mut status as *mut _, 0, 0) == -(libc::EINTR as isize) {}
        // Whoever outlived the run belongs to us now, as the subreaper.
        let mut stray: c_int = 0;
        while syscall!(libc::SYS_wait4, -1i32, &mut stray as *mut _, libc::WNOHANG, 0) >= 0 {
            block.control.strays.fetch_add(1, Ordering::Relaxed);
            kill_children();
        }
    }
    status
}

/// Ends every child of this process. Apart, so that its buffer is not on the stack of the server, which
/// copies what it writes to after each fork.
#[cold]
#[inline(never)]
fn kill_children() {
    let mut buffer = [0u8; 1024];
    // SAFETY: a path ended by zero and a buffer of the length given.
    unsafe {
        let fd = syscall!(sys::SYS_open, c"/proc/thread-self/children".as_ptr(), libc::O_RDONLY | libc::O_CLOEXEC);
        if fd < 0 {
            return;
        }
        let n = syscall!(libc::SYS_read, fd, buffer.as_mut_ptr(), buffer.len());
        syscall!(libc::SYS_close, fd);
        if n <= 0 {
            return;
        }
        let mut killed = false;
        for pid in buffer[..n as usize].split(|&b| b == b' ').filter_map(number) {
            syscall!(sys::SYS_kill, pid, libc::SIGKILL);
            killed = true;
        }
        if killed {
            let time = sys::timespec(50_000);
            syscall!(libc::SYS_nanosleep, &time as *const _, 0);
        }
    }
}

/// The child of the fork server gets what a fresh process would have.
unsafe fn become_run(block: &Block, server: c_int) {
    // SAFETY: plain system calls on paths ended by zero.
    unsafe {
        syscall!(sys::SYS_prctl, libc::PR_SET_PDEATHSIG, libc::SIGKILL, 0, 0, 0);
        if syscall!(libc::SYS_getppid) as c_int != server {
            sys::exit_group(0);
        }
        // A group of its own: signals to it must not reach the server. The session, without a terminal, is
        // the server's.
        syscall!(libc::SYS_setpgid, 0, 0);
        block.control.run_pid.store(sys::getpid(), Ordering::Release);
        if block.settings.stdin[0] != 0 {
            let fd = syscall!(sys::SYS_open, block.settings.stdin.as_ptr(), libc::O_RDONLY);
            if fd > 0 {
                syscall!(libc::SYS_dup2, fd, 0);
                syscall!(libc::SYS_close, fd);
            }
        }
        if block.settings.directory[0] != 0 {
            syscall!(libc::SYS_chdir, block.settings.directory.as_ptr());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_of_another_build_is_told_from_what_is_no_block() {
        assert_eq!(verify_header(7, &[MAGIC, LAYOUT], Block::LOG_OFFSET), Ok(()));
        assert_eq!(verify_header(7, &[MAGIC, LAYOUT], Block::LOG_OFFSET - 1), Err(AttachError::NoBlock { fd: 7 }));
        // The block of another build may be smaller than ours.
        assert_eq!(verify_header(7, &[MAGIC, 0x1234], 4096), Err(AttachError::OtherLayout { layout: 0x1234 }));
        assert_eq!(verify_header(7, &[0, LAYOUT], Block::LOG_OFFSET), Err(AttachError::NoBlock { fd: 7 }));
    }

    #[test]
    fn messages_say_what_to_do() {
        let text = AttachError::OtherLayout { layout: 0x1234 }.to_string();
        assert!(text.contains("has layout 0000000000001234, but"), "{text}");
        assert!(text.contains(&format!("expects {LAYOUT:016x}")), "{text}");
        assert!(text.contains("rebuild the library from the sources of this raddle"), "{text}");
        let text = AttachError::NoBlock { fd: 7 }.to_string();
        assert!(text.starts_with("descriptor 7, which RADDLE_BLOCK names, is not a block"), "{text}");
    }
}
