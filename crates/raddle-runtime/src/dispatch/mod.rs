//! System calls that are made past the interposed functions: inline assembly, glibc's own locks and
//! stdio, libc's `syscall`.
//!
//! Syscall user dispatch (PR_SET_SYSCALL_USER_DISPATCH) is armed per thread: while the thread's
//! selector says so, a system call from outside this library's text raises SIGSYS, and the handler
//! performs it in the model. It is not inherited by children. Calls into the real library set the
//! selector to allow (`control::call_real`), because libc blocks all signals in places, and a trapped
//! call with SIGSYS blocked would kill the process.

pub mod text;

use core::ffi::{c_int, c_void};
use core::sync::atomic::{AtomicBool, AtomicU8, Ordering};

use raddle_core::ThreadId;
use raddle_protocol::hooks::offers;
use raddle_protocol::settings::flag;
use raddle_protocol::{Escape, OsReason, Outcome, Points};

use crate::control::{self, scheduler, Mode};
use crate::os::sys;
use crate::points::{errno, futex, set_errno};
use crate::process::failure;
use crate::signals::{action, alternate};
use crate::{access, points, signals, syscall};

const PR_SET_SYSCALL_USER_DISPATCH: usize = 59;
static AVAILABLE: AtomicBool = AtomicBool::new(false);

/// Prepares the process: finds our text.
pub fn prepare() {
    text::find();
    let wanted = control::block().is_some_and(|b| b.settings.run.dispatch);
    AVAILABLE.store(wanted && text::own().1 != 0, Ordering::Relaxed);
}

/// Installs the handler, unless nothing is to be trapped.
pub fn install() {
    if AVAILABLE.load(Ordering::Relaxed) {
        signals::reserve(libc::SIGSYS);
        action::install(libc::SIGSYS, handler(), libc::SA_SIGINFO | libc::SA_NODEFER, action::SIGCANCEL);
    }
}

/// Where the kernel starts when a system call was trapped.
pub fn handler() -> usize {
    on_trap as *const () as usize
}

/// Whether system calls can be trapped at all.
pub fn available() -> bool {
    let (start, length) = text::own();
    // SAFETY: turned on with a selector that lets everything through, and off again.
    AVAILABLE.load(Ordering::Relaxed)
        && unsafe {
            let on = syscall!(sys::SYS_prctl, PR_SET_SYSCALL_USER_DISPATCH, 1, start, length, &NOTHING as *const _);
            syscall!(sys::SYS_prctl, PR_SET_SYSCALL_USER_DISPATCH, 0, 0, 0, 0);
            on == 0
        }
}

/// A selector that traps nothing.
static NOTHING: AtomicU8 = AtomicU8::new(0);

/// What the kernel looks at before each system call of the thread: 0 lets it through, 1 traps it.
#[inline]
pub fn selector(me: ThreadId) -> &'static AtomicU8 {
    // One OS thread runs all fibers: the main thread's.
    let carrier = if crate::switch::fibers() { ThreadId::MAIN } else { me };
    // SAFETY: the record lives as long as the process, and the selector is an atomic byte.
    unsafe { &scheduler().threads[carrier.index()].selector }
}

/// Traps system calls of the calling OS thread from now on.
#[link_section = "raddle_run"]
pub fn arm(me: ThreadId) {
    // SAFETY: `me` holds the baton.
    let s = unsafe { scheduler() };
    if !AVAILABLE.load(Ordering::Relaxed) {
        return s.escaped(Escape::NoDispatch);
    }
    let (start, length) = text::own();
    let selector = selector(me).as_ptr();
    // SAFETY: the selector lives as long as the process.
    let error = unsafe { syscall!(sys::SYS_prctl, PR_SET_SYSCALL_USER_DISPATCH, 1, start, length, selector) };
    if error != 0 {
        return s.escaped(Escape::NoDispatch);
    }
    // SAFETY: an atomic byte.
    unsafe { (*selector.cast::<AtomicU8>()).store(1, Ordering::Relaxed) };
}

/// Lets the thread's system calls through for good.
pub fn disarm(me: ThreadId) {
    selector(me).store(0, Ordering::Relaxed);
}

/// A system call's number and arguments.
#[derive(Clone, Copy, Debug)]
pub struct Request {
    /// Which one.
    pub number: i64,
    pub arguments: [usize; 6],
}

impl Request {
    /// Performs it as it is.
    ///
    /// # Safety
    /// As for the system call.
    pub unsafe fn pass_to_kernel(&self) -> isize {
        let [a, b, c, d, e, f] = self.arguments;
        // SAFETY: the caller's promise.
        unsafe { sys::syscall6(self.number, a, b, c, d, e, f) }
    }
}

/// The code of a SIGSYS that the kernel sends for a trapped system call. Everybody else has other codes.
const SYS_USER_DISPATCH: c_int = 2;

