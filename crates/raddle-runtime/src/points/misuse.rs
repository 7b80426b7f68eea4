//! Use of an object that is none: it was destroyed, or its memory was overwritten. That is undefined by POSIX and
//! always the program's mistake, so it ends the run as a finding.
//!
//! Whether an object is destroyed is written in its own memory, by glibc (mutexes, conditions, barriers) or by us
//! (the others, in words that glibc leaves alone). So memory that is initialised again, zeroed or reused for something
//! else is never taken for a destroyed object, whether the program told libc or not. Here is only kept who destroyed
//! what, for the report.

use core::ffi::c_int;
use core::fmt;

use raddle_core::{EventKind, ThreadId};
use raddle_protocol::Outcome;

use crate::control::{current, point, scheduler, LeaveOnDrop};
use crate::heap;
use crate::model::destroyed::Entry;
use crate::model::mutex::Damage;
use crate::process::failure;

/// Destroys an object in a call that returns to `place`. The given function does it and returns 0 if it did; it gets the
/// calling thread if that is under control.
pub(super) unsafe fn destroy(object: usize, place: usize, destroy: impl FnOnce(Option<ThreadId>) -> c_int) -> c_int {
    let Some(me) = current() else { return destroy(None) };
    let _leave = LeaveOnDrop::armed();
    point(me, EventKind::Destroy, object);
    let result = destroy(Some(me));
    if result == 0 {
        // SAFETY: `me` holds the baton.
        let s = unsafe { scheduler() };
        s.destroyed.note(Entry { object, by: me, place });
        s.changed(object);
    }
    result
}

/// Whether an object at this address was destroyed, perhaps to be another one since.
pub(super) fn was_destroyed(object: usize) -> bool {
    // SAFETY: the caller holds the baton.
    unsafe { scheduler() }.destroyed.find(object).is_some()
}

/// What is wrong with an object that a thread uses.
struct Fault {
    damage: Damage,
    /// What it is said to be.
    what: &'static str,
    kind: EventKind,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Fault { damage, what, kind } = self;
        match damage {
            Damage::Destroyed => write!(f, "use of a destroyed {what} ({})", kind.name()),
            Damage::Overwritten => write!(f, "use of memory as a {what} ({}): it holds something else", kind.name()),
        }
    }
}

/// Ends the run: a thread uses an object that is none.
#[cold]
pub fn report(me: ThreadId, object: usize, what: &'static str, kind: EventKind, damage: Damage) -> ! {
    // SAFETY: the caller holds the baton.
    let s = unsafe { scheduler() };
    let destroyed = s.destroyed.find(object);
    s.set_pending(me, raddle_core::Event::new(kind, object));
    let results = s.results();
    results.thread = u32::from(me.0);
    results.address = object as u64;
    if let Some(entry) = destroyed {
        results.origin_thread = u32::from(entry.by.0) + 1;
        results.origin_place = entry.place as u64;
    } else {
        // SAFETY: as above.
        unsafe { heap::report::describe_held(results, object) };
    }
    failure::write_message(results, format_args!("{}", Fault { damage, what, kind }));
    s.policy_run_ended();
    failure::stop(s, Outcome::Misuse)
}

/// A function that destroys an object: it is called with where the call returns to as a second argument, and does so
/// whether the thread is under control or not.
macro_rules! destroys {
    ($($name:ident($object:ty) => $body:ident;)*) => {
        $(
            /// Destroys an object.
            #[cfg_attr(not(test), no_mangle)]
            #[unsafe(naked)]
            pub unsafe extern "C-unwind" fn $name(_object: *mut $object) -> core::ffi::c_int {
                core::arch::naked_asm!("mov rsi, [rsp]", "jmp {}", sym $body)
            }
        )*
    };
}
pub(super) use destroys;
