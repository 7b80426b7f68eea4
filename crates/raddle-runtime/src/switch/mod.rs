//! The switch: carries out a decision. Only this part sleeps and wakes.
//!
//! Two back-ends stand behind the same calls. [`os_threads`] hands a baton between OS threads. [`fiber`] runs all
//! threads on one OS thread: every pthread is really created, so that its control block, its thread-local storage and
//! its stack are libc's own; then its OS thread leaves, and the OS thread that remains borrows the identity by
//! loading registers, stack and FS base. Both give the same trace for the same seed. They differ in what the kernel
//! keeps for each OS thread, which the runtime keeps itself on fibers (ids, masks, alternate stacks, names, robust
//! lists).
//!
//! The third one is for parallel policies: at the [`gate`] threads come and go by themselves, and are only held where
//! the policy says so.

pub mod another_stack;
pub mod fiber;
pub mod gate;
pub mod identity;
pub mod os_threads;
pub mod own_stack;
mod placement;
pub mod thread_storage;
pub mod uncontrolled_call;

use core::sync::atomic::{AtomicBool, Ordering};

use raddle_core::ThreadId;
use raddle_protocol::control::switch;
use raddle_protocol::settings::flag;
use raddle_protocol::OsReason;

use crate::control::{self, baton};
use crate::os::sys;
use crate::{dispatch, points};

static FIBERS: AtomicBool = AtomicBool::new(false);

/// Whether threads are fibers.
#[inline(always)]
pub fn fibers() -> bool {
    FIBERS.load(Ordering::Relaxed)
}

/// Chooses the back-end: once, after everything else is prepared.
pub fn prepare() {
    let Some(block) = control::block() else { return };
    let wanted = block.settings.flags & flag::FIBERS != 0;
    let reason = if wanted { obstacle() } else { None };
    if let Some(reason) = reason {
        block.control.os_reason.store(reason as u32, Ordering::Relaxed);
    }
    let on = wanted && reason.is_none();
    FIBERS.store(on, Ordering::Relaxed);
    block.control.switch.store(if on { switch::FIBER } else { switch::OS }, Ordering::Relaxed);
}

/// What stands in the way of fibers, as far as that can be known before the run.
fn obstacle() -> Option<OsReason> {
    let obstacles = [
        (!sys::has_fsgsbase(), OsReason::NoFsgsbase),
        (!dispatch::available(), OsReason::NoDispatch),
        (!points::thread::knows_libc(), OsReason::UnknownLibc),
        (points::thread::sanitized(), OsReason::Sanitizer),
    ];
    obstacles.into_iter().find(|(there, _)| *there).map(|(_, reason)| reason)
}

/// Hands over to another thread and returns when it is this thread's turn again.
#[inline]
pub fn switch(me: ThreadId, next: ThreadId) {
    if fibers() {
        fiber::switch(me, next);
    } else {
        let (mine, theirs) = (baton(me), baton(next));
        theirs.give();
        mine.take();
    }
}