/// SIGSYS: a system call was made past the interposed functions; or somebody has sent it.
#[link_section = "raddle_run"]
unsafe extern "C-unwind" fn on_trap(signal: c_int, info: *mut libc::siginfo_t, context: *mut c_void) {
    // SAFETY: the kernel's information.
    if unsafe { (*info).si_code } != SYS_USER_DISPATCH {
        // SAFETY: the kernel's arguments.
        return unsafe { signals::kernel::on_programs_own(signal, info, context) };
    }
    // SAFETY: the kernel's context of this signal.
    let registers = unsafe { &mut (*context.cast::<libc::ucontext_t>()).uc_mcontext.gregs };
    let at = |r: c_int| registers[r as usize] as usize;
    let request = Request {
        number: registers[libc::REG_RAX as usize],
        arguments: [
            at(libc::REG_RDI),
            at(libc::REG_RSI),
            at(libc::REG_RDX),
            at(libc::REG_R10),
            at(libc::REG_R8),
            at(libc::REG_R9),
        ],
    };
    if points::thread::is_leaving() {
        // SAFETY: libc's own call.
        registers[libc::REG_RAX as usize] = unsafe { points::thread::last_calls(&request) } as i64;
        return;
    }
    let from_loader = request.number != libc::SYS_futex && text::loader_contains(at(libc::REG_RIP));
    if control::parallel() && is_the_librarys(request.number, at(libc::REG_RIP)) {
        // SAFETY: the library's own system call.
        registers[libc::REG_RAX as usize] = unsafe { request.pass_to_kernel() } as i64;
        return;
    }
    let me = control::current();
    let _leave = me.map(|_| control::LeaveOnDrop::armed());
    let me = me.filter(|_| !from_loader);
    if request.number == libc::SYS_rt_sigreturn {
        if let Some(me) = me {
            // SAFETY: a handler returns.
            unsafe { alternate::return_from(me, at(libc::REG_RSP)) };
        }
        // A signal of libc's own has come to a parked thread, whose next point may be far away.
        // SAFETY: this is where the handler that makes the call would return to.
        unsafe { sys::return_from_signal(at(libc::REG_RSP)) };
    }
    if makes_plain_child(&request) {
        // SAFETY: nothing is shared with the child.
        registers[libc::REG_RAX as usize] = unsafe { make_plain_child(me, &request) } as i64;
        if control::mode() == Mode::PassThrough {
            signals::kernel::return_as_child(context);
        }
        return;
    }
    if must_run_in_place(request.number) {
        // Run again, untrapped: the kernel copies the very frame that makes the call. Trapping goes
        // on at the thread's next schedule point.
        if let Some(me) = me {
            needs_os_threads(&request);
            in_place(me, &request);
        }
        registers[libc::REG_RIP as usize] -= 2;
        return;
    }
    if request.number == libc::SYS_futex && !text::libc_contains(at(libc::REG_RIP)) {
        if let Some(me) = me {
            lock_of_its_own(me, &request, false);
        }
    }
    let before = errno();
    // SAFETY: the program's own system call.
    let result = unsafe { me.map_or_else(|| request.pass_to_kernel(), |me| perform(me, request)) };
    set_errno(before);
    registers[libc::REG_RAX as usize] = result as i64;
    if crate::switch::fibers() {
        if let Some(me) = me {
            // libc's own signal would act now.
            // SAFETY: nothing in this frame needs to be dropped.
            unsafe { points::cancel::cancel_in_libc(me) };
        }
        signals::fiber::before_return(context);
    }
}

/// Calls that libc and the loader make for themselves, and that are left to them in a parallel run: what is made with
/// a lock of theirs held must not wait for ours, and a thread in a call of the real library, whose system calls are
/// not seen, must find the others at the same futexes.
fn is_the_librarys(number: i64, at: usize) -> bool {
    match number {
        libc::SYS_futex => text::libc_contains(at) || text::loader_contains(at),
        libc::SYS_mmap | libc::SYS_munmap | libc::SYS_mprotect => true,
        libc::SYS_mremap | libc::SYS_madvise | libc::SYS_brk => true,
        _ => text::loader_contains(at) && !must_run_in_place(number),
    }
}

/// Calls that copy or replace the calling frame.
fn must_run_in_place(number: i64) -> bool {
    matches!(
        number,
        libc::SYS_clone | libc::SYS_clone3 | libc::SYS_fork | libc::SYS_vfork | libc::SYS_rt_sigreturn | libc::SYS_exit
    )
}

/// Whether a call makes a process that goes on with a copy of the stack: it can be made from here.
fn makes_plain_child(request: &Request) -> bool {
    const SHARES: usize = (libc::CLONE_VM | libc::CLONE_THREAD) as usize;
    match request.number {
        libc::SYS_fork | libc::SYS_vfork => true,
        libc::SYS_clone => clone_flags(request) & SHARES == 0 && request.arguments[1] == 0,
        _ => false,
    }
}

