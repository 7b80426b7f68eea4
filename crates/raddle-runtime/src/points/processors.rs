//! How many processors there are: the number that the campaign sets, on every machine. Libraries ask in
//! their constructors, so the answer is the same before the run starts. Which of them threads may run on; and which of
//! them a thread is on: in a serial run each thread stays on one, counted by its id.

use core::ffi::{c_int, c_void};

use libc::EINVAL;
use raddle_core::ThreadId;
use raddle_protocol::Escape;

use super::{restartable, result};
use crate::control::{self, call_real, current, parallel, scheduler, LeaveOnDrop, Mode};
use crate::os::sys;
use crate::scheduler::thread::Life;
use crate::{interpose, real};

/// The processor that a thread is on: one of those that it may run on.
pub(super) fn of(me: ThreadId) -> u32 {
    let Some(all) = all().filter(|_| control::mode() == Mode::Controlled) else { return 0 };
    let set = set_of(me, all);
    let place = me.index() as u32 % set.count_ones().max(1);
    (0..u64::BITS).filter(|bit| set >> bit & 1 != 0).nth(place as usize).unwrap_or(0)
}

/// getcpu(2).
pub(super) unsafe fn tell_current(me: ThreadId, processor: *mut u32, node: *mut u32) {
    let here = if parallel() { sys::core_here() as u32 } else { of(me) };
    // SAFETY: the program's pointers.
    unsafe {
        if !processor.is_null() {
            *processor = here;
        }
        if !node.is_null() {
            *node = 0;
        }
    }
}

interpose! {
    fn sched_getcpu() -> c_int |me| {
        let mut processor = 0;
        tell_current(me, &mut processor, core::ptr::null_mut());
        processor as c_int
    } before {
        if control::block().is_some() && control::mode() == Mode::Before {
            return 0;
        }
    }

    fn getcpu(processor: *mut u32, node: *mut u32) -> c_int |me| {
        tell_current(me, processor, node);
        0
    } before {
        if control::block().is_some() && control::mode() == Mode::Before {
            tell_current(ThreadId::MAIN, processor, node);
            return 0;
        }
    }
}

/// The number that is set; `None`: the program gets the real one.
fn configured() -> Option<u32> {
    match control::mode() {
        Mode::PassThrough => None,
        Mode::Before => {
            crate::process::attach::attach();
            control::block().map(|block| block.settings.run.cpus)
        }
        Mode::Controlled => control::block().map(|block| block.settings.run.cpus),
    }
}

#[cfg_attr(not(test), no_mangle)]
pub unsafe extern "C-unwind" fn get_nprocs() -> c_int {
    // SAFETY: the real function takes no arguments.
    configured().map_or_else(|| unsafe { real!(get_nprocs: fn() -> c_int)() }, |n| n as c_int)
}

#[cfg_attr(not(test), no_mangle)]
pub unsafe extern "C-unwind" fn get_nprocs_conf() -> c_int {
    // SAFETY: the real function takes no arguments.
    configured().map_or_else(|| unsafe { real!(get_nprocs_conf: fn() -> c_int)() }, |n| n as c_int)
}

#[cfg_attr(not(test), no_mangle)]
pub unsafe extern "C-unwind" fn sysconf(name: c_int) -> i64 {
    let asks = name == libc::_SC_NPROCESSORS_ONLN || name == libc::_SC_NPROCESSORS_CONF;
    match configured().filter(|_| asks) {
        Some(n) => i64::from(n),
        // SAFETY: plain numbers.
        None => unsafe {
            let really_ask = || real!(sysconf: fn(c_int) -> i64)(name);
            match current() {
                Some(me) => {
                    let _leave = LeaveOnDrop::armed();
                    call_real(me, really_ask)
                }
                None => really_ask(),
            }
        },
    }
}

/// The processors that a thread may run on, as far as there are any; a set has one word.
///
/// The program's sets are kept and told again. They have no effect: the campaign pins the process, and one thread runs
/// at a time.
fn all() -> Option<u64> {
    configured().map(|n| if n < u64::BITS { (1 << n) - 1 } else { u64::MAX })
}

/// The set of a thread.
fn set_of(t: ThreadId, all: u64) -> u64 {
    // SAFETY: the caller holds the baton.
    match unsafe { scheduler() }.threads[t.index()].processors {
        0 => all,
        set => set,
    }
}

/// Writes a set, as sched_getaffinity(2) does; an error number or 0.
unsafe fn tell(set: u64, size: usize, to: *mut u8) -> c_int {
    let cpus = configured().unwrap_or(1) as usize;
    if size * 8 < cpus || !size.is_multiple_of(size_of::<u64>()) {
        return EINVAL;
    }
    let bits = |i: usize| (0..8).filter(|bit| i * 8 + bit < cpus).fold(0u8, |byte, bit| byte | 1 << bit);
    for i in 0..size {
        let byte = if i < size_of::<u64>() { set.to_le_bytes()[i] } else { bits(i) };
        // SAFETY: the caller's buffer.
        unsafe { to.add(i).write(byte) };
    }
    0
}

