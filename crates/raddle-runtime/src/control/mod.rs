//! Which threads are under control, and the way into the scheduler.
//!
//! There is one [`State`], in memory of the runtime's own. Only the thread that holds the baton touches it.
//! References to it are taken anew for each piece of work and never held across a switch, because the next thread
//! takes its own.
//!
//! In a parallel run the baton is a lock, which a thread holds while it is in the runtime: [`current`] takes it, and
//! a thread that it returned must [`leave`], which [`LeaveOnDrop`] does. Where the runtime calls the program, or
//! something that waits in the kernel, it does so [`unlocked`].

mod fair_turns;
mod runtime_state;

use core::sync::atomic::{AtomicU32, AtomicUsize, Ordering};

use raddle_core::policy::{Descriptor, Kind};
use raddle_core::{Event, EventKind, ThreadId};
use raddle_protocol::settings::flag;
use raddle_protocol::{Block, PolicySettings};

use crate::access::lease::Lease;
use crate::os::sys;
use crate::process::{failure, policies};
use crate::race;
use crate::scheduler::clock::NEVER;
use crate::scheduler::names;
use crate::scheduler::thread::{Packed, Wait, Wake};
use crate::signals::deliver::deliver;
use crate::switch::gate;
use crate::{dispatch, heap, switch};

pub use runtime_state::{
    baton, destructors, mailbox, prefault, reserve, scheduler, state, state_pointer, State, POLICY_ADDRESS,
    STACKS_ADDRESS,
};

/// Whether this process is under control.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u32)]
pub enum Mode {
    /// Before the run starts: everything is passed through.
    Before = 0,
    /// During the run: threads are scheduled.
    Controlled = 1,
    /// A child process, or a program that was not started by raddle: everything is passed through.
    PassThrough = 2,
}

/// [`Mode::Controlled`] in a parallel run: a mode of its own, so that a serial run pays nothing for it.
const PARALLEL: u32 = 3;

static MODE: AtomicU32 = AtomicU32::new(Mode::Before as u32);
static BLOCK: AtomicUsize = AtomicUsize::new(0);

/// The mode of this process.
#[inline(always)]
pub fn mode() -> Mode {
    match MODE.load(Ordering::Relaxed) {
        0 => Mode::Before,
        1 | PARALLEL => Mode::Controlled,
        _ => Mode::PassThrough,
    }
}

/// Whether threads run at the same time.
#[inline(always)]
pub fn parallel() -> bool {
    MODE.load(Ordering::Relaxed) == PARALLEL
}

/// Enters or leaves control between two runs of a check.
pub fn set_mode(mode: Mode) {
    MODE.store(mode as u32, Ordering::Relaxed);
}

/// Another thread of the program calls a check: it is the main thread of the runs that follow.
///
/// # Safety
/// No run is in progress.
pub unsafe fn change_main() {
    let pointer = sys::thread_pointer();
    // SAFETY: the caller's promise.
    let s = unsafe { scheduler() };
    let before = s.thread(ThreadId::MAIN).pointer;
    if before != pointer {
        s.pointers.remove(before);
        s.pointers.insert(pointer, ThreadId::MAIN);
        let main = s.thread(ThreadId::MAIN);
        main.pointer = pointer;
        main.fs = pointer;
        main.tid = sys::gettid();
        main.alternate_stack = (0, 0);
    }
    set_mode(Mode::Controlled);
}

/// Leaves control for good: in a forked child.
pub fn pass_through() {
    MODE.store(Mode::PassThrough as u32, Ordering::Relaxed);
}

/// The block, once it is mapped.
pub fn block() -> Option<&'static Block> {
    let address = BLOCK.load(Ordering::Relaxed);
    // SAFETY: mapped for the whole life of the process.
    (address != 0).then(|| unsafe { &*(address as *const Block) })
}

/// Whether another program of the same run was in this process before.
pub fn is_successor() -> bool {
    block().is_some_and(|block| block.control.execs.load(Ordering::Relaxed) != 0)
}

/// The block has been mapped.
pub fn set_block(block: *mut Block) {
    BLOCK.store(block as usize, Ordering::Relaxed);
}

/// The policy that the settings name, and what it needs. The search touches code and texts that a run does not
/// need.
pub fn policy(block: &Block) -> Option<&'static Descriptor> {
    let wanted = &block.settings.run.policy;
    // A replay follows its decisions; this runtime may not even have the policy that made them.
    let policy = if block.settings.flags & flag::REPLAY != 0 {
        raddle_core::policies::ALL.first()
    } else {
        policies::find(wanted.name.as_str()).filter(|policy| has_parameters(policy, wanted))
    };
    policy.inspect(|policy| names::survey(policy))
}