/// Makes such a process. The child runs as if alone; one that would share our memory, by vfork, does not, because it
/// would share our scheduler.
unsafe fn make_plain_child(me: Option<ThreadId>, request: &Request) -> isize {
    let request = match request.number {
        libc::SYS_vfork => &Request { number: libc::SYS_fork, ..*request },
        _ => request,
    };
    // SAFETY: the program's own system call; the child has a copy of everything.
    unsafe {
        let Some(me) = me else { return request.pass_to_kernel() };
        points::process::with_child(me, || {
            let result = request.pass_to_kernel();
            if result == 0 {
                points::process::become_child();
            }
            result
        })
    }
}

/// What the kernel does to one OS thread cannot be done to a fiber.
fn needs_os_threads(request: &Request) {
    let reason = match request.number {
        libc::SYS_exit => OsReason::RawExit,
        libc::SYS_clone | libc::SYS_clone3 if clone_flags(request) & libc::CLONE_THREAD as usize != 0 => {
            OsReason::ForeignThread
        }
        _ => return,
    };
    failure::needs_os_threads(reason);
}

fn clone_flags(request: &Request) -> usize {
    if request.number == libc::SYS_clone {
        return request.arguments[0];
    }
    // SAFETY: clone3's first argument is a structure that starts with the flags.
    unsafe { *(request.arguments[0] as *const usize) }
}

fn in_place(me: ThreadId, request: &Request) {
    // SAFETY: `me` holds the baton.
    let s = unsafe { scheduler() };
    selector(me).store(0, Ordering::Relaxed);
    if control::parallel() {
        s.thread(me).trap_again = true;
    } else {
        s.trap_again = true;
    }
    if request.number == libc::SYS_clone || request.number == libc::SYS_clone3 {
        let flags = clone_flags(request);
        let thread = flags & libc::CLONE_THREAD as usize != 0;
        s.escaped(if thread { Escape::ForeignThread } else { Escape::Children });
        s.open_world = true;
        // A process that shares our memory can wake our threads.
        s.foreign_threads |= flags & libc::CLONE_VM as usize != 0;
    }
}

/// Performs a system call of a thread under control, in the model where there is one. The result is
/// what the kernel would return.
///
/// # Safety
/// As for the system call.
#[link_section = "raddle_run"]
pub unsafe fn perform(me: ThreadId, request: Request) -> isize {
    let [a, b, c, d, e, f] = request.arguments;
    // SAFETY: the program's own system call; `me` holds the baton.
    unsafe {
        match request.number {
            libc::SYS_futex => {
                let call = futex::Call {
                    word: a as *mut u32,
                    operation: b as c_int,
                    value: c as u32,
                    time: d,
                    second: e as *mut u32,
                    value3: f as u32,
                };
                futex::futex(me, call)
            }
            libc::SYS_exit_group => {
                if scheduler().results().outcome == Outcome::Unknown as u32 {
                    failure::record(scheduler(), Outcome::Exited);
                }
                sys::exit_group(a as i32)
            }
            _ => match points::system_call(me, &request) {
                Some(result) => result,
                // Whether it waits is not known.
                None => control::unlocked(me, || request.pass_to_kernel()),
            },
        }
    }
}

/// A lock that is not libc's: its uncontended way makes no system call and is seen only by the hooks of an
/// instrumented program. Rust's standard library waits through libc's `syscall`.
fn lock_of_its_own(me: ThreadId, request: &Request, through_libc: bool) {
    // SAFETY: the calling thread holds the baton.
    unsafe {
        let s = scheduler();
        let is_seen = || {
            let [word, operation, ..] = request.arguments;
            let harness = me == ThreadId::MAIN && s.settings().flags & flag::HARNESS != 0;
            let of_std = through_libc && access::offers() & offers::STD != 0;
            // A thread that is woken has waited before.
            !futex::is_wait(operation as c_int)
                || harness
                || of_std
                || control::state().access.spin_loops.last_atomic_is_near(me, word)
        };
        let sees_atomics = access::offers() != 0 && s.settings().run.points >= Points::Atomic;
        if !sees_atomics || !is_seen() {
            s.escaped(Escape::Futex);
        }
    }
}

/// libc's way to make any system call.
#[cfg_attr(not(test), no_mangle)]
pub unsafe extern "C-unwind" fn syscall(
    number: i64,
    a: usize,
    b: usize,
    c: usize,
    d: usize,
    e: usize,
    f: usize,
) -> isize {
    let request = Request { number, arguments: [a, b, c, d, e, f] };
    // SAFETY: the program's own system call.
    let result = unsafe {
        match control::current() {
            Some(me) if makes_plain_child(&request) => {
                let _leave = control::LeaveOnDrop::armed();
                make_plain_child(Some(me), &request)
            }
            Some(me) if !must_run_in_place(number) => {
                let _leave = control::LeaveOnDrop::armed();
                if number == libc::SYS_futex {
                    lock_of_its_own(me, &request, true);
                }
                perform(me, request)
            }
            Some(me) => {
                let _leave = control::LeaveOnDrop::armed();
                needs_os_threads(&request);
                in_place(me, &request);
                request.pass_to_kernel()
            }
            None => request.pass_to_kernel(),
        }
    };
    points::result(result)
}
