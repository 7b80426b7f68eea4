//! Schedule points: something is about to happen.
//!
//! One file per primitive. Every function in here stands for the function of the same name in libc:
//! a thread under control gets the model's version, all others (before the run, in a forked
//! child, inside a call of the real library) the real one.

mod address_lookup;
mod aio;
pub mod alarm;
mod asynchronous;
pub mod barrier;
pub mod c11;
pub mod callback;
pub mod cancel;
pub mod child;
pub mod condition;
pub mod connection;
pub mod credentials;
pub mod descriptor;
pub mod descriptor_table;
pub mod epoll;
pub mod exec;
pub mod file_lock;
pub mod futex;
mod futex_pi;
pub mod ipc;
mod kernel_wait;
pub mod lookup;
pub mod mapping;
pub mod misuse;
pub mod mutex;
pub mod new_identity;
pub mod once;
pub mod open;
pub mod poll;
pub mod process;
pub mod processors;
pub mod queue_notify;
pub mod restartable;
pub mod rwlock;
pub mod select;
pub mod semaphore;
pub mod signal;
pub mod signal_send;
pub mod signal_wait;
pub mod socket;
pub mod spin_lock;
pub mod splice;
pub mod static_guard;
pub mod sync_function;
pub mod thread;
pub mod thread_attributes;
pub mod thread_keys;
pub mod tick;
pub mod time;
pub mod timer;
mod trapped;

use core::ffi::{c_char, c_int, c_uint};
use core::sync::atomic::{AtomicUsize, Ordering};

use crate::os::objects::next_definition;

extern "C" {
    fn __errno_location() -> *mut c_int;
}

/// Where errno is, in bytes from the thread pointer: the same for all threads, because libc is there from
/// the start. 0 before it is known.
static ERRNO_OFFSET: AtomicUsize = AtomicUsize::new(0);

pub fn find_errno() {
    // SAFETY: libc gives every thread an errno.
    let place = unsafe { __errno_location() } as usize;
    ERRNO_OFFSET.store(place.wrapping_sub(crate::os::sys::thread_pointer()), Ordering::Relaxed);
}

/// Where the calling thread's errno is. Asking libc would make a page of its text present for that alone.
fn errno_place() -> *mut c_int {
    match ERRNO_OFFSET.load(Ordering::Relaxed) {
        // SAFETY: as above.
        0 => unsafe { __errno_location() },
        offset => crate::os::sys::thread_pointer().wrapping_add(offset) as *mut c_int,
    }
}

/// Sets errno and returns -1, as system call wrappers do.
pub fn fail(error: c_int) -> c_int {
    set_errno(error);
    -1
}

/// The calling thread's errno.
pub fn errno() -> c_int {
    // SAFETY: libc gives every thread an errno.
    unsafe { *errno_place() }
}

pub fn set_errno(error: c_int) {
    // SAFETY: as above.
    unsafe { *errno_place() = error };
}

/// Turns what the kernel returned into what a libc wrapper returns.
pub fn result(r: isize) -> isize {
    if (-4095..0).contains(&r) {
        return fail(-r as c_int) as isize;
    }
    r
}

/// A function of the real library. All of them lie in one section, so that they can be found at
/// start-up.
// Aligned to its size, so that the section is an array.
#[repr(C, align(16))]
pub struct Real {
    /// The name, ended by a zero.
    pub name: &'static c_char,
    /// Its address; 0 before it was looked up.
    pub found: core::sync::atomic::AtomicUsize,
}

impl Real {
    /// The address of the function.
    #[inline]
    pub fn address(&self) -> usize {
        match self.found.load(core::sync::atomic::Ordering::Relaxed) {
            0 => self.look(),
            found => found,
        }
    }

    #[cold]
    fn look(&self) -> usize {
        // SAFETY: the macro ends the name with a zero.
        let found = next_definition(unsafe { core::ffi::CStr::from_ptr(self.name) });
        self.found.store(found, core::sync::atomic::Ordering::Relaxed);
        found
    }
}

/// Finds all functions of the real library.
pub fn find_all() {
    extern "C" {
        #[link_name = "__start_raddle_real"]
        static START: Real;
        #[link_name = "__stop_raddle_real"]
        static STOP: Real;
    }
    // SAFETY: the linker puts the two symbols around the section, which holds nothing else.
    unsafe {
        let mut at = &raw const START;
        while at < &raw const STOP {
            (*at).address();
            at = at.add(1);
        }
    }
}

/// The address of the real function of a name; 0 when this libc does not have it.
macro_rules! real_address {
    ($name:ident) => {{
        // Used as a whole: the optimiser must not split it.
        #[used]
        #[link_section = "raddle_real"]
        static REAL: $crate::points::Real = $crate::points::Real {
            // SAFETY: the first byte of a text that is ended by a zero.
            name: unsafe { &*concat!(stringify!($name), "\0").as_ptr().cast() },
            found: ::core::sync::atomic::AtomicUsize::new(0),
        };
        REAL.address()
    }};
}
pub(crate) use real_address;

