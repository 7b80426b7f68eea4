//! The scheduler: counts steps, keeps the enabled set, asks the policy, logs the decision.
//!
//! It runs in the thread that holds the baton, between two pieces of the program's own code. It
//! knows threads and events, but no primitive beyond asking the model whether a wait is over.

pub mod clock;
mod decide;
mod delay;
pub mod fairness;
mod idle;
pub mod names;
mod parallel;
mod progress;
mod start;
mod step;
pub mod thread;
pub mod thread_pointers;
pub mod timers;
mod waits;

use core::mem::MaybeUninit;

use raddle_core::decorators::replay::Replay;
use raddle_core::policy::Policy;
use raddle_core::{EnabledSet, Event, EventKind, Rng, ThreadId, MAX_THREADS};
use raddle_protocol::{Block, Escape, Results, Settings};

use crate::access::lease::{Lease, SpinSampler};
use crate::control;
use crate::model::destroyed::Destroyed;
use crate::model::waiters::Waiters;
use crate::scheduler::thread_pointers::ThreadPointers;
use crate::signals::kernel as signals;
use crate::signals::lend::lent;
use crate::switch::gate;
use clock::{Clock, NEVER};
use decide::Decider;
pub use decide::RunKind;
use delay::Delays;
use thread::{Life, Polled, Thread, Wait, Wake};
use timers::Timers;

/// Points after which outside conditions are polled even though threads can run.
const OUTSIDE_POLL_INTERVAL: u64 = 1_024;

/// All state of a run. Valid when zeroed, except for what decides.
///
/// A fork server's child pays for each page that it writes to. So the parts are laid out such that a run with
/// few threads writes to three: this one with the first links of the waiters; the smallest table of pointers
/// with the first pending events; the first records of threads. The records do not start their page: a
/// processor takes a load and a store that are a multiple of 4 KiB apart for the same place, and waits.
#[repr(C, align(4096))]
pub struct Scheduler {
    /// The thread that has the baton.
    pub current: ThreadId,
    /// An operation may have changed what outside conditions say.
    pub outside_touched: bool,
    /// A child process exists or existed, or descriptors reach beyond this process.
    pub open_world: bool,
    /// Threads run in this process that were not created by pthread_create.
    pub foreign_threads: bool,
    /// A thread's system calls were let through for one call and are to be trapped again.
    pub trap_again: bool,
    /// A fair schedule has taken over: see [`fairness`].
    pub is_fair: bool,
    /// The run looks for data races.
    pub detects: bool,
    /// The program is instrumented: accesses to memory are visible.
    pub instrumented: bool,
    /// The trace is filled in, because later runs learn from this one.
    traces: bool,
    /// The thread that passes each point is noted.
    traces_points: bool,
    /// The policy's state outlives the run.
    searches: bool,
    /// Points without a choice are noted, or reported to the policy.
    reports_no_choice: bool,
    /// Points without a choice are reported to the policy.
    policy_sees_every_point: bool,
    /// The policy gets names of objects that do not depend on addresses: see [`names`].
    names_objects: bool,
    /// `spinning`, whose memory few runs touch, is not empty.
    pub any_spinning: bool,
    /// The accesses that the current thread may make without asking.
    pub lease: Lease,
    /// Chooses the accesses that are checked for spin loops.
    pub spin_sampler: SpinSampler,
    /// The last step was taken while no other thread was enabled.
    alone: bool,
    /// The recording of a parallel run is replayed, including points without a choice.
    replays_parallel: bool,
    /// The body of a check has returned, and what it left is run to its end.
    pub ending: bool,
    /// What this run is for.
    run_kind: RunKind,
    /// The thread that took the last step of a parallel run.
    last: ThreadId,
    /// How many ids are in use, those of ended threads included.
    pub created: usize,
    /// Records with this index or a higher one have never been used, and are zero.
    untouched: usize,
    /// Threads that have not ended.
    pub alive: usize,
    /// The last point at which there was progress.
    progress_at: u64,
    /// Steps without progress in a row.
    futile: u64,
    block: *mut Block,
    log: *mut u32,
    pub clock: Clock,
    /// Choices that are the model's, not the policy's: which thread a signal on a condition wakes.
    pub chance: Rng,
    /// Random bytes for the program.
    pub entropy: Rng,
    repeat_replay: MaybeUninit<Replay<'static>>,
    decider: MaybeUninit<Decider>,
    /// The threads that can take a step.
    pub enabled: EnabledSet,
    /// The waiting threads, by what they wait for.
    pub waiters: Waiters,
    pub timers: Timers,
    delays: Delays,
    second_page: [Page; 0],
    /// The threads by thread pointer.
    pub pointers: ThreadPointers,
    /// What each thread does next.
    pub pending: [Event; MAX_THREADS],
    third_page: [Page; 0],
    /// The threads that wait for something outside the model.
    pub polled: EnabledSet,
    /// The threads by id.
    pub threads: [Thread; MAX_THREADS],
    /// The threads that read the same values again and again, and wait for a change: see `access::spin_loop`.
    pub spinning: EnabledSet,
    /// Who destroyed which objects.
    pub destroyed: Destroyed,
}

/// Makes what follows it start on a page.
#[repr(align(4096))]
struct Page;

