//! Calls of functions that the user named (`--sync-function`, NeedlePoint's user-specified
//! synchronization): a breakpoint at the function's first byte and, during a call, one where it
//! returns to.
//!
//! At a breakpoint the thread passes a schedule point; then the original byte is put back, one
//! instruction is stepped over with the trap flag, and the breakpoint returns. No other thread runs in
//! between, because the thread holds the baton and a single step is not a schedule point. The ABI tells
//! the first arguments at the one place and the value at the other.

use core::cell::UnsafeCell;
use core::ffi::c_void;

use raddle_core::{EventKind, ThreadId};
use raddle_protocol::settings::SYNC_FUNCTIONS;
use raddle_protocol::threads::ARGUMENTS;
use raddle_protocol::NamedCall;

use crate::control::{current, point, scheduler, LeaveOnDrop};
use crate::os::sys;
use crate::syscall;

const BREAKPOINT: u8 = 0xcc;
const TRAP_FLAG: i64 = 0x100;

/// The most calls in progress; of others, the ends are not seen.
const CALLS: usize = 256;

/// A place with a breakpoint.
#[derive(Clone, Copy)]
struct Site {
    address: usize,
    byte: u8,
    /// Calls that return to it; a function's first byte stays for ever.
    users: usize,
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
    site: [Site; SYNC_FUNCTIONS + CALLS],
    sites: usize,
    call: [Call; CALLS],
    calls: usize,
    /// The last call of each thread that has returned, if the thread has made none since. Of too many, the
    /// oldest are forgotten.
    done: [(Call, u64); CALLS],
    dones: usize,
    /// The place whose instruction is being stepped over; 0 for none.
    stepping: usize,
}

struct Cell(UnsafeCell<Patched>);

// SAFETY: touched by the holder of the baton only.
unsafe impl Sync for Cell {}

const NO_SITE: Site = Site { address: 0, byte: 0, users: 0 };
const NO_CALL: Call = Call { thread: ThreadId::MAIN, function: 0, arguments: [0; ARGUMENTS], back: 0, sp: 0 };

static PATCHED: Cell = Cell(UnsafeCell::new(Patched {
    site: [NO_SITE; SYNC_FUNCTIONS + CALLS],
    sites: 0,
    call: [NO_CALL; CALLS],
    calls: 0,
    done: [(NO_CALL, 0); CALLS],
    dones: 0,
    stepping: 0,
}));

const FOR_EVER: usize = 1 << 32;

/// Sets the breakpoints of this run. Addresses come from the command line, which reads the
/// program's symbols; they count from where the program was loaded.
#[inline(always)]
pub fn start_run() {
    // SAFETY: there is one thread.
    let wanted = unsafe { scheduler() }.settings().sync_offsets[0] != 0;
    // They are places in the program that raddle has started, not in one that took its place.
    if wanted && !crate::control::is_successor() {
        set_breakpoints();
    }
}

#[cold]
#[inline(never)]
fn set_breakpoints() {
    // SAFETY: there is one thread.
    unsafe {
        let offsets = scheduler().settings().sync_offsets;
        let patched = &mut *PATCHED.0.get();
        let base = crate::dispatch::text::program_base();
        (patched.sites, patched.calls, patched.dones) = (0, 0, 0);
        for offset in offsets.into_iter().filter(|&offset| offset != 0) {
            patched.watch(base + offset as usize, FOR_EVER);
        }
    }
}

impl Patched {
    fn find(&mut self, address: usize) -> Option<&mut Site> {
        self.site[..self.sites].iter_mut().find(|site| site.address == address)
    }

    /// Sets a breakpoint, or notes another user of one that is there.
    unsafe fn watch(&mut self, address: usize, users: usize) {
        if let Some(site) = self.find(address) {
            site.users += users;
        } else if self.sites < self.site.len() {
            // SAFETY: the program's text.
            unsafe {
                self.site[self.sites] = Site { address, byte: *(address as *const u8), users };
                self.sites += 1;
                write_byte(address, BREAKPOINT);
            }
        }
    }

