//! Calls of functions that the user named (`--sync-function`, NeedlePoint's user-specified
//! synchronization): a breakpoint at the function's first byte.
//!
//! At the breakpoint the thread passes a schedule point; then the original byte is put back, one
//! instruction is stepped over with the trap flag, and the breakpoint returns. Nobody else runs in
//! between, because the thread holds the baton and a single step is no schedule point.

use core::cell::UnsafeCell;
use core::ffi::c_void;

use raddle_core::block::SYNC_FUNCTIONS;
use raddle_core::EventKind;

use crate::control::{current, point, scheduler};
use crate::{sys, syscall};

const BREAKPOINT: u8 = 0xcc;
const TRAP_FLAG: i64 = 0x100;

/// The functions and their first bytes.
struct Patched {
    address: [usize; SYNC_FUNCTIONS],
    byte: [u8; SYNC_FUNCTIONS],
    count: usize,
    /// The function whose first instruction is being stepped over, plus one.
    stepping: usize,
}

struct Cell(UnsafeCell<Patched>);

// SAFETY: touched by the holder of the baton only.
unsafe impl Sync for Cell {}

static PATCHED: Cell =
    Cell(UnsafeCell::new(Patched { address: [0; SYNC_FUNCTIONS], byte: [0; SYNC_FUNCTIONS], count: 0, stepping: 0 }));

/// Sets the breakpoints of this run. Addresses come from the command line, which reads the
/// program's symbols; they count from where the program was loaded.
#[link_section = "raddle_run"]
pub fn start_run() {
    // SAFETY: there is one thread.
    unsafe {
        let patched = &mut *PATCHED.0.get();
        let offsets = &scheduler().settings().sync_offsets;
        let base = crate::dispatch::program_base();
        if patched.count != 0 {
            patched.count = 0;
        }
        for &offset in offsets.iter().filter(|&&offset| offset != 0) {
            let address = base + offset as usize;
            patched.address[patched.count] = address;
            patched.byte[patched.count] = *(address as *const u8);
            patched.count += 1;
            write_byte(address, BREAKPOINT);
        }
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

/// SIGTRAP: says whether it was one of our breakpoints or steps.
pub unsafe fn on_trap(context: *mut c_void) -> bool {
    // SAFETY: the kernel's context of this signal; the thread that traps holds the baton.
    unsafe {
        let registers = &mut (*context.cast::<libc::ucontext_t>()).uc_mcontext.gregs;
        let (rip, flags) = (libc::REG_RIP as usize, libc::REG_EFL as usize);
        let patched = PATCHED.0.get();
        if (*patched).stepping != 0 && registers[flags] & TRAP_FLAG != 0 {
            let i = (*patched).stepping - 1;
            (*patched).stepping = 0;
            write_byte((*patched).address[i], BREAKPOINT);
            registers[flags] &= !TRAP_FLAG;
            return true;
        }
        let address = registers[rip] as usize - 1;
        let Some(i) = (0..(*patched).count).find(|&i| (*patched).address[i] == address) else { return false };
        if let Some(me) = current() {
            point(me, EventKind::Call, address);
        }
        write_byte(address, (*patched).byte[i]);
        (*patched).stepping = i + 1;
        registers[rip] = address as i64;
        registers[flags] |= TRAP_FLAG;
        true
    }
}