impl Scheduler {
    /// The results of this run.
    #[inline]
    pub fn results(&mut self) -> &mut Results {
        // SAFETY: mapped since `start`; the command line only reads it after the run.
        unsafe { &mut (*self.block).results }
    }

    /// The settings of this run.
    pub fn settings(&self) -> &Settings {
        // SAFETY: as for `results`.
        unsafe { &(*self.block).settings }
    }

    /// Whether it is noted who takes which lock.
    #[inline(always)]
    pub fn notes_lock_words(&self) -> bool {
        self.settings().flags & raddle_protocol::settings::flag::LOCK_WORDS != 0
    }

    /// The block, for reading and for its atomics.
    pub fn shared_block(&self) -> &'static Block {
        // SAFETY: mapped for the whole life of the process.
        unsafe { &*self.block }
    }

    pub fn block(&self) -> *mut Block {
        self.block
    }

    /// Notes that something escaped control.
    pub fn escaped(&mut self, what: Escape) {
        self.results().escapes |= 1 << what as u32;
    }

    /// Notes what the reduction of a search cannot see: see [`blind_spot`](raddle_protocol::results::blind_spot).
    pub fn record_blind_spot(&mut self, what: u64) {
        self.results().blind_spots |= what;
    }

    #[inline]
    pub fn thread(&mut self, t: ThreadId) -> &mut Thread {
        &mut self.threads[t.index()]
    }

    /// A slot for a new thread; `None` when there are too many.
    #[link_section = "raddle_run"]
    pub fn new_thread(&mut self) -> Option<ThreadId> {
        let free = if self.created < MAX_THREADS {
            self.created += 1;
            self.created - 1
        } else {
            // Ids stand for the order of creation as long as that is possible.
            (1..MAX_THREADS).find(|&i| self.threads[i].life == Life::None)?
        };
        let t = ThreadId(free as u16);
        if free < self.untouched {
            // SAFETY: a thread's record is valid when zeroed.
            self.threads[free] = unsafe { core::mem::zeroed() };
        }
        self.untouched = self.untouched.max(free + 1);
        self.threads[free].life = Life::Alive;
        self.threads[free].deadline = NEVER;
        Some(t)
    }

    /// The new thread exists and may take its first step.
    #[link_section = "raddle_run"]
    pub fn launched(&mut self, t: ThreadId) {
        let parent = self.current;
        // SAFETY: written in `start`.
        if let Decider::Explore(guard) = unsafe { self.decider.assume_init_mut() } {
            guard.created(parent, t);
        }
        if self.traces {
            // SAFETY: mapped since `start`; the command line reads it after the run.
            unsafe { (*self.block).trace.parents[t.index()] = parent.0 };
        }
        if self.names_objects {
            self.name_thread(parent, t);
        }
        self.alive += 1;
        self.set_pending(t, Event::new(EventKind::Start, 0));
        self.enabled.set(t, true);
        let (created, alive) = (self.created as u32, self.alive as u32);
        let results = self.results();
        results.threads = results.threads.max(created);
        results.threads_alive = results.threads_alive.max(alive);
        self.progressed();
        if control::parallel() {
            gate::launched(t);
        }
    }

    /// Notes what a thread does next.
    #[inline(always)]
    pub fn set_pending(&mut self, t: ThreadId, event: Event) {
        self.pending[t.index()] = event;
        if self.names_objects {
            self.name_object(t);
        }
    }

    /// The creation failed after all.
    pub fn discard(&mut self, t: ThreadId) {
        self.threads[t.index()].life = Life::None;
        if t.index() + 1 == self.created {
            self.created -= 1;
        }
    }

    /// Time has passed: wakes the threads whose deadlines have passed.
    #[inline(always)]
    fn expire(&mut self) {
        signals::expire(self);
        while let Some((deadline, t)) = self.timers.first() {
            if deadline > self.clock.now() {
                return;
            }
            self.timers.remove(t);
            self.end_wait(t, Wake::TimedOut);
        }
    }

    /// The next time at which something happens without a step.
    fn next_deadline(&self) -> Option<u64> {
        let deadline = self.timers.first().map_or(NEVER, |(deadline, _)| deadline);
        let next = deadline.min(signals::next_alarm());
        (next != NEVER).then_some(next)
    }

    /// Tests the outside conditions of waiting threads.
    pub fn poll_outside(&mut self) -> bool {
        let mut found = false;
        let mut k = 0;
        while let Some(t) = self.polled.nth(k) {
            k += 1;
            if let Wait::Polled(polled) = self.threads[t.index()].wait.get() {
                // SAFETY: on the stack of a thread that waits.
                let Polled { test, context, .. } = unsafe { *polled };
                // SAFETY: the context lives on the waiting thread's stack; tests do not block.
                if !self.threads[t.index()].woken && lent(t, || unsafe { test(context) }) {
                    self.wake(t);
                    found = true;
                }
            }
        }
        found
    }

    #[cold]
    fn poll_outside_periodically(&mut self) {
        self.suspect();
        self.look_outside();
    }

    /// Looks at what has come from outside although threads can run.
    pub fn look_outside(&mut self) {
        signals::look(self);
        // What this process has just done itself comes from inside, and is polled by `decide`.
        if !self.outside_touched && !self.polled.is_empty() && self.poll_outside() {
            self.escaped(Escape::OutsideInput);
        }
    }
}
