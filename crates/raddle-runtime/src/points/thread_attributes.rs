//! What the kernel keeps for each OS thread and a program can see: its id, its name, its robust list. On OS threads the kernel's own are used; on fibers these are
//! kept in the thread's record.

use core::ffi::{c_char, c_int, c_void};
use core::sync::atomic::{AtomicU32, AtomicUsize, Ordering};

use libc::{EINVAL, ERANGE};
use raddle_core::ThreadId;
use raddle_protocol::results::blind_spot;
use raddle_protocol::OsReason;

use super::{processors, result};
use crate::control::{call_real, scheduler};
use crate::dispatch::Request;
use crate::os::sys;
use crate::process::failure;
use crate::signals::alternate;
use crate::switch::fibers;
use crate::{interpose, real, syscall};

/// Longest name of a thread, with its final zero.
const NAME: usize = 16;

/// The calling thread's id.
pub(super) fn id(me: ThreadId) -> c_int {
    // SAFETY: the caller holds the baton.
    unsafe { scheduler().threads[me.index()].tid }
}

unsafe fn set_name(t: ThreadId, name: *const c_char) {
    // SAFETY: the caller's text, ended by a zero; the baton.
    unsafe {
        let record = &mut scheduler().thread(t).name;
        *record = [0; NAME];
        for (i, to) in record[..NAME - 1].iter_mut().enumerate() {
            *to = *name.add(i) as u8;
            if *to == 0 {
                break;
            }
        }
    }
}

/// The name of the OS thread, which is the main thread's at the start of a run.
pub fn adopt_main() {
    // SAFETY: there is one thread; the kernel writes sixteen bytes.
    unsafe {
        let name = scheduler().thread(ThreadId::MAIN).name.as_mut_ptr();
        syscall!(sys::SYS_prctl, libc::PR_GET_NAME, name, 0, 0, 0);
    }
}

/// Calls that concern one OS thread, made on fibers; `None`: to be made as they are.
pub(super) unsafe fn system_call(me: ThreadId, request: &Request) -> Option<isize> {
    let [a, b, c, _, _, _] = request.arguments;
    match request.number {
        libc::SYS_gettid => return Some(id(me) as isize),
        libc::SYS_sigaltstack => {
            let here = 0u8;
            // SAFETY: the program's pointers; the baton.
            let error = unsafe { alternate::change(me, &raw const here as usize, a as *const _, b as *mut _) };
            return Some(-(error as isize));
        }
        // SAFETY: the program's buffers; the baton.
        libc::SYS_sched_setaffinity => unsafe {
            if let Some(error) = processors::set_affinity(me, a as c_int, b, c as *const u8) {
                return Some(error);
            }
        },
        // SAFETY: as above.
        libc::SYS_sched_getaffinity => unsafe {
            if let Some(told) = processors::get_affinity(me, a as c_int, b, c as *mut u8) {
                return Some(told);
            }
        },
        libc::SYS_getcpu => {
            // SAFETY: the program's pointers; the baton.
            unsafe { processors::tell_current(me, a as *mut u32, b as *mut u32) };
            return Some(0);
        }
        libc::SYS_rseq => {
            // SAFETY: the program's own system call; the baton.
            if let Some(result) = unsafe { super::restartable::register(me, a, b as u32, c as c_int) } {
                return Some(result);
            }
        }
        _ => {}
    }
    if !fibers() {
        if request.number == libc::SYS_set_robust_list && b == ROBUST_LENGTH {
            // SAFETY: the baton.
            unsafe { scheduler().thread(me).robust_list = a };
        }
        return None;
    }
    // SAFETY: the program's own system call; the baton.
    unsafe {
        Some(match request.number {
            libc::SYS_prctl if a == libc::PR_SET_NAME as usize => {
                set_name(me, b as *const c_char);
                0
            }
            libc::SYS_prctl if a == libc::PR_GET_NAME as usize => {
                *(b as *mut [u8; NAME]) = scheduler().threads[me.index()].name;
                0
            }
            libc::SYS_set_robust_list if b != ROBUST_LENGTH => -(EINVAL as isize),
            libc::SYS_set_robust_list => {
                scheduler().thread(me).robust_list = a;
                0
            }
            libc::SYS_get_robust_list => return get_robust_list(me, a as c_int, b as *mut usize, c as *mut usize),
            libc::SYS_sched_getparam
            | libc::SYS_sched_getscheduler
            | libc::SYS_sched_getattr
            | libc::SYS_sched_rr_get_interval
                if is_fiber(a as c_int) =>
            {
                // The OS thread's, whichever thread asks and whichever it asks for.
                let mut here = *request;
                here.arguments[0] = 0;
                here.pass_to_kernel()
            }
            libc::SYS_sched_setscheduler | libc::SYS_sched_setparam | libc::SYS_sched_setattr => {
                failure::needs_os_threads(OsReason::Affinity);
                return None;
            }
            libc::SYS_setns
            | libc::SYS_unshare
            | libc::SYS_capset
            | libc::SYS_seccomp
            | libc::SYS_ioprio_set
            | libc::SYS_pkey_alloc
            | libc::SYS_setpriority
            | libc::SYS_setfsuid
            | libc::SYS_setfsgid
            // libc's functions of these names change all threads: see `credentials`.
            | libc::SYS_setuid
            | libc::SYS_setgid
            | libc::SYS_setreuid
            | libc::SYS_setregid
            | libc::SYS_setresuid
            | libc::SYS_setresgid
            | libc::SYS_setgroups
            | libc::SYS_set_tid_address
            | libc::SYS_arch_prctl
            | libc::SYS_perf_event_open => {
                failure::needs_os_threads(OsReason::ThreadState);
                return None;
            }
            libc::SYS_readlink | libc::SYS_stat | libc::SYS_access => return look_at_path(a),
            libc::SYS_openat | libc::SYS_readlinkat | libc::SYS_newfstatat | libc::SYS_faccessat => {
                return look_at_path(b);
            }
            _ => return None,
        })
    }
}