/// Whether a policy has these parameters, in this order: a runtime that was built elsewhere may have others.
fn has_parameters(policy: &Descriptor, wanted: &PolicySettings) -> bool {
    policy.parameters.iter().map(|parameter| parameter.name).eq(wanted.parameters().map(|(name, _)| name))
}

/// Where the policy's state lies: in the block if it outlives the run.
#[link_section = "raddle_run"]
fn policy_memory(block: &Block, policy: &Descriptor) -> *mut u8 {
    if policy.kind != Kind::Systematic || block.settings.search_bytes == 0 {
        return POLICY_ADDRESS as *mut u8;
    }
    if (block.settings.search_bytes as usize) < policy.layout.size() {
        failure::internal(format_args!("the block has no room for the state of the policy {}", policy.name));
    }
    (block as *const Block as usize + Block::search_offset(&block.settings)) as *mut u8
}

/// Starts the run in the calling thread, which becomes the main thread.
#[link_section = "raddle_run"]
pub fn start_run(block: &'static Block, policy: Option<&'static Descriptor>) {
    let Some(policy) = policy else {
        let name = block.settings.run.policy.name.as_str();
        failure::internal(format_args!("this runtime has no policy `{name}` with the parameters that were asked for"));
    };
    // SAFETY: there is one thread; the memory is reserved and zeroed.
    let s = unsafe { scheduler() };
    // SAFETY: the block is mapped and the policy's memory fresh, or its own.
    unsafe { s.start(block as *const Block as *mut Block, policy, policy_memory(block, policy)) };
    if s.is_exhausted() {
        sys::exit_group(0);
    }
    let pointer = sys::thread_pointer();
    let main = s.thread(ThreadId::MAIN);
    main.pointer = pointer;
    main.fs = pointer;
    main.tid = sys::gettid();
    main.deadline = NEVER;
    s.pointers.insert(pointer, ThreadId::MAIN);
    race::start_run();
    heap::start_run(block.settings.seed);
    let parallel = block.settings.flags & flag::PARALLEL != 0;
    if parallel {
        gate::start_run();
    }
    MODE.store(if parallel { PARALLEL } else { Mode::Controlled as u32 }, Ordering::Relaxed);
}

/// The calling thread, when it is scheduled by us and not inside a call of the real library. The thread that gets
/// `Some` must [`leave`].
#[inline(always)]
pub fn current() -> Option<ThreadId> {
    let mode = MODE.load(Ordering::Relaxed);
    if mode != Mode::Controlled as u32 {
        return if mode == PARALLEL { gate::enter() } else { None };
    }
    // SAFETY: only fields that do not change while another thread has the baton are compared; a
    // thread without the baton never finds its own pointer here.
    let scheduler = unsafe { scheduler() };
    if scheduler.lease.is_on() {
        return after_lease();
    }
    if scheduler.foreign_threads {
        return among_foreign_threads();
    }
    let me = scheduler.current;
    let thread = &scheduler.threads[me.index()];
    (thread.pointer == sys::thread_pointer() && thread.inside == 0).then_some(me)
}

/// The calling thread, which [`current`] has returned, goes back to where it came from.
#[inline(always)]
pub fn leave() {
    if parallel() {
        gate::leave();
    }
}

/// Calls [`leave`] for a thread that [`current`] has returned. Frames that hold one may be unwound through
/// without dropping it: unwinding starts after the lock was given back.
pub struct LeaveOnDrop(());

impl LeaveOnDrop {
    /// The calling thread leaves the runtime when this is dropped.
    #[inline(always)]
    pub fn armed() -> LeaveOnDrop {
        LeaveOnDrop(())
    }
}

impl Drop for LeaveOnDrop {
    #[inline(always)]
    fn drop(&mut self) {
        leave();
    }
}

/// Calls the program's own code, or something that waits in the kernel, without the lock of a parallel run.
#[inline(always)]
pub fn unlocked<R>(me: ThreadId, call: impl FnOnce() -> R) -> R {
    if !parallel() {
        return call();
    }
    let depth = gate::leave_fully();
    let result = call();
    gate::reenter(me, depth);
    result
}

/// The calling thread leaves the runtime for good: it goes on in the program's own code and does not come back here.
#[inline(always)]
pub fn leave_for_good() {
    if parallel() {
        gate::leave_fully();
    }
}

