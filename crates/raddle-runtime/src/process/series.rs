//! A series of runs by the fork server: good runs are counted here, without telling the
//! command line, which would cost a tenth of the run.

use core::ffi::c_int;
use core::sync::atomic::Ordering;

use raddle_protocol::results::SUMMARIES;
use raddle_protocol::{Block, Outcome, Results, Summary};

use crate::os::sys;
use crate::{race, syscall};

/// Makes the block ready for the next run of the series.
///
/// # Safety
/// No run is in progress.
#[link_section = "raddle_run"]
pub unsafe fn prepare(block: &Block, run: u64) {
    let block = block as *const Block as *mut Block;
    // SAFETY: the command line waits for the series; zero bytes are valid results.
    unsafe {
        (*block).settings.number = run;
        (*block).settings.seed = (*block).settings.run_seed(run);
        (&raw mut (*block).results).cast::<u8>().write_bytes(0, core::mem::offset_of!(Results, message));
        (*block).control.preemptions.store(0, Ordering::Relaxed);
    }
}

/// Notes a run that ended well. Returns whether it did, as far as can be seen here.
///
/// # Safety
/// The run is over.
#[link_section = "raddle_run"]
pub unsafe fn count_good_run(block: &Block, scratch: i32, index: u64, status: c_int) -> bool {
    let results = &block.results;
    let good = status == block.settings.expect_exit << 8
        && results.outcome == Outcome::Exited as u32
        && block.control.strays.load(Ordering::Relaxed) == 0
        && (index as usize) < SUMMARIES
        && !race::has_reportable(block)
        && is_empty(scratch);
    if !good {
        return false;
    }
    let summary = Summary::from(results);
    let block = block as *const Block as *mut Block;
    // SAFETY: the command line reads the summaries after the series.
    unsafe { (*block).summaries[index as usize] = summary };
    forget_output();
    // SAFETY: an atomic.
    unsafe { (*block).control.completed.store(index as u32 + 1, Ordering::Release) };
    true
}

/// Drops what a good run has printed.
fn forget_output() {
    for fd in [1, 2] {
        // SAFETY: the kernel fills the structure.
        unsafe {
            let mut stat: libc::stat = core::mem::zeroed();
            if syscall!(libc::SYS_fstat, fd, &mut stat as *mut _) == 0 && stat.st_size > 0 {
                syscall!(libc::SYS_ftruncate, fd, 0);
            }
        }
    }
}

/// The scratch directory of a series, kept open: to open it after each run would cost as much as the
/// rest of what the server does then. -1: there is none.
///
/// # Safety
/// The block is mapped.
pub unsafe fn open_scratch(block: &Block) -> i32 {
    let flags = libc::O_RDONLY | libc::O_DIRECTORY | libc::O_CLOEXEC;
    // SAFETY: a path ended by zero.
    unsafe { syscall!(sys::SYS_open, block.settings.scratch.as_ptr(), flags) as i32 }
}

/// Whether a directory has no entries except itself and its parent.
fn is_empty(directory: i32) -> bool {
    let mut buffer = [0u8; 256];
    // SAFETY: a buffer of the length given.
    unsafe {
        // Two records: 24 bytes each, with their names.
        syscall!(libc::SYS_lseek, directory, 0, libc::SEEK_SET) == 0
            && syscall!(libc::SYS_getdents64, directory, buffer.as_mut_ptr(), buffer.len()) == 48
    }
}
