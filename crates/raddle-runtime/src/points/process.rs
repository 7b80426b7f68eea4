//! The process: its end, its children, and what it learns about the machine.

// _Exit is the C library's name.
#![allow(non_snake_case)]

use core::arch::naked_asm;
use core::ffi::{c_char, c_int, c_uint, c_void};
use core::sync::atomic::{AtomicU64, Ordering::Relaxed};

use raddle_core::{EventKind, Rng, ThreadId};
use raddle_protocol::{Escape, Fallback, Outcome};

use super::kernel_wait::{Caller, Cancelled};
use crate::control::{self, call_real, point, scheduler};
use crate::os::sys;
use crate::process::{failure, forkable};
use crate::signals::bit;
use crate::switch::{fibers, gate};
use crate::{dispatch, interpose, real};

extern "C" {
    fn __register_atfork(
        prepare: Option<unsafe extern "C" fn()>,
        parent: Option<unsafe extern "C" fn()>,
        child: Option<unsafe extern "C" fn()>,
        object: *mut c_void,
    ) -> c_int;
}

/// A child is alone from its first instruction on, before the program's own fork handlers run.
pub fn prepare() {
    unsafe extern "C" fn child() {
        become_child();
    }
    // SAFETY: handlers run in the order of registration, and ours is the first.
    unsafe { __register_atfork(None, None, Some(child), core::ptr::null_mut()) };
}

/// The run starts with children, of a constructor or of the program that has started this one in its place.
pub fn adopt_children() {
    // SAFETY: the main thread holds the baton.
    let s = unsafe { scheduler() };
    s.open_world = true;
    s.escaped(Escape::Children);
}

/// The calling process is a child, and runs as if alone.
pub fn become_child() {
    if control::mode() == control::Mode::Controlled {
        crate::signals::kernel::become_child();
        if !control::parallel() {
            super::restartable::give_back();
        }
        control::pass_through();
        super::sync_function::remove_breakpoints();
    }
}

/// The process is about to end: other threads may still run before that.
fn last_point(me: ThreadId) {
    point(me, EventKind::ProcessExit, 0);
}

/// Calls something that makes a child process: the child runs as if alone. Unlike in other calls of
/// the real library, the program's own handlers run in there (pthread_atfork), under control.
pub unsafe fn with_child<R>(me: ThreadId, call: impl FnOnce() -> R) -> R {
    point(me, EventKind::Fork, 0);
    // SAFETY: `me` holds the baton.
    unsafe {
        let s = scheduler();
        s.open_world = true;
        s.escaped(Escape::Children);
        let selector = dispatch::selector(me);
        let before = selector.swap(0, Relaxed);
        if fibers() {
            crate::signals::fiber::lend_mask(me);
        }
        let result = control::unlocked(me, call);
        if control::mode() == control::Mode::Controlled {
            if fibers() {
                crate::signals::fiber::masks_changed();
            }
            selector.store(before, Relaxed);
        }
        result
    }
}

