//! Calls of functions that the user named (`--sync-function`, NeedlePoint's user-specified
//! synchronization): a breakpoint at the function's first byte and, during a call, one where it
//! returns to.
//!
//! At a breakpoint the thread passes a schedule point; then the instruction below it is executed out of line, so
//! that the breakpoint stays where it is while other threads run. The ABI tells the first arguments at the one place
//! and the value at the other.

use core::cell::UnsafeCell;
use core::ffi::c_void;
use core::sync::atomic::{AtomicBool, Ordering};

use raddle_core::{EventKind, ThreadId};
use raddle_protocol::threads::ARGUMENTS;
use raddle_protocol::NamedCall;

use crate::control::{self, current, point, scheduler, LeaveOnDrop, Mode};
use crate::os::out_of_line::{self, Copy as Displaced, SLOTS};
use crate::process::failure;

const BREAKPOINT: u8 = 0xcc;

/// The most calls in progress; of others, the ends are not seen.
const CALLS: usize = 256;

/// A place with a breakpoint, which stays: setting one is slow, and a thread may be about to execute the instruction.
#[derive(Clone, Copy)]
struct Site {
    below: Displaced,
    /// What stands there without the breakpoint.
    byte: u8,
    /// The first byte of a named function.
    is_function: bool,
    /// The first byte of a function at whose calls the threads are looked at.
    is_look: bool,
}

/// Why there is a breakpoint.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Watched {
    /// A named function begins here.
    Function,
    /// The threads are looked at when this function is called.
    Look,
    /// A call returns to it.
    Return,
}

/// A call that has not returned.
#[derive(Clone, Copy)]
struct Call {
    thread: ThreadId,
    function: usize,
    arguments: [u64; ARGUMENTS],
    /// Where it returns to.
    back: usize,
    /// The stack pointer after the return.
    sp: usize,
}

/// The breakpoints and the calls.
struct Patched {
    site: [Option<Site>; SLOTS],
    sites: usize,
    call: [Call; CALLS],
    calls: usize,
    /// The last call of each thread that has returned, if the thread has made none since. Of too many, the
    /// oldest are forgotten.
    done: [(Call, u64); CALLS],
    dones: usize,
}

struct Cell(UnsafeCell<Patched>);

// SAFETY: touched by the holder of `LOCK` only.
unsafe impl Sync for Cell {}

/// Breakpoints are met in calls of the real library and by threads that are not ours, too.
static LOCK: AtomicBool = AtomicBool::new(false);

/// Calls a function with the books. It passes no point.
fn with_books<R>(act: impl FnOnce(&mut Patched) -> R) -> R {
    // In a forked child there is one thread at first, and the lock may be another's.
    let alone = control::mode() == Mode::PassThrough;
    while !alone && LOCK.compare_exchange_weak(false, true, Ordering::Acquire, Ordering::Relaxed).is_err() {
        core::hint::spin_loop();
    }
    // SAFETY: this thread has the lock.
    let result = act(unsafe { &mut *PATCHED.0.get() });
    LOCK.store(false, Ordering::Release);
    result
}

const NO_CALL: Call = Call { thread: ThreadId::MAIN, function: 0, arguments: [0; ARGUMENTS], back: 0, sp: 0 };

static PATCHED: Cell = Cell(UnsafeCell::new(Patched {
    site: [None; SLOTS],
    sites: 0,
    call: [NO_CALL; CALLS],
    calls: 0,
    done: [(NO_CALL, 0); CALLS],
    dones: 0,
}));

/// Sets the breakpoints of this run. Addresses come from the command line, which reads the
/// program's symbols; they count from where the program was loaded.
#[inline(always)]
pub fn start_run() {
    // SAFETY: there is one thread.
    let settings = unsafe { scheduler() }.settings();
    // They are places in the program that raddle has started, not in one that took its place.
    if (settings.sync_offsets[0] != 0 || settings.look_offset != 0) && !crate::control::is_successor() {
        set_breakpoints();
    }
}

#[cold]
#[inline(never)]
fn set_breakpoints() {
    // SAFETY: there is one thread.
    // SAFETY: there is one thread.
    let settings = unsafe { scheduler() }.settings();
    let (offsets, look) = (settings.sync_offsets, settings.look_offset as usize);
    let base = crate::dispatch::text::program_base();
    let set = with_books(|patched| {
        (patched.calls, patched.dones) = (0, 0);
        let mut functions = offsets.into_iter().filter(|&offset| offset != 0);
        let room = out_of_line::make_room(base);
        if room && look != 0 {
            // What cannot be looked at is only missing from the report.
            // SAFETY: the first byte of a function of the program.
            unsafe { patched.watch(base + look, Watched::Look) };
        }
        // SAFETY: as above.
        room && functions.all(|offset| unsafe { patched.watch(base + offset as usize, Watched::Function) })
    });
    if !set {
        failure::internal(format_args!("no breakpoint can be set at the functions of --sync-function"));
    }
}

impl Patched {
    fn find(&mut self, address: usize) -> Option<&mut Site> {
        self.site[..self.sites].iter_mut().flatten().find(|site| site.below.address() == address)
    }

    /// Sets a breakpoint, unless there is one. Returns whether there is one now.
    unsafe fn watch(&mut self, address: usize, why: Watched) -> bool {
        let at = match self.site[..self.sites].iter().flatten().position(|site| site.below.address() == address) {
            Some(at) => at,
            None if self.sites == SLOTS => return false,
            None => {
                let Some(below) = out_of_line::prepare(address) else { return false };
                // SAFETY: the program's text, before an instruction.
                unsafe {
                    let byte = (address as *const u8).read();
                    self.site[self.sites] = Some(Site { below, byte, is_function: false, is_look: false });
                    out_of_line::write(address, &[BREAKPOINT]);
                }
                self.sites += 1;
                self.sites - 1
            }
        };
        if let Some(site) = &mut self.site[at] {
            site.is_function |= why == Watched::Function;
            site.is_look |= why == Watched::Look;
        }
        true
    }