/// Whether a number is the id of a fiber.
fn is_fiber(tid: c_int) -> bool {
    // SAFETY: the caller holds the baton.
    let s = unsafe { scheduler() };
    s.threads[1..s.created].iter().any(|t| t.tid == tid)
}

/// What the kernel shows of each OS thread under /proc cannot be shown of fibers.
pub(super) unsafe fn look_at_path(path: usize) -> Option<isize> {
    // SAFETY: the program's path; a wrong one is the kernel's to refuse, before it is read here.
    unsafe {
        if path != 0 && names_threads(path as *const u8) {
            failure::needs_os_threads(OsReason::ProcTask);
        }
    }
    None
}

/// Whether a path is /proc/thread-self or /proc/.../task.
unsafe fn names_threads(path: *const u8) -> bool {
    // SAFETY: the text is read up to its final zero; the first letters tell most paths apart.
    unsafe {
        if !b"/proc/".iter().enumerate().all(|(i, letter)| path.add(i).read() == *letter) {
            return false;
        }
        let rest = core::ffi::CStr::from_ptr(path.add(6).cast()).to_bytes();
        rest.starts_with(b"thread-self") || rest.split(|&b| b == b'/').nth(1) == Some(b"task")
    }
}

/// The size of a robust list's head.
const ROBUST_LENGTH: usize = 24;

unsafe fn get_robust_list(me: ThreadId, tid: c_int, head: *mut usize, length: *mut usize) -> Option<isize> {
    // SAFETY: the caller's pointers; the baton.
    unsafe {
        let s = scheduler();
        let target = if tid == 0 { Some(me.index()) } else { (0..s.created).find(|&i| s.threads[i].tid == tid) };
        let thread = &s.threads[target?];
        let list = if thread.robust_list != 0 { thread.robust_list } else { libc_head(thread.fs) };
        if list == 0 {
            return None;
        }
        *head = list;
        *length = ROBUST_LENGTH;
        Some(0)
    }
}

/// Where libc keeps the head of a thread's robust list, in bytes from its thread pointer; 0 when that
/// is not known.
static ROBUST_HEAD: AtomicUsize = AtomicUsize::new(0);

/// Looks where libc has put the main thread's list; done before there is another thread.
pub fn prepare() {
    let (mut head, mut length) = (0usize, 0usize);
    // SAFETY: the kernel writes two words.
    unsafe { syscall!(libc::SYS_get_robust_list, 0, &mut head as *mut _, &mut length as *mut _) };
    let offset = head.wrapping_sub(sys::thread_pointer());
    if offset < 0x1000 {
        ROBUST_HEAD.store(offset, Ordering::Relaxed);
    }
}

/// Tells the kernel again of the main thread's list: a fork does not copy that.
#[link_section = "raddle_run"]
pub fn announce_robust_list() {
    let head = libc_head(sys::thread_pointer());
    if head != 0 {
        // SAFETY: the thread's own list, as libc has announced it.
        unsafe { syscall!(libc::SYS_set_robust_list, head, ROBUST_LENGTH) };
    }
}

/// The head that libc keeps for a thread.
fn libc_head(fs: usize) -> usize {
    match ROBUST_HEAD.load(Ordering::Relaxed) {
        0 => 0,
        offset => fs + offset,
    }
}

/// What the kernel does at a thread's end with its robust list: futexes that it holds are marked, and
/// one waiter of each is woken.
pub(super) unsafe fn abandon_robust_lists(me: ThreadId) {
    // SAFETY: the thread's own lists; the baton.
    unsafe {
        let own = core::mem::replace(&mut scheduler().thread(me).robust_list, 0);
        if own != 0 {
            abandon(me, own);
        } else if fibers() && me != ThreadId::MAIN {
            let head = libc_head(sys::thread_pointer());
            // An empty list points to itself; libc has not started one when it is null.
            if head != 0 && *(head as *const usize) & !1 != head {
                abandon(me, head);
            }
        }
    }
}