interpose! {
    #[link_section = "raddle_run"]
    fn exit(status: c_int) -> ! |me| {
        last_point(me);
        failure::record(scheduler(), Outcome::Exited);
        control::leave_for_good();
        real!(exit: fn(c_int) -> !)(status)
    }

    /// Ends the process with its quick handlers.
    fn quick_exit(status: c_int) -> ! |me| {
        last_point(me);
        failure::record(scheduler(), Outcome::Exited);
        control::leave_for_good();
        real!(quick_exit: fn(c_int) -> !)(status)
    }

    fn _exit(status: c_int) -> ! |me| {
        last_point(me);
        failure::record(scheduler(), Outcome::Exited);
        sys::exit_group(status)
    }

    fn _Exit(status: c_int) -> ! |me| {
        last_point(me);
        failure::record(scheduler(), Outcome::Exited);
        sys::exit_group(status)
    }

    /// A failed assertion: its text becomes the finding.
    fn __assert_fail(text: *const c_char, file: *const c_char, line: c_uint, function: *const c_char) -> ! |me| {
        let s = scheduler();
        s.results().thread = u32::from(me.0);
        let named = if function.is_null() { "?" } else { string(function) };
        failure::write_message(s.results(), format_args!("{}:{line}: {named}: Assertion `{}' failed.", string(file), string(text)));
        s.results().outcome = Outcome::Assert as u32;
        if control::parallel() {
            gate::shut();
        }
        // No other thread runs between the failure and the end.
        call_real(me, || real!(__assert_fail: fn(*const c_char, *const c_char, c_uint, *const c_char) -> !)(text, file, line, function))
    }

    /// A child process that runs as if alone.
    fn fork() -> c_int |me| {
        with_child(me, || real!(fork: fn() -> c_int)())
    }

    /// Runs a shell command. The wait for its end is in the model: others run meanwhile.
    fn system(command: *const c_char) -> c_int |me| {
        if command.is_null() {
            return call_real(me, || real!(system: fn(*const c_char) -> c_int)(command));
        }
        match run_shell(me, command) {
            Ok(status) => status,
            Err(Cancelled) => {
                super::cancel::act_on_cancel(me);
                super::fail(libc::EINTR)
            }
        }
    }

    /// Starts a shell command with a pipe.
    fn popen(command: *const c_char, mode: *const c_char) -> *mut c_void |me| {
        with_child(me, || call_real(me, || real!(popen: fn(*const c_char, *const c_char) -> *mut c_void)(command, mode)))
    }

    /// Waits for a shell command with a pipe.
    fn pclose(stream: *mut c_void) -> c_int |me| {
        call_real(me, || real!(pclose: fn(*mut c_void) -> c_int)(stream))
    }

    fn posix_spawn(pid: *mut c_int, path: *const c_char, actions: *const c_void, attributes: *const c_void, arguments: *const *mut c_char, environment: *const *mut c_char) -> c_int |me| {
        with_child(me, || call_real(me, || {
            real!(posix_spawn: fn(*mut c_int, *const c_char, *const c_void, *const c_void, *const *mut c_char, *const *mut c_char) -> c_int)(pid, path, actions, attributes, arguments, environment)
        }))
    }

    fn posix_spawnp(pid: *mut c_int, path: *const c_char, actions: *const c_void, attributes: *const c_void, arguments: *const *mut c_char, environment: *const *mut c_char) -> c_int |me| {
        with_child(me, || call_real(me, || {
            real!(posix_spawnp: fn(*mut c_int, *const c_char, *const c_void, *const c_void, *const *mut c_char, *const *mut c_char) -> c_int)(pid, path, actions, attributes, arguments, environment)
        }))
    }

    /// Random bytes from the seed.
    fn getrandom(buffer: *mut u8, size: usize, flags: c_uint) -> isize |_| {
        let _ = flags;
        fill_random(buffer, size);
        size as isize
    } before {
        if fill_random_early(buffer, size) {
            return size as isize;
        }
    }

    /// Random bytes from the seed.
    fn getentropy(buffer: *mut u8, size: usize) -> c_int |_| {
        if size > 256 {
            return super::fail(libc::EIO);
        }
        fill_random(buffer, size);
        0
    } before {
        if size <= 256 && fill_random_early(buffer, size) {
            return 0;
        }
    }
}

/// Under control vfork becomes fork: a child that shares our memory would share our scheduler. The real one returns twice
/// through the same stack, so no frame of ours may lie below it: it is jumped to.
#[cfg_attr(not(test), unsafe(no_mangle))]
#[unsafe(naked)]
pub unsafe extern "C" fn vfork() -> c_int {
    naked_asm!("push rax", "call {}", "pop rcx", "jmp rax", sym address_of_vfork)
}

extern "C" fn address_of_vfork() -> usize {
    match control::current() {
        Some(_) => fork as *const () as usize,
        None => super::real_address!(vfork),
    }
}