/// [`current`] while there is a lease. A thread that is not ours leaves it alone.
#[cold]
fn after_lease() -> Option<ThreadId> {
    // SAFETY: as above.
    let scheduler = unsafe { scheduler() };
    let me = scheduler.current;
    let thread = &scheduler.threads[me.index()];
    if thread.pointer != sys::thread_pointer() || thread.inside != 0 {
        return None;
    }
    Lease::end(scheduler);
    Some(me)
}

/// [`current`] where the program made threads by clone itself: such a thread may share the thread pointer of the
/// one that made it.
#[cold]
fn among_foreign_threads() -> Option<ThreadId> {
    // SAFETY: as above.
    let scheduler = unsafe { scheduler() };
    let me = scheduler.current;
    let thread = &scheduler.threads[me.index()];
    let ours = thread.pointer == sys::thread_pointer() && thread.inside == 0;
    (ours && (switch::fibers() || thread.tid == sys::gettid())).then_some(me)
}

/// A schedule point before an operation that never waits.
#[inline]
pub fn point(me: ThreadId, kind: EventKind, object: usize) {
    wait(me, Event::new(kind, object), Wait::None, NEVER);
}

/// A schedule point before an access to `bytes` bytes.
#[inline]
pub fn access_point(me: ThreadId, kind: EventKind, address: usize, bytes: usize) {
    wait(me, Event::with(kind, address, bytes.min(u32::MAX as usize) as u32), Wait::None, NEVER);
}

/// A schedule point before an operation that needs something first.
#[inline(always)]
pub fn wait(me: ThreadId, event: Event, wait: Wait, deadline: u64) -> Wake {
    wait_packed(me, event, wait.pack(), deadline)
}

#[link_section = "raddle_run"]
fn wait_packed(me: ThreadId, event: Event, wait: Packed, deadline: u64) -> Wake {
    if parallel() {
        return gate::wait(me, event, wait, deadline);
    }
    // SAFETY: `me` holds the baton.
    if unsafe { scheduler() }.is_fair {
        return fair_turns::wait(me, event, wait, deadline);
    }
    loop {
        // SAFETY: `me` holds the baton; the reference ends before the switch.
        let s = unsafe { scheduler() };
        if s.trap_again {
            s.trap_again = false;
            dispatch::selector(me).store(1, Ordering::Relaxed);
        }
        if s.instrumented {
            // SAFETY: as above.
            unsafe { arrives_instrumented(me, event.kind) };
        }
        let next = s.arrive(me, event, wait, deadline);
        if next != me {
            switch::switch(me, next);
        }
        // SAFETY: `me` holds the baton again.
        let s = unsafe { scheduler() };
        if next != me && s.instrumented {
            s.spin_sampler.reset();
        }
        let wake = s.depart(me);
        if s.detects {
            // SAFETY: as above.
            unsafe { race::through_kernel(me, event.kind, false) };
        }
        if s.threads[me.index()].signals != 0 {
            deliver(me);
            // While the handler ran, others may have taken what was there.
            if wake == Wake::Go && wait.get().key() != 0 {
                continue;
            }
        }
        return wake;
    }
}

/// Updates what is known of an instrumented program's accesses before an operation.
#[inline(never)]
pub unsafe fn arrives_instrumented(me: ThreadId, kind: EventKind) {
    // SAFETY: `me` holds the baton.
    unsafe {
        // A loop that makes calls does more than read.
        if !kind.is_access() {
            state().access.spin_loops.progress(me);
            scheduler().spin_sampler.reset();
        }
        if scheduler().detects {
            race::through_kernel(me, kind, true);
        }
    }
}

/// [`wait`] for calls that go on waiting after a signal handler has run.
#[inline]
pub fn wait_through(me: ThreadId, event: Event, until: Wait, deadline: u64) -> Wake {
    loop {
        let wake = wait(me, event, until, deadline);
        if wake != Wake::Interrupted {
            return wake;
        }
    }
}

/// Calls into the real library: what happens in there is not scheduled, and its system calls are not trapped. In a
/// parallel run others go on meanwhile: the library has locks of its own, and a thread that holds one of them may want
/// ours.
#[inline]
pub fn call_real<R>(me: ThreadId, call: impl FnOnce() -> R) -> R {
    // SAFETY: `me` holds the baton.
    let thread = unsafe { scheduler() }.thread(me);
    thread.inside += 1;
    let selector = dispatch::selector(me);
    let before = selector.swap(0, Ordering::Relaxed);
    sys::answered();
    let result = unlocked(me, call);
    // SAFETY: `me` still holds it: nothing is scheduled inside.
    let thread = unsafe { scheduler() }.thread(me);
    thread.inside -= 1;
    selector.store(before, Ordering::Relaxed);
    result
}
