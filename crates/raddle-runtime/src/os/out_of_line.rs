//! Executes the instruction below a breakpoint without removing the breakpoint, which other threads would run past
//! meanwhile: a branch is done by hand, and a copy of anything else in memory near the program, in a single step.

use core::ffi::c_int;
use core::sync::atomic::{AtomicUsize, Ordering};

use super::instruction::{Branch, BranchKind, Instruction, Registers, LONGEST};
use super::sys;
use crate::syscall;

/// Room for one copy.
const SLOT: usize = 16;
/// The most copies.
pub const SLOTS: usize = 1024;
/// Every function that can be named needs one, and so does every place that they return to.
const _: () = assert!(SLOTS >= 4 * raddle_protocol::settings::SYNC_FUNCTIONS);

/// How far from the program the copies may lie: a displacement of 32 bits must reach from there.
const NEAR: usize = 1 << 30;
/// Between two places that are tried.
const STRIDE: usize = 1 << 20;
const TRAP_FLAG: i64 = 0x100;

/// How the instruction at a place is executed.
#[derive(Clone, Copy)]
pub struct Copy {
    address: usize,
    how: How,
}

#[derive(Clone, Copy)]
enum How {
    ByHand(Branch),
    /// A copy at this address; whether it calls.
    There(usize, bool),
}

/// Where the copies start; 0 before there is room for them.
static ROOM: AtomicUsize = AtomicUsize::new(0);
/// How many there are.
static USED: AtomicUsize = AtomicUsize::new(0);

/// A thread that steps over an instruction, by its thread pointer, and the place.
struct Step {
    thread: AtomicUsize,
    address: AtomicUsize,
}

/// The most threads that step at the same moment.
const STEPS: usize = 256;
static STEP: [Step; STEPS] = [const { Step { thread: AtomicUsize::new(0), address: AtomicUsize::new(0) } }; STEPS];

/// Reads bytes of the process's memory, as far as there are any.
fn read(address: usize) -> [u8; LONGEST] {
    let mut bytes = [0; LONGEST];
    with_memory(|fd| {
        // SAFETY: the kernel writes into the array.
        unsafe { syscall!(libc::SYS_pread64, fd, bytes.as_mut_ptr(), LONGEST, address) };
    });
    bytes
}

/// Changes bytes of the program's text, whatever its protection.
///
/// # Safety
/// What is written is code that may stand there.
pub unsafe fn write(address: usize, bytes: &[u8]) {
    with_memory(|fd| {
        // SAFETY: the kernel copies the bytes; the page becomes the process's own.
        unsafe { syscall!(libc::SYS_pwrite64, fd, bytes.as_ptr(), bytes.len(), address) };
    });
}

fn with_memory(act: impl FnOnce(c_int)) {
    // SAFETY: a path ended by zero.
    unsafe {
        let fd = syscall!(sys::SYS_open, c"/proc/self/mem".as_ptr(), libc::O_RDWR | libc::O_CLOEXEC);
        act(fd as c_int);
        syscall!(libc::SYS_close, fd);
    }
}

/// Makes room for copies below an address, if there is none yet. Returns whether there is.
pub fn make_room(program: usize) -> bool {
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_FIXED_NOREPLACE;
    let rights = libc::PROT_READ | libc::PROT_EXEC;
    let places = (STRIDE..NEAR).step_by(STRIDE).filter_map(|below| program.checked_sub(below)).map(|at| at & !0xfff);
    for at in places {
        if ROOM.load(Ordering::Relaxed) != 0 {
            break;
        }
        // SAFETY: MAP_FIXED_NOREPLACE never replaces a mapping.
        let got = unsafe { syscall!(sys::SYS_mmap, at, SLOTS * SLOT, rights, flags, -1isize, 0) };
        if got as usize == at {
            ROOM.store(at, Ordering::Relaxed);
        }
    }
    ROOM.load(Ordering::Relaxed) != 0
}

/// Prepares to execute the instruction at an address, where no breakpoint stands yet. `None`: that is not possible.
pub fn prepare(address: usize) -> Option<Copy> {
    let mut bytes = read(address);
    let instruction = Instruction::read(&bytes)?;
    if let Instruction::Branch(branch) = instruction {
        return Some(Copy { address, how: How::ByHand(branch) });
    }
    let room = ROOM.load(Ordering::Relaxed);
    let free = USED.load(Ordering::Relaxed);
    if room == 0 || free == SLOTS {
        return None;
    }
    let there = room + free * SLOT;
    if let Instruction::Relative(at) | Instruction::CallThrough(at @ 1..) = instruction {
        let old = i32::from_le_bytes(bytes.get(at..at + 4)?.try_into().ok()?);
        let distance = i64::from(old) + address as i64 - there as i64;
        bytes[at..at + 4].copy_from_slice(&i32::try_from(distance).ok()?.to_le_bytes());
    }
    // SAFETY: a slot that no thread uses.
    unsafe { write(there, &bytes) };
    USED.store(free + 1, Ordering::Relaxed);
    Some(Copy { address, how: How::There(there, matches!(instruction, Instruction::CallThrough(_))) })
}

