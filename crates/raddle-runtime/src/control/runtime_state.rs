//! The state of the runtime, in memory of its own at a fixed address.

use raddle_core::{Event, ThreadId};
use raddle_protocol::block::ADDRESS;

use super::block;
use crate::access::Access;
use crate::heap::freed::Freed;
use crate::model::descriptor::ClosedDescriptors;
use crate::model::requests::Requests;
use crate::os::sys;
use crate::points::callback::Calls;
use crate::points::queue_notify::Registrations;
use crate::points::thread_keys::Destructors;
use crate::process::policies;
use crate::race::Detector;
use crate::scheduler::fairness::Fair;
use crate::scheduler::names::Names;
use crate::scheduler::thread::Thread;
use crate::scheduler::Scheduler;
use crate::signals::mailbox::Mailbox;
use crate::signals::timers::Timers;
use crate::signals::Signals;
use crate::switch;
use crate::switch::gate::Gate;
use crate::switch::os_threads::Baton;
use crate::switch::thread_storage::Segments;

/// Where the pooled identities end and the policy starts: in the middle of a page, because every run touches
/// the end of the one and the start of the other. Away from the target's addresses, see [`ADDRESS`].
pub const POLICY_ADDRESS: usize = 0x2000_0020_0000 + PAGE / 2;
/// Where the runtime's memory starts. All of it is one mapping, because a fork pays for each.
const FIRST_ADDRESS: usize = (POLICY_ADDRESS - switch::identity::SIZE) / PAGE * PAGE;
/// Where the state lives. What every run touches of it lies in the two megabytes that the policy starts in,
/// so that there is one page table for all.
const STATE_ADDRESS: usize = (POLICY_ADDRESS + policies::STATE_SIZE).next_multiple_of(PAGE);
/// Where the runtime's own signal stacks live.
pub const STACKS_ADDRESS: usize = (STATE_ADDRESS + size_of::<State>()).next_multiple_of(PAGE);
const END_ADDRESS: usize = STACKS_ADDRESS + crate::signals::alternate::TOTAL;

const PAGE: usize = 4096;
const _: () = assert!(END_ADDRESS <= ADDRESS, "the block follows");

/// Whether two addresses lie on one page.
const fn same_page(a: usize, b: usize) -> bool {
    a / PAGE == b / PAGE
}

/// A run with this many threads touches few pages.
const FEW: usize = 8;
const _: () = {
    use core::mem::offset_of;
    let scheduler = STATE_ADDRESS + offset_of!(State, scheduler);
    let links = scheduler + offset_of!(Scheduler, waiters) + crate::model::waiters::small(FEW);
    assert!(same_page(scheduler, links - 1));
    let pending = scheduler + offset_of!(Scheduler, pending);
    assert!(same_page(pending - crate::scheduler::thread_pointers::SMALL, pending + FEW * size_of::<Event>() - 1));
    let threads = scheduler + offset_of!(Scheduler, threads);
    assert!(same_page(threads, threads + FEW * size_of::<Thread>() - 1));
    assert!(same_page(POLICY_ADDRESS - switch::identity::small(FEW), POLICY_ADDRESS));
    assert!(threads - POLICY_ADDRESS / LARGE_PAGE * LARGE_PAGE < LARGE_PAGE);
};
/// What one page table maps.
const LARGE_PAGE: usize = 2 << 20;

/// Everything that the runtime knows, except for a few words. Valid when zeroed. What is large is not static:
/// the words that are fill less than a page, which a run touches anyway.
#[repr(C)]
pub struct State {
    pub signals: Signals,
    pub scheduler: Scheduler,
    /// Descriptors that only this process can feed: see `points::descriptor`.
    pub closed_descriptors: ClosedDescriptors,
    destructors: Destructors,
    /// Thread-local storage of all threads.
    pub segments: Segments,
    mailbox: Mailbox,
    pub timers: Timers,
    /// Calls that threads of their own are to make.
    pub calls: Calls,
    /// Asynchronous input and output.
    pub aio: Requests,
    /// Asynchronous lookups of addresses.
    pub lookups: Requests,
    pub queue_registrations: Registrations,
    /// What is known of the accesses of an instrumented program.
    pub access: Access,
    pub race: Detector,
    /// The threads of a parallel run at its gate.
    pub gate: Gate,
    pub names: Names,
    /// What the fair schedule needs, once it has taken over.
    pub fair: Fair,
    /// The blocks of the heap that the run has freed.
    pub freed: Freed,
}

/// The state. See the module's text for how long the reference may be kept.
///
/// # Safety
/// The caller holds the baton, and the run has started.
#[inline(always)]
pub unsafe fn state() -> &'static mut State {
    // SAFETY: mapped in `start_run`; valid when zeroed; one user at a time by the baton.
    unsafe { &mut *(STATE_ADDRESS as *mut State) }
}

/// Where the state is, for callers that hold a reference to a part of it already.
pub fn state_pointer() -> *mut State {
    STATE_ADDRESS as *mut State
}

/// The scheduler.
///
/// # Safety
/// As for [`state`].
#[inline(always)]
pub unsafe fn scheduler() -> &'static mut Scheduler {
    // SAFETY: the caller's promise.
    unsafe { &mut state().scheduler }
}

/// Reserves the memory; done before the fork server starts so that all runs have the same layout.
pub fn reserve() {
    sys::map_at(FIRST_ADDRESS, END_ADDRESS - FIRST_ADDRESS);
}

/// Touches what every run writes to, before a fork: a page that is there is copied at the first write,
/// while a page that is not costs two faults when it is read first.
pub fn prefault() {
    // SAFETY: there is one thread; the memory is reserved, and what is written is what is there.
    unsafe {
        let state = STATE_ADDRESS as *mut State;
        let s = &raw mut (*state).scheduler;
        let places = [
            s.cast::<u8>(),
            (&raw mut (*s).timers).cast(),
            (&raw mut (*s).pending).cast(),
            (&raw mut (*s).threads).cast(),
            (&raw mut (*state).closed_descriptors).cast(),
            (&raw mut (*state).freed).cast(),
            POLICY_ADDRESS as *mut u8,
        ];
        for place in places {
            place.write_volatile(place.read_volatile());
        }
    }
}

/// What a thread parks on. Unlike the rest of the state it is touched by threads without the baton.
#[inline]
pub fn baton(t: ThreadId) -> &'static Baton {
    let state = STATE_ADDRESS as *const State;
    // SAFETY: the state lives as long as the process, and a baton is an atomic word.
    unsafe { &(*state).scheduler.threads[t.index()].baton }
}

/// Destructors of thread-specific data; none without a block. Like a baton they are touched by threads
/// without the baton.
pub fn destructors() -> Option<&'static Destructors> {
    let state = STATE_ADDRESS as *const State;
    // SAFETY: mapped together with the block; the state lives as long as the process.
    block().map(|_| unsafe { &(*state).destructors })
}

/// What the kernel has delivered. Like a baton it is touched by threads without the baton.
pub fn mailbox() -> &'static Mailbox {
    let state = STATE_ADDRESS as *const State;
    // SAFETY: the state lives as long as the process; the mailbox guards itself.
    unsafe { &(*state).mailbox }
}
