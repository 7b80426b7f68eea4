//! The entry and exit of functions, and the program's own annotations of order. Called only while races
//! are looked for: they keep a stack of functions for each thread, which is cheaper than unwinding.

use core::arch::naked_asm;
use core::ffi::c_void;

use raddle_protocol::hooks::Hooks;

use crate::control::{current, scheduler, LeaveOnDrop};
use crate::race;

/// Puts the hooks into the table.
pub fn fill(hooks: &mut Hooks) {
    hooks.enter = enter;
    hooks.leave = leave;
    hooks.acquire = acquire;
    hooks.release = release;
}

/// Adds the caller's stack pointer as the second argument: functions that are left by longjmp are found by
/// it.
#[unsafe(naked)]
unsafe extern "C-unwind" fn enter(pc: usize) {
    naked_asm!("lea rsi, [rsp + 8]", "jmp {}", sym entered)
}

/// As [`enter`], as the only argument.
#[unsafe(naked)]
unsafe extern "C-unwind" fn leave() {
    naked_asm!("lea rdi, [rsp + 8]", "jmp {}", sym left)
}

unsafe extern "C-unwind" fn entered(pc: usize, sp: usize) {
    if let Some(me) = current() {
        let _leave = LeaveOnDrop::armed();
        // SAFETY: `me` holds the baton; with this table, races are looked for.
        unsafe { race::enter(me, pc, sp) };
    }
}

unsafe extern "C-unwind" fn left(sp: usize) {
    if let Some(me) = current() {
        let _leave = LeaveOnDrop::armed();
        // SAFETY: as above.
        unsafe { race::leave(me, sp) };
    }
}

unsafe extern "C-unwind" fn acquire(address: *mut c_void) {
    if let Some(me) = current() {
        let _leave = LeaveOnDrop::armed();
        // SAFETY: as above.
        unsafe { race::acquire(me, address as usize) };
    }
}

unsafe extern "C-unwind" fn release(address: *mut c_void) {
    if let Some(me) = current() {
        let _leave = LeaveOnDrop::armed();
        // SAFETY: as above.
        unsafe {
            if scheduler().detects {
                race::release(me, address as usize);
            }
        }
    }
}
