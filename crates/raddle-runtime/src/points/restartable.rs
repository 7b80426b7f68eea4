//! Restartable sequences, rseq(2): the kernel writes into an area of each thread which processor the thread is on, and aborts
//! a sequence that is interrupted by another thread on that processor.
//!
//! The processor differs from run to run. So in a serial run the kernel does not know the areas, and they say what
//! [`processors`] says. Threads are not switched inside a sequence, so there is nothing to abort: a sequence makes no
//! calls, and the timer that interrupts code without points leaves it alone. In parallel runs the areas are the kernel's.

use core::arch::global_asm;
use core::ffi::c_int;

use libc::EINVAL;
use raddle_core::ThreadId;
use raddle_protocol::settings::flag;

use super::processors;
use crate::control::{self, parallel, scheduler};
use crate::os::sys;
use crate::switch::fibers;
use crate::syscall;

/// struct rseq, as far as every kernel has it.
#[repr(C)]
struct Area {
    processor_at_start: u32,
    /// Negative when the area is not registered.
    processor: i32,
    sequence: *const Sequence,
    flags: u32,
    node: u32,
    concurrency_id: u32,
}

#[repr(C)]
struct Sequence {
    version: u32,
    flags: u32,
    start: usize,
    length: usize,
    abort: usize,
}

const UNREGISTER: c_int = 1;
/// What libc registers with: the four bytes before an address at which sequences may be aborted.
const SIGNATURE: u32 = 0x5305_3053;
/// The least length of an area, and its alignment.
const LENGTH: u32 = 32;

/// The area of a thread that is registered.
pub(super) fn adopt(me: ThreadId) {
    let is_parallel = control::block().is_some_and(|block| block.settings.flags & flag::PARALLEL != 0);
    let area = area_of_libc(sys::thread_pointer());
    // SAFETY: the area is in libc's control block of the calling thread, which holds the baton.
    unsafe {
        if is_parallel || area.is_null() || (*area).processor < 0 {
            return;
        }
        // Only the OS thread of an identity had registered it, and that one is gone.
        let known_to_kernel = !fibers() || me == ThreadId::MAIN;
        if !known_to_kernel || tell_kernel(area, UNREGISTER) {
            scheduler().thread(me).rseq = area as usize;
            fill(area, me);
        }
    }
}

/// The main thread of a run is ready, and the rest of its life starts as natively.
pub fn adopt_main() {
    adopt(ThreadId::MAIN);
}

/// In a forked child: its thread is the kernel's business again.
pub(super) fn give_back() {
    let area = area_of_libc(sys::thread_pointer());
    if !area.is_null() {
        tell_kernel(area, 0);
    }
}

fn tell_kernel(area: *mut Area, flags: c_int) -> bool {
    let ours = size_of_libc().next_multiple_of(LENGTH);
    // A newer libc may have registered more than the least length.
    // SAFETY: the area is libc's, and as long as it says.
    [LENGTH, ours].iter().any(|length| unsafe { syscall!(libc::SYS_rseq, area, *length, flags, SIGNATURE) } == 0)
}

unsafe fn fill(area: *mut Area, me: ThreadId) {
    let processor = processors::of(me);
    // SAFETY: the caller's area.
    unsafe {
        (*area).processor_at_start = processor;
        (*area).processor = processor as i32;
        (*area).node = 0;
        (*area).concurrency_id = processor;
    }
}

/// A thread may run on other processors from now on.
pub(super) fn moved(t: ThreadId) {
    // SAFETY: the caller holds the baton; an area that is registered lives as long as its thread.
    unsafe {
        let area = scheduler().threads[t.index()].rseq as *mut Area;
        if !area.is_null() && !parallel() {
            fill(area, t);
        }
    }
}

/// rseq(2); `None`: it is to be made as it is.
pub(super) unsafe fn register(me: ThreadId, area: usize, length: u32, flags: c_int) -> Option<isize> {
    if parallel() {
        return None;
    }
    let refused = Some(-(EINVAL as isize));
    // SAFETY: the caller's area; the baton.
    unsafe {
        let thread = scheduler().thread(me);
        if flags == UNREGISTER {
            if area == 0 || area != thread.rseq {
                return refused;
            }
            thread.rseq = 0;
            // "Uninitialised".
            (*(area as *mut Area)).processor = -1;
            return Some(0);
        }
        if flags != 0 || !area.is_multiple_of(LENGTH as usize) || length < LENGTH {
            return refused;
        }
        if thread.rseq != 0 {
            return if thread.rseq == area { Some(-(libc::EBUSY as isize)) } else { refused };
        }
        thread.rseq = area;
        fill(area as *mut Area, me);
        Some(0)
    }
}

/// Whether an instruction of a thread is in the middle of a sequence.
pub fn is_inside(me: ThreadId, instruction: usize) -> bool {
    // SAFETY: the thread's own area and its description of a sequence; the baton.
    unsafe {
        let area = scheduler().threads[me.index()].rseq as *const Area;
        let sequence = area.as_ref().and_then(|area| area.sequence.as_ref());
        sequence.is_some_and(|sequence| instruction.wrapping_sub(sequence.start) < sequence.length)
    }
}

/// libc's area for the thread with this thread pointer; null when libc has none.
fn area_of_libc(pointer: usize) -> *mut Area {
    // SAFETY: the loader has filled in the word.
    unsafe {
        let offset = raddle_rseq_offset() as *const isize;
        match offset.is_null() || size_of_libc() == 0 {
            true => core::ptr::null_mut(),
            false => pointer.wrapping_add_signed(*offset) as *mut Area,
        }
    }
}

fn size_of_libc() -> u32 {
    // SAFETY: the loader has filled in the word.
    unsafe { (raddle_rseq_size() as *const u32).as_ref().copied().unwrap_or(0) }
}

// glibc says since 2.35 where the area is; weak, because an older one does not.
global_asm!(
    ".weak __rseq_offset",
    ".weak __rseq_size",
    ".pushsection raddle_run,\"ax\",@progbits",
    ".globl raddle_rseq_offset",
    ".hidden raddle_rseq_offset",
    ".type raddle_rseq_offset,@function",
    "raddle_rseq_offset:",
    "mov rax, qword ptr [rip + __rseq_offset@GOTPCREL]",
    "ret",
    ".globl raddle_rseq_size",
    ".hidden raddle_rseq_size",
    ".type raddle_rseq_size,@function",
    "raddle_rseq_size:",
    "mov rax, qword ptr [rip + __rseq_size@GOTPCREL]",
    "ret",
    ".popsection",
);

extern "C" {
    fn raddle_rseq_offset() -> usize;
    fn raddle_rseq_size() -> usize;
}