/// The real function of a name.
macro_rules! real {
    ($name:ident: fn($($arg:ty),*) $(-> $ret:ty)?) => {
        ::core::mem::transmute::<usize, unsafe extern "C-unwind" fn($($arg),*) $(-> $ret)?>(
            $crate::points::real_address!($name)
        )
    };
}
pub(crate) use real;

/// Interposes functions. The body sees the calling thread; without control the real function is
/// called, after what stands behind `before`, which is for what a constructor of the program does. The functions may be unwound through by cancellation and exceptions, so they must not
/// keep anything that needs to be dropped when that happens.
macro_rules! interpose {
    ($($(#[$doc:meta])* fn $name:ident($($arg:ident: $type:ty),* $(,)?) $(-> $ret:ty)? |$me:pat_param| $body:block $(before $early:block)?)*) => {
        $(
            $(#[$doc])*
            #[cfg_attr(not(test), no_mangle)]
            // Nothing follows the call of a function that never returns.
            #[allow(unreachable_code, unused_variables, clippy::diverging_sub_expression)]
            pub unsafe extern "C-unwind" fn $name($($arg: $type),*) $(-> $ret)? {
                // SAFETY: the caller keeps the contract of the function that this one stands for.
                unsafe {
                    let Some(me) = $crate::control::current() else {
                        $($early)?
                        return $crate::real!($name: fn($($type),*) $(-> $ret)?)($($arg),*);
                    };
                    let _leave = $crate::control::LeaveOnDrop::armed();
                    if $crate::points::cancel::must_stop_now(me) {
                        $crate::points::cancel::act_on_cancel(me);
                    }
                    let $me = me;
                    let result = $body;
                    // The thread may have been cancelled while it waited.
                    if $crate::points::cancel::must_stop_now(me) {
                        $crate::points::cancel::act_on_cancel(me);
                    }
                    result
                }
            }
        )*
    };
}
pub(crate) use interpose;

/// Performs a system call that was made past the interposed functions, where this folder has a function
/// for it; `None`: it is to be made as it is.
///
/// # Safety
/// As for the system call.
pub unsafe fn system_call(me: raddle_core::ThreadId, request: &crate::dispatch::Request) -> Option<isize> {
    let [a, b, c, d, _, _] = request.arguments;
    // The functions in here set errno; the kernel's convention is a negative number.
    let kernel = |r: isize| if r == -1 { -(errno() as isize) } else { r };
    // SAFETY: the program's own system call.
    unsafe {
        Some(match request.number {
            libc::SYS_sched_yield => time::sched_yield() as isize,
            libc::SYS_nanosleep => kernel(time::nanosleep(a as *const _, b as *mut _) as isize),
            libc::SYS_clock_nanosleep => {
                -(time::clock_nanosleep(a as c_int, b as c_int, c as *const _, d as *mut _) as isize)
            }
            libc::SYS_clock_gettime => kernel(time::clock_gettime(a as c_int, b as *mut _) as isize),
            libc::SYS_gettimeofday => kernel(time::gettimeofday(a as *mut _, b as *mut _) as isize),
            libc::SYS_time => time::time(a as *mut _) as isize,
            libc::SYS_alarm => alarm::alarm(a as c_uint) as isize,
            libc::SYS_setitimer => kernel(alarm::setitimer(a as c_int, b as *const _, c as *mut _) as isize),
            libc::SYS_getitimer => kernel(alarm::getitimer(a as c_int, b as *mut _) as isize),
            libc::SYS_rt_sigaction => signal::kernel_action(a as c_int, b as *const _, c as *mut _),
            libc::SYS_rt_sigprocmask => signal::change_mask(me, a as c_int, b as *const _, c as *mut _),
            libc::SYS_rt_sigpending if b == 8 => signal::pending(me, a as *mut _),
            libc::SYS_kill => signal_send::send_to_process(me, a as c_int, b as c_int),
            libc::SYS_tgkill => signal_send::send_to_thread(me, a as c_int, b as c_int, c as c_int),
            libc::SYS_tkill => signal_send::send_to_any_thread(me, a as c_int, b as c_int),
            libc::SYS_rt_sigqueueinfo => signal_send::queue_to_process(me, a as c_int, b as c_int, c as *const _),
            libc::SYS_rt_tgsigqueueinfo => {
                signal_send::queue_to_thread(me, a as c_int, b as c_int, c as c_int, d as *const _)
            }
            libc::SYS_signalfd | libc::SYS_signalfd4 => {
                crate::signals::lend::are_shown();
                return None;
            }
            libc::SYS_execve => exec::replace(me, *request, 0),
            libc::SYS_execveat => exec::replace(me, *request, 1),
            libc::SYS_getrandom => {
                process::fill_random(a as *mut u8, b);
                b as isize
            }
            _ => return thread_attributes::system_call(me, request).or_else(|| trapped::system_call(me, request)),
        })
    }
}
