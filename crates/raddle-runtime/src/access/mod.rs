//! Instrumented programs: the compiler's hooks before accesses to memory.
//!
//! A program that was compiled with hooks has a table of them (see `raddle_protocol::hooks`) and passes it to
//! us before its main. What is put into the table depends on the level of points: a hook that has nothing
//! to do stays the program's own, which is a return.

mod atomic;
mod function;
pub mod lease;
pub mod lock_words;
mod plain;
pub mod racy_places;
pub mod spin_loop;

use core::sync::atomic::{AtomicU32, Ordering};

use raddle_protocol::hooks::{Hooks, VERSION};
use raddle_protocol::settings::flag;
use raddle_protocol::Points;

use crate::control::{self, Mode};
use crate::os::sys;
use crate::process::start;
use crate::race;
use lock_words::LockWords;
use racy_places::RacyPlaceSet;
use spin_loop::SpinLoops;

/// What is known of the accesses of the program. Valid when zeroed.
#[repr(C)]
pub struct Access {
    /// The places that are known to race.
    pub racy_places: RacyPlaceSet,
    /// What threads have read again and again.
    pub spin_loops: SpinLoops,
    /// Who took which lock, where that is asked.
    pub lock_words: LockWords,
}

/// What the connected files make visible.
static OFFERS: AtomicU32 = AtomicU32::new(0);

/// What instrumented files of this program make visible: see `raddle_protocol::hooks::offers`.
pub fn offers() -> u32 {
    OFFERS.load(Ordering::Relaxed)
}

/// An instrumented file of the program registers its table of hooks, in a constructor.
///
/// # Safety
/// `hooks` lies in the program's data and is not used by another thread meanwhile.
#[cfg_attr(not(test), no_mangle)]
pub unsafe extern "C" fn raddle_runtime_connect(hooks: *mut Hooks) {
    start::prepare();
    let Some(block) = control::block() else { return };
    // SAFETY: the two sizes come first in every version.
    let hooks = unsafe { &mut *hooks };
    if hooks.version != VERSION || hooks.size as usize != size_of::<Hooks>() {
        sys::complain("raddle: the program was instrumented by another version of raddle; its accesses are not seen\n");
        return;
    }
    OFFERS.fetch_or(hooks.offers, Ordering::Relaxed);
    let level = block.settings.run.points;
    let detects = block.settings.flags & flag::DETECT_RACES != 0;
    if level >= Points::Atomic || detects {
        atomic::fill(hooks);
    }
    plain::fill(hooks, level, detects);
    if detects {
        function::fill(hooks);
        race::reserve();
    }
    // A library that is loaded later may contain known places.
    if control::mode() == Mode::Controlled {
        let _leave = control::current().map(|_| control::LeaveOnDrop::armed());
        // SAFETY: the thread that loads the library holds the baton.
        unsafe {
            control::scheduler().instrumented = true;
            control::scheduler().results().offers |= hooks.offers;
        }
        racy_places::load(&block.racy_places);
    }
}

/// A value of zeros, too large for the stack of a test.
///
/// # Safety
/// Zeros must be a valid `T`.
#[cfg(test)]
unsafe fn zeroed<T>() -> Box<T> {
    let layout = std::alloc::Layout::new::<T>();
    // SAFETY: the layout is that of `T`, and the memory belongs to nobody else.
    unsafe {
        let memory = std::alloc::alloc_zeroed(layout);
        assert!(!memory.is_null());
        Box::from_raw(memory.cast())
    }
}