/// Sets the processors of a thread; an error number or 0.
unsafe fn change(t: ThreadId, size: usize, set: *const u8) -> c_int {
    let mut wanted = [0u8; size_of::<u64>()];
    for (i, byte) in wanted.iter_mut().enumerate().take(size) {
        // SAFETY: the caller's buffer.
        *byte = unsafe { set.add(i).read() };
    }
    let wanted = u64::from_le_bytes(wanted) & all().unwrap_or(u64::MAX);
    if wanted == 0 {
        return EINVAL;
    }
    // SAFETY: the caller holds the baton.
    unsafe {
        scheduler().escaped(Escape::Affinity);
        scheduler().thread(t).processors = wanted;
        restartable::moved(t);
    }
    0
}

/// The processors of a thread that another one creates: those of its attributes, or its creator's.
pub(super) unsafe fn of_new_thread(me: ThreadId, attributes: *const c_void) -> u64 {
    let mut set = [u64::MAX; 16];
    if !attributes.is_null() {
        let size = size_of_val(&set);
        // SAFETY: the caller's attributes; libc fills a set that was not asked for with ones.
        unsafe { libc::pthread_attr_getaffinity_np(attributes.cast(), size, set.as_mut_ptr().cast()) };
    }
    let asked_for = set[0] & all().unwrap_or(u64::MAX);
    if set.iter().all(|&word| word == u64::MAX) || asked_for == 0 {
        // SAFETY: the caller holds the baton.
        return unsafe { scheduler() }.threads[me.index()].processors;
    }
    asked_for
}

/// The thread of this process that has an id; 0 is the caller's.
fn thread_with_id(me: ThreadId, id: c_int) -> Option<ThreadId> {
    if id == 0 {
        return Some(me);
    }
    // SAFETY: the caller holds the baton.
    let s = unsafe { scheduler() };
    (0..s.created).find(|&i| s.threads[i].tid == id && s.threads[i].life == Life::Alive).map(|i| ThreadId(i as u16))
}

/// sched_setaffinity(2), by the kernel's convention; `None`: the thread is not ours.
pub(super) unsafe fn set_affinity(me: ThreadId, id: c_int, size: usize, set: *const u8) -> Option<isize> {
    // SAFETY: the caller's buffer.
    thread_with_id(me, id).map(|t| -(unsafe { change(t, size, set) } as isize))
}

/// sched_getaffinity(2), by the kernel's convention: how many bytes it has written; `None`: the thread is not ours.
pub(super) unsafe fn get_affinity(me: ThreadId, id: c_int, size: usize, set: *mut u8) -> Option<isize> {
    let t = thread_with_id(me, id)?;
    // SAFETY: the caller's buffer.
    Some(match unsafe { tell(set_of(t, all()?), size, set) } {
        0 => size as isize,
        error => -(error as isize),
    })
}

/// Which processors a process may run on: the first N, as configured, or those that it has asked for.
#[cfg_attr(not(test), no_mangle)]
pub unsafe extern "C-unwind" fn sched_getaffinity(pid: c_int, size: usize, set: *mut u8) -> c_int {
    // SAFETY: the caller's buffer.
    unsafe {
        let told = match (current(), all()) {
            (Some(me), _) => get_affinity(me, pid, size, set),
            (None, Some(all)) => Some(-(tell(all, size, set) as isize)),
            (None, None) => None,
        };
        match told {
            Some(told) => result(told.min(0)) as c_int,
            None => real!(sched_getaffinity: fn(c_int, usize, *mut u8) -> c_int)(pid, size, set),
        }
    }
}

/// Which processors a thread may run on: the first N, as configured, or those that it has asked for.
#[cfg_attr(not(test), no_mangle)]
pub unsafe extern "C-unwind" fn pthread_getaffinity_np(thread: usize, size: usize, set: *mut u8) -> c_int {
    // SAFETY: the caller's buffer; the baton, if the thread is under control.
    unsafe {
        match all() {
            Some(all) => {
                let known = current().and_then(|_| scheduler().pointers.get(thread));
                tell(known.map_or(all, |t| set_of(t, all)), size, set)
            }
            None => real!(pthread_getaffinity_np: fn(usize, usize, *mut u8) -> c_int)(thread, size, set),
        }
    }
}

interpose! {
    /// Kept, and without effect.
    fn sched_setaffinity(pid: c_int, size: usize, set: *const u8) -> c_int |me| {
        match set_affinity(me, pid, size, set) {
            Some(error) => result(error) as c_int,
            None => real!(sched_setaffinity: fn(c_int, usize, *const u8) -> c_int)(pid, size, set),
        }
    }

    /// Kept, and without effect.
    fn pthread_setaffinity_np(thread: usize, size: usize, set: *const u8) -> c_int |_| {
        match scheduler().pointers.get(thread) {
            Some(t) => change(t, size, set),
            None => real!(pthread_setaffinity_np: fn(usize, usize, *const u8) -> c_int)(thread, size, set),
        }
    }
}