impl Copy {
    /// The place of the instruction.
    pub fn address(&self) -> usize {
        self.address
    }

    /// Executes the instruction, or lets the thread do so in a single step: see [`stepped`].
    ///
    /// # Safety
    /// The registers of the calling thread, as a signal has found them.
    pub unsafe fn execute(&self, registers: &mut [i64; 23]) {
        match self.how {
            How::ByHand(branch) => {
                // SAFETY: the caller's promise.
                unsafe { self.branch(branch, registers) };
            }
            How::There(there, calls) => {
                let me = sys::thread_pointer();
                let free =
                    |step: &&Step| step.thread.compare_exchange(0, me, Ordering::Relaxed, Ordering::Relaxed).is_ok();
                // With more threads than that, one waits until another has made its step.
                let step = loop {
                    if let Some(step) = STEP.iter().find(free) {
                        break step;
                    }
                };
                step.address.store(self.address << 1 | usize::from(calls), Ordering::Relaxed);
                registers[libc::REG_RIP as usize] = there as i64;
                registers[libc::REG_EFL as usize] |= TRAP_FLAG;
            }
        }
    }

    unsafe fn branch(&self, branch: Branch, registers: &mut [i64; 23]) {
        let [rip, rsp, rcx, flags] =
            [libc::REG_RIP, libc::REG_RSP, libc::REG_RCX, libc::REG_EFL].map(|register| register as usize);
        if branch.kind == BranchKind::Call {
            registers[rsp] -= 8;
            // SAFETY: the program's own stack, where the call would write.
            unsafe { *(registers[rsp] as *mut usize) = self.address + branch.length };
        }
        let mut changed =
            Registers { rip: self.address as u64, rcx: registers[rcx] as u64, flags: registers[flags] as u64 };
        branch.take(&mut changed);
        registers[rip] = changed.rip as i64;
        registers[rcx] = changed.rcx as i64;
    }
}

/// The step that the calling thread makes, which is over: the place, and whether its instruction calls.
fn take_step() -> Option<(usize, bool)> {
    let me = sys::thread_pointer();
    let step = STEP.iter().find(|step| step.thread.load(Ordering::Relaxed) == me)?;
    let address = step.address.load(Ordering::Relaxed);
    step.thread.store(0, Ordering::Relaxed);
    Some((address >> 1, address & 1 == 1))
}

/// Whether an address lies in the copy of an instruction, or right behind it; if so, how far from its start.
fn inside(address: usize) -> Option<usize> {
    let from = address.wrapping_sub(ROOM.load(Ordering::Relaxed));
    // An instruction is shorter than a slot.
    (ROOM.load(Ordering::Relaxed) != 0 && from < SLOTS * SLOT).then_some(from % SLOT)
}

/// A thread has trapped: if it was in a single step over a copy, it goes on behind the original.
///
/// # Safety
/// The registers of the calling thread, as the signal has found them.
pub unsafe fn stepped(registers: &mut [i64; 23]) -> bool {
    let (rip, flags) = (libc::REG_RIP as usize, libc::REG_EFL as usize);
    if registers[flags] & TRAP_FLAG == 0 {
        return false;
    }
    let Some((address, calls)) = take_step() else { return false };
    registers[flags] &= !TRAP_FLAG;
    if let Some(length) = inside(registers[rip] as usize) {
        registers[rip] = (address + length) as i64;
    }
    if calls {
        // SAFETY: the return address that the copy has just pushed.
        unsafe {
            let back = registers[libc::REG_RSP as usize] as *mut usize;
            if let Some(length) = inside(*back) {
                *back = address + length;
            }
        }
    }
    true
}

/// A thread has faulted: if it did so in a copy, it stands at the original, for all that look at it.
pub fn faulted(registers: &mut [i64; 23]) {
    let (rip, flags) = (libc::REG_RIP as usize, libc::REG_EFL as usize);
    if inside(registers[rip] as usize).is_none() {
        return;
    }
    if let Some((address, _)) = take_step() {
        registers[rip] = address as i64;
        registers[flags] &= !TRAP_FLAG;
    }
}