unsafe fn abandon(me: ThreadId, head: usize) {
    const TID_MASK: u32 = 0x3fff_ffff;
    const OWNER_DIED: u32 = 0x4000_0000;
    const WAITERS: u32 = 0x8000_0000;
    /// The kernel follows a list up to this length.
    const LONGEST: usize = 2048;
    // SAFETY: the thread's own list, as it said; the baton. A list that is not readable would have been
    // left alone by the kernel, and is the program's error here.
    unsafe {
        let tid = id(me) as u32;
        let offset = *((head + 8) as *const isize);
        let pending = *((head + 16) as *const usize) & !1;
        let release = |entry: usize| {
            let word = entry.wrapping_add_signed(offset) as *mut u32;
            let value = word.read_volatile();
            if value & TID_MASK == tid {
                scheduler().record_blind_spot(blind_spot::ORPHANED);
                word.write_volatile(value & WAITERS | OWNER_DIED);
                if value & WAITERS != 0 {
                    super::futex::wake_one(word);
                    // A thread of another process may wait for it.
                    sys::futex_wake_shared(&*word.cast::<AtomicU32>());
                }
            }
        };
        let mut entry = *(head as *const usize) & !1;
        for _ in 0..LONGEST {
            if entry == head || entry == 0 {
                break;
            }
            let next = *(entry as *const usize) & !1;
            if entry != pending {
                release(entry);
            }
            entry = next;
        }
        if pending != 0 {
            release(pending);
        }
    }
}

interpose! {
    fn gettid() -> c_int |me| {
        id(me)
    }

    fn pthread_setname_np(handle: usize, name: *const c_char) -> c_int |me| {
        let named = scheduler().pointers.get(handle).filter(|_| fibers());
        match named {
            Some(_) if core::ffi::CStr::from_ptr(name).to_bytes().len() >= NAME => ERANGE,
            Some(t) => {
                set_name(t, name);
                0
            }
            None => call_real(me, || real!(pthread_setname_np: fn(usize, *const c_char) -> c_int)(handle, name)),
        }
    }

    fn pthread_getname_np(handle: usize, name: *mut c_char, size: usize) -> c_int |me| {
        let named = scheduler().pointers.get(handle).filter(|_| fibers());
        match named {
            Some(_) if size < NAME => ERANGE,
            Some(t) => {
                *name.cast::<[u8; NAME]>() = scheduler().threads[t.index()].name;
                0
            }
            None => call_real(me, || real!(pthread_getname_np: fn(usize, *mut c_char, usize) -> c_int)(handle, name, size)),
        }
    }

    /// Gets and sets attributes of a thread or the process.
    fn prctl(option: c_int, a: usize, b: usize, c: usize, d: usize) -> c_int |me| {
        if option == libc::PR_SET_SECCOMP || option == libc::PR_SET_TIMERSLACK {
            failure::needs_os_threads(OsReason::ThreadState);
        }
        let request = Request { number: libc::SYS_prctl, arguments: [option as usize, a, b, c, d, 0] };
        result(system_call(me, &request).unwrap_or_else(|| request.pass_to_kernel())) as c_int
    }

    /// The clock of a thread's CPU time.
    fn pthread_getcpuclockid(handle: usize, clock: *mut c_int) -> c_int |_| {
        failure::needs_os_threads(OsReason::ThreadClock);
        scheduler().escaped(raddle_protocol::Escape::CpuClock);
        real!(pthread_getcpuclockid: fn(usize, *mut c_int) -> c_int)(handle, clock)
    }

    fn pthread_setschedparam(handle: usize, policy: c_int, parameters: *const c_void) -> c_int |me| {
        failure::needs_os_threads(OsReason::Affinity);
        call_real(me, || real!(pthread_setschedparam: fn(usize, c_int, *const c_void) -> c_int)(handle, policy, parameters))
    }

    fn pthread_setschedprio(handle: usize, priority: c_int) -> c_int |me| {
        failure::needs_os_threads(OsReason::Affinity);
        call_real(me, || real!(pthread_setschedprio: fn(usize, c_int) -> c_int)(handle, priority))
    }

    /// Leaves a namespace for the calling thread.
    fn unshare(flags: c_int) -> c_int |_| {
        failure::needs_os_threads(OsReason::ThreadState);
        result(syscall!(libc::SYS_unshare, flags)) as c_int
    }

    /// Enters a namespace for the calling thread.
    fn setns(fd: c_int, kind: c_int) -> c_int |_| {
        failure::needs_os_threads(OsReason::ThreadState);
        result(syscall!(libc::SYS_setns, fd, kind)) as c_int
    }
}