    /// A call no longer returns to a place.
    unsafe fn leave(&mut self, address: usize) {
        let Some(site) = self.find(address) else { return };
        site.users -= 1;
        if site.users == 0 {
            let byte = site.byte;
            let last = self.site[self.sites - 1];
            if let Some(site) = self.find(address) {
                *site = last;
            }
            self.sites -= 1;
            // SAFETY: the program's text.
            unsafe { write_byte(address, byte) };
        }
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
    unsafe fn forget(&mut self, thread: ThreadId, sp: usize) {
        let mut i = 0;
        while i < self.calls {
            let call = self.call[i];
            if call.thread == thread && call.sp <= sp {
                self.calls -= 1;
                self.call.copy_within(i + 1..self.calls + 1, i);
                // SAFETY: the caller's promise.
                unsafe { self.leave(call.back) };
            } else {
                i += 1;
            }
        }
    }
}

/// The innermost call of a thread that has not returned.
pub fn of(thread: ThreadId) -> NamedCall {
    // SAFETY: the caller holds the baton.
    let patched = unsafe { &*PATCHED.0.get() };
    let call = patched.call[..patched.calls].iter().rfind(|call| call.thread == thread);
    call.map_or(NamedCall::default(), |call| call.named(0))
}

/// The call that has returned to a thread last, if it has made none since.
pub fn returned_to(thread: ThreadId) -> NamedCall {
    // SAFETY: the caller holds the baton.
    let patched = unsafe { &*PATCHED.0.get() };
    let done = patched.done[..patched.dones].iter().find(|(call, _)| call.thread == thread);
    done.map_or(NamedCall::default(), |(call, value)| call.named(*value))
}

impl Call {
    fn named(&self, value: u64) -> NamedCall {
        let function = (self.function - crate::dispatch::text::program_base()) as u64;
        NamedCall { function, arguments: self.arguments, value }
    }
}

/// Changes a byte of the program's text, whatever its protection.
unsafe fn write_byte(address: usize, byte: u8) {
    // SAFETY: the kernel copies one byte; the page becomes the process's own.
    unsafe {
        let fd = syscall!(sys::SYS_open, c"/proc/self/mem".as_ptr(), libc::O_RDWR | libc::O_CLOEXEC);
        syscall!(libc::SYS_pwrite64, fd, &byte as *const u8, 1, address);
        syscall!(libc::SYS_close, fd);
    }
}

/// SIGTRAP. Returns whether it was one of our breakpoints or steps.
pub unsafe fn on_trap(context: *mut c_void) -> bool {
    // SAFETY: the kernel's context of this signal; the thread that traps holds the baton. The books are taken
    // anew after the point, where others may have changed them.
    unsafe {
        let registers = &mut (*context.cast::<libc::ucontext_t>()).uc_mcontext.gregs;
        let (rip, flags) = (libc::REG_RIP as usize, libc::REG_EFL as usize);
        let patched = PATCHED.0.get();
        if (*patched).stepping != 0 && registers[flags] & TRAP_FLAG != 0 {
            let address = core::mem::take(&mut (*patched).stepping);
            // The last call that returned here has taken the breakpoint with it.
            if (*patched).find(address).is_some() {
                write_byte(address, BREAKPOINT);
            }
            registers[flags] &= !TRAP_FLAG;
            return true;
        }
        let address = registers[rip] as usize - 1;
        let Some(site) = (*patched).find(address) else { return false };
        let (byte, is_function) = (site.byte, site.users >= FOR_EVER);
        if let Some(me) = current() {
            let _leave = LeaveOnDrop::armed();
            let sp = registers[libc::REG_RSP as usize] as usize;
            if is_function {
                point(me, EventKind::Call, address);
                let arguments = REGISTERS.map(|register| registers[register as usize] as u64);
                called(me, address, sp, arguments);
            } else if let Some(call) = returned(me, address, sp) {
                (*patched).note(call, registers[libc::REG_RAX as usize] as u64);
                point(me, EventKind::Return, call.function);
            }
        }
        write_byte(address, byte);
        (*patched).stepping = address;
        registers[rip] = address as i64;
        registers[flags] |= TRAP_FLAG;
        true
    }
}

const REGISTERS: [i32; ARGUMENTS] =
    [libc::REG_RDI, libc::REG_RSI, libc::REG_RDX, libc::REG_RCX, libc::REG_R8, libc::REG_R9];

/// A function is about to run, with its return address at `sp`.
unsafe fn called(me: ThreadId, function: usize, sp: usize, arguments: [u64; ARGUMENTS]) {
    // SAFETY: the caller holds the baton; the program's own stack.
    unsafe {
        let patched = &mut *PATCHED.0.get();
        let (back, sp) = (*(sp as *const usize), sp + 8);
        patched.forget(me, sp);
        patched.forget_done(me);
        if patched.calls < CALLS {
            patched.call[patched.calls] = Call { thread: me, function, arguments, back, sp };
            patched.calls += 1;
            patched.watch(back, 1);
        }
    }
}

/// A function may have returned to `back`: which call. Others may have come there by another way.
unsafe fn returned(me: ThreadId, back: usize, sp: usize) -> Option<Call> {
    // SAFETY: the caller holds the baton.
    unsafe {
        let patched = &mut *PATCHED.0.get();
        let calls = &patched.call[..patched.calls];
        let call = *calls.iter().find(|call| call.thread == me && call.back == back && call.sp == sp)?;
        patched.forget(me, sp);
        Some(call)
    }
}