    /// Notes what a call has returned.
    fn note(&mut self, call: Call, value: u64) {
        self.forget_done(call.thread);
        if self.dones == CALLS {
            self.done.copy_within(1.., 0);
            self.dones -= 1;
        }
        self.done[self.dones] = (call, value);
        self.dones += 1;
    }

    fn forget_done(&mut self, thread: ThreadId) {
        if let Some(at) = self.done[..self.dones].iter().position(|(call, _)| call.thread == thread) {
            self.done.copy_within(at + 1..self.dones, at);
            self.dones -= 1;
        }
    }

    /// Forgets the calls of a thread that stood at `sp` or below: exceptions and longjmp leave without a
    /// return.
    fn forget(&mut self, thread: ThreadId, sp: usize) {
        let mut i = 0;
        while i < self.calls {
            let call = self.call[i];
            if call.thread == thread && call.sp <= sp {
                self.calls -= 1;
                self.call.copy_within(i + 1..self.calls + 1, i);
            } else {
                i += 1;
            }
        }
    }
}

/// The innermost call of a thread that has not returned.
pub fn of(thread: ThreadId) -> NamedCall {
    with_books(|patched| {
        let call = patched.call[..patched.calls].iter().rfind(|call| call.thread == thread);
        call.map_or(NamedCall::default(), |call| call.named(0))
    })
}

/// The call that has returned to a thread last, if it has made none since.
pub fn returned_to(thread: ThreadId) -> NamedCall {
    with_books(|patched| {
        let done = patched.done[..patched.dones].iter().find(|(call, _)| call.thread == thread);
        done.map_or(NamedCall::default(), |(call, value)| call.named(*value))
    })
}

impl Call {
    fn named(&self, value: u64) -> NamedCall {
        let function = (self.function - crate::dispatch::text::program_base()) as u64;
        NamedCall { function, arguments: self.arguments, value }
    }
}

/// SIGTRAP. Returns whether it was one of our breakpoints or steps.
pub unsafe fn on_trap(context: *mut c_void) -> bool {
    // SAFETY: the kernel's context of this signal. The books are taken anew after the point, where others may have
    // changed them.
    unsafe {
        let registers = &mut (*context.cast::<libc::ucontext_t>()).uc_mcontext.gregs;
        if out_of_line::stepped(registers) {
            return true;
        }
        let address = registers[libc::REG_RIP as usize] as usize - 1;
        let Some(site) = with_books(|patched| patched.find(address).copied()) else { return false };
        if let Some(me) = current() {
            let _leave = LeaveOnDrop::armed();
            let sp = registers[libc::REG_RSP as usize] as usize;
            if site.is_look {
                // For whoever walks the stack, the first instruction has not run.
                registers[libc::REG_RIP as usize] = address as i64;
                failure::look(scheduler(), me);
            }
            if site.is_function {
                point(me, EventKind::Call, address);
                let arguments = REGISTERS.map(|register| registers[register as usize] as u64);
                with_books(|patched| called(patched, me, address, sp, arguments));
            } else {
                let value = registers[libc::REG_RAX as usize] as u64;
                if let Some(call) = with_books(|patched| returned(patched, me, address, sp, value)) {
                    point(me, EventKind::Return, call.function);
                }
            }
        }
        site.below.execute(registers);
        true
    }
}

/// Removes all breakpoints: a forked child has the program's own action for the trap, and its text is a copy.
pub fn remove_breakpoints() {
    with_books(|patched| {
        for site in patched.site[..patched.sites].iter().flatten() {
            // SAFETY: what the program had there; there is one thread, and it does not stand in front of it.
            unsafe { out_of_line::write(site.below.address(), &[site.byte]) };
        }
        (patched.sites, patched.calls, patched.dones) = (0, 0, 0);
    });
}

/// A fault of the program's: it stands where the program put the instruction.
pub unsafe fn on_fault(context: *mut c_void) {
    // SAFETY: the kernel's context of this signal.
    out_of_line::faulted(unsafe { &mut (*context.cast::<libc::ucontext_t>()).uc_mcontext.gregs });
}

const REGISTERS: [i32; ARGUMENTS] =
    [libc::REG_RDI, libc::REG_RSI, libc::REG_RDX, libc::REG_RCX, libc::REG_R8, libc::REG_R9];

/// A function is about to run, with its return address at `sp`.
unsafe fn called(patched: &mut Patched, me: ThreadId, function: usize, sp: usize, arguments: [u64; ARGUMENTS]) {
    // SAFETY: the program's own stack, and its text.
    unsafe {
        let (back, sp) = (*(sp as *const usize), sp + 8);
        patched.forget(me, sp);
        patched.forget_done(me);
        if patched.calls < CALLS && patched.watch(back, Watched::Return) {
            patched.call[patched.calls] = Call { thread: me, function, arguments, back, sp };
            patched.calls += 1;
        }
    }
}

/// A function may have returned to `back`: which call, with what value. Others may have come there by another way.
fn returned(patched: &mut Patched, me: ThreadId, back: usize, sp: usize, value: u64) -> Option<Call> {
    let calls = &patched.call[..patched.calls];
    let call = *calls.iter().find(|call| call.thread == me && call.back == back && call.sp == sp)?;
    patched.forget(me, sp);
    patched.note(call, value);
    Some(call)
}