/// A constructor of the program that asks may keep the id in a variable, which would be wrong in a fork. Libraries that
/// ask (allocators) do so to tell processes apart.
#[cfg_attr(not(test), unsafe(no_mangle))]
#[unsafe(naked)]
pub unsafe extern "C" fn getpid() -> c_int {
    naked_asm!("mov rdi, [rsp]", "jmp {}", sym process_id)
}

extern "C" fn process_id(caller: usize) -> c_int {
    if dispatch::text::program_contains(caller) {
        forkable::note(Fallback::ProcessId);
    }
    sys::getpid()
}

/// system(3) with its wait in the model; the status, as the function returns it.
unsafe fn run_shell(me: ThreadId, command: *const c_char) -> Result<c_int, Cancelled> {
    extern "C" {
        static environ: *const *mut c_char;
    }
    // SAFETY: the caller's command; `me` holds the baton whenever it runs.
    unsafe {
        // As the real function: a handler for SIGCHLD must not take the child away.
        let mask = scheduler().threads[me.index()].signal_mask;
        super::signal::set_mask(me, mask | bit(libc::SIGCHLD));
        let arguments =
            [c"sh".as_ptr().cast_mut(), c"-c".as_ptr().cast_mut(), command.cast_mut(), core::ptr::null_mut()];
        let mut pid = 0;
        // The child gets the mask that the caller had.
        let mut attributes: libc::posix_spawnattr_t = core::mem::zeroed();
        let mut set: libc::sigset_t = core::mem::zeroed();
        (&raw mut set).cast::<u64>().write(mask);
        libc::posix_spawnattr_init(&mut attributes);
        libc::posix_spawnattr_setsigmask(&mut attributes, &set);
        libc::posix_spawnattr_setflags(&mut attributes, libc::POSIX_SPAWN_SETSIGMASK as _);
        let error = posix_spawn(
            &mut pid,
            c"/bin/sh".as_ptr(),
            core::ptr::null(),
            (&raw const attributes).cast(),
            arguments.as_ptr(),
            environ,
        );
        libc::posix_spawnattr_destroy(&mut attributes);
        let mut status = 127 << 8;
        let waited = match error {
            0 => super::child::wait_for_pid(Caller::function(me), pid, &mut status, 0, 0),
            _ => Ok(0),
        };
        if waited.is_err() {
            // As the real function when it is cancelled.
            if sys::kill_child(pid) {
                crate::syscall!(libc::SYS_wait4, pid, 0, 0, 0);
            }
        }
        super::signal::set_mask(me, mask);
        waited.map(|result| if result < 0 { super::fail(-result as c_int) } else { status })
    }
}

/// Fills a buffer from the run's seed.
pub(crate) unsafe fn fill_random(buffer: *mut u8, size: usize) {
    sys::answered();
    for i in 0..size {
        // SAFETY: the caller's buffer and the baton.
        unsafe { buffer.add(i).write(scheduler().entropy.next_u64() as u8) };
    }
}

/// Fills a buffer for a constructor, from the seed of the campaign: all runs of a fork server have the same bytes. Returns
/// whether it has.
unsafe fn fill_random_early(buffer: *mut u8, size: usize) -> bool {
    static CALLS: AtomicU64 = AtomicU64::new(0);
    let Some(block) = control::block().filter(|_| control::mode() == control::Mode::Before) else { return false };
    let mut entropy = Rng::for_purpose(block.settings.run.seed.wrapping_add(CALLS.fetch_add(1, Relaxed)), 4);
    for i in 0..size {
        // SAFETY: the caller's buffer.
        unsafe { buffer.add(i).write(entropy.next_u64() as u8) };
    }
    true
}

unsafe fn string<'a>(text: *const c_char) -> &'a str {
    // SAFETY: the caller's text, ended by a zero.
    let text = unsafe { core::ffi::CStr::from_ptr(text) };
    text.to_str().unwrap_or("?")
}
