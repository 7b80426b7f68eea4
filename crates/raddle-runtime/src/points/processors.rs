//! How many processors there are: the number that the campaign sets, on every machine. Libraries ask in
//! their constructors, so the answer is the same before the run starts. And which of them a thread is on: in a serial
//! run each thread stays on one, counted by its id.

use core::ffi::c_int;

use raddle_core::ThreadId;

use crate::control::{self, call_real, current, parallel, LeaveOnDrop, Mode};
use crate::os::sys;
use crate::{interpose, real};

/// The processor that a thread is on.
pub(super) fn of(me: ThreadId) -> u32 {
    configured().map_or(0, |processors| me.index() as u32 % processors.max(1))
}

/// getcpu(2).
pub(super) unsafe fn tell(me: ThreadId, processor: *mut u32, node: *mut u32) {
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
        tell(me, &mut processor, core::ptr::null_mut());
        processor as c_int
    } before {
        if control::block().is_some() && control::mode() == Mode::Before {
            return 0;
        }
    }

    fn getcpu(processor: *mut u32, node: *mut u32) -> c_int |me| {
        tell(me, processor, node);
        0
    } before {
        if control::block().is_some() && control::mode() == Mode::Before {
            tell(ThreadId::MAIN, processor, node);
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

/// Which processors a process may run on: the first N, as configured.
#[cfg_attr(not(test), no_mangle)]
pub unsafe extern "C-unwind" fn sched_getaffinity(pid: c_int, size: usize, set: *mut u8) -> c_int {
    // SAFETY: the caller's buffer.
    unsafe {
        match configured() {
            Some(n) => fill(n as usize, size, set),
            None => return real!(sched_getaffinity: fn(c_int, usize, *mut u8) -> c_int)(pid, size, set),
        }
    }
    0
}

/// Which processors a thread may run on: the first N, as configured.
#[cfg_attr(not(test), no_mangle)]
pub unsafe extern "C-unwind" fn pthread_getaffinity_np(thread: usize, size: usize, set: *mut u8) -> c_int {
    // SAFETY: the caller's buffer.
    unsafe {
        match configured() {
            Some(n) => fill(n as usize, size, set),
            None => return real!(pthread_getaffinity_np: fn(usize, usize, *mut u8) -> c_int)(thread, size, set),
        }
    }
    0
}

unsafe fn fill(cpus: usize, size: usize, set: *mut u8) {
    for i in 0..size {
        let bits = (0..8).filter(|bit| i * 8 + bit < cpus).fold(0u8, |byte, bit| byte | 1 << bit);
        // SAFETY: the caller's buffer.
        unsafe { set.add(i).write(bits) };
    }
}
