//! The scheduler: counts steps, keeps the enabled set, asks the policy, logs the decision.
//!
//! It runs in whichever thread holds the baton, between two pieces of the program's own code. It
//! knows threads and events, but no primitive beyond asking the model whether a wait is over.

pub mod clock;
mod decide;
mod idle;
pub mod names;
mod parallel;
pub mod thread;
pub mod timers;

use core::mem::MaybeUninit;
use core::sync::atomic::Ordering;

use raddle_core::block::{self, flag, note, Block, Escape, Outcome};
use raddle_core::decorators::{guard::Guard, order::Order, replay::Replay};
use raddle_core::policy::{Descriptor, Kind, Learns, Policy, Run};
use raddle_core::{Decision, EnabledSet, Event, EventKind, Rng, ThreadId, MAX_THREADS};

use crate::access::lease::{Attention, Lease};
use crate::model::mutex::Mutex;
use crate::model::waiters::Waiters;
use crate::pointers::Pointers;
use crate::signals::kernel as signals;
use crate::switch::gate;
use crate::sys;
use crate::{control, failure};
use clock::{Clock, NEVER};
pub use decide::Decides;
use decide::{Chosen, Engine};
use thread::{owner, Life, Packed, Polled, Thread, Wait, Wake};
use timers::Timers;

/// What an access of an instrumented program weighs as progress. A loop that looks for work and yields makes
/// dozens of them in each turn, and few calls.
const ACCESS: u32 = 1;
/// What any other operation weighs.
const OPERATION: u32 = 8;
/// Operations after which an earlier one without progress is forgotten.
const FORGIVEN: u32 = 8 * OPERATION;
/// A thread that does so many operations in a row with progress is not in a livelock.
const BUSY: u32 = 64 * OPERATION;
/// Operations without progress, for each thread that runs, after which all of them only spin. Locks and pools that
/// spin before they park yield up to 32 times first.
const BACK_OFF: u64 = 32;
/// Points without any progress after which the run is called a livelock.
const LIVELOCK: u64 = 100_000;
/// Operations without progress after which even a single thread is looked at closely.
const PATIENCE: u64 = 64;
/// In how many points outside conditions are looked at even though threads can run.
const LOOK_OUTSIDE: u64 = 1_024;

/// The hash of no decision: FNV's offset basis.
const FIRST_HASH: u64 = 0xcbf2_9ce4_8422_2325;

/// All state of a run. Valid when zeroed, but for the engine.
///
/// A fork server's child pays for each page that it writes to. So the parts are laid out such that a run with
/// few threads writes to three: this one with the first links of the waiters; the smallest table of pointers
/// with the first pending events; the first records of threads. The records do not start their page: a
/// processor takes a load and a store that are a multiple of 4 KiB apart for one place, and waits.
#[repr(C, align(4096))]
pub struct Scheduler {
    /// Who has the baton.
    pub current: ThreadId,
    /// An operation may have changed what outside conditions say.
    pub outside_touched: bool,
    /// A child process exists or existed, or descriptors reach beyond this process.
    pub open_world: bool,
    /// Threads run in this process that were not created by pthread_create.
    pub foreign_threads: bool,
    /// A thread's system calls were let through for one call and are to be trapped again.
    pub trap_again: bool,
    /// Data races are looked for.
    pub detects: bool,
    /// Accesses to memory are seen.
    pub instrumented: bool,
    /// Later runs learn from this one.
    traces: bool,
    /// It is noted who passes each point.
    notes_passed: bool,
    /// The policy's state outlives the run.
    searches: bool,
    /// Points where there is nothing to decide are noted, or the policy is told of them.
    watched: bool,
    /// The policy is told of them.
    policy_watches: bool,
    /// The policy is told names of objects that do not depend on addresses: see [`names`].
    names: bool,
    /// Somebody is in `spinning`, whose memory few runs touch.
    pub somebody_spins: bool,
    /// The accesses that the current thread may make without asking.
    pub lease: Lease,
    /// Which accesses are looked at for spin loops.
    pub attention: Attention,
    /// The last step was taken while nobody else was enabled.
    alone: bool,
    /// The order of a parallel run is followed: also where there is no choice.
    follows_every: bool,
    /// The body of a check has returned, and what it left is run to its end.
    pub ending: bool,
    /// Who decides in this run.
    decides: Decides,
    /// Who took the last step of a parallel run.
    last: ThreadId,
    /// Ids given out so far.
    pub created: usize,
    /// Records from here on have never been used: they are zero.
    untouched: usize,
    /// Threads that have not ended.
    pub alive: usize,
    /// The last point at which something was achieved.
    progress_at: u64,
    /// Steps without progress in a row.
    futile: u64,
    block: *mut Block,
    log: *mut u32,
    /// The virtual clock.
    pub clock: Clock,
    /// Choices that are the model's, not the policy's: who is woken by a signal on a condition.
    pub chance: Rng,
    /// Random bytes for the program.
    pub entropy: Rng,
    follow_again: MaybeUninit<Replay<'static>>,
    engine: MaybeUninit<Engine>,
    /// The threads that can take a step.
    pub enabled: EnabledSet,
    /// Who waits for what.
    pub waiters: Waiters,
    /// Deadlines.
    pub timers: Timers,
    second_page: [Page; 0],
    /// The threads by thread pointer.
    pub pointers: Pointers,
    /// What each thread does next.
    pub pending: [Event; MAX_THREADS],
    third_page: [Page; 0],
    /// The threads that wait for something outside the model.
    pub polled: EnabledSet,
    /// The threads by id.
    pub threads: [Thread; MAX_THREADS],
    /// The threads that read the same values again and again, and wait for a change: see `access::spin`.
    pub spinning: EnabledSet,
}

/// Makes what follows it start on a page.
#[repr(align(4096))]
struct Page;

impl Scheduler {
    /// Starts a run: the calling thread is the main thread and has the baton.
    ///
    /// # Safety
    /// `policy_memory` must be zeroed, unused and of the descriptor's layout, or what such a policy has left there
    /// if it outlives its runs; `block` mapped.
    #[link_section = "raddle_run"]
    pub unsafe fn start(&mut self, block: *mut Block, descriptor: &Descriptor, policy_memory: *mut u8) {
        self.block = block;
        // SAFETY: the block is mapped, and the command line does not touch it during a run.
        let (settings, bytes) = unsafe { (&(*block).settings, block.cast::<u8>()) };
        // SAFETY: both areas lie inside the mapping.
        self.log = unsafe { bytes.add(Block::LOG_OFFSET).cast() };
        self.detects = settings.flags & flag::DETECT != 0;
        self.instrumented = crate::access::offers() != 0;
        self.clock.realtime_start = settings.realtime;
        self.chance = Rng::for_purpose(settings.seed, 2);
        self.entropy = Rng::for_purpose(settings.seed, 3);
        let engine = if settings.flags & flag::REPLAY != 0 {
            // SAFETY: as above; Decision is a transparent u32.
            let recording = unsafe {
                let start = bytes.add((*block).replay_offset()).cast::<Decision>();
                core::slice::from_raw_parts(start, settings.replay_len as usize)
            };
            if settings.flags & flag::EVERY != 0 {
                self.follows_every = true;
                Engine::Order(Order::new(recording))
            } else {
                Engine::Follow(Replay::new(recording))
            }
        } else {
            // SAFETY: the caller's promise.
            Engine::Explore(Guard::new(Chosen(unsafe { (descriptor.build)(policy_memory) }), settings.guard))
        };
        let explores = matches!(engine, Engine::Explore(_));
        self.engine.write(engine);
        self.start_names(explores && descriptor.learns >= Learns::Objects);
        self.searches = descriptor.kind == Kind::Systematic;
        // In a program with checks there is no run yet.
        if !(self.searches && crate::check::present()) {
            self.start_engine(settings.seed);
        }
        self.created = 1;
        self.alive = 1;
        self.current = ThreadId::MAIN;
        self.alone = true;
        self.threads[0].life = Life::Alive;
        self.enabled.set(ThreadId::MAIN, true);
        let results = self.results();
        results.threads = 1;
        results.threads_alive = 1;
        results.hash = FIRST_HASH;
        results.offers = crate::access::offers();
    }

    /// Starts another run in the same process, with the same main thread.
    ///
    /// # Safety
    /// As for [`Scheduler::start`], which was called before; all other threads have ended.
    pub unsafe fn restart(&mut self, seed: u64, decides: Decides) {
        // SAFETY: the command line does not touch the settings during an order.
        let settings = unsafe { &(*self.block).settings };
        // SAFETY: written in `start`; the log holds what the results say, and a follower reads each
        // decision before its own takes the place.
        unsafe {
            if decides == Decides::LastRun {
                let recorded =
                    core::slice::from_raw_parts(self.log.cast::<Decision>(), self.results().log_len as usize);
                self.follow_again.write(Replay::new(recorded));
            } else if decides == Decides::Engine || !self.searches {
                self.start_engine(seed);
            }
        }
        self.decides = decides;
        self.start_names(self.names);
        self.clock = Clock::starting_at(settings.realtime);
        self.chance = Rng::for_purpose(seed, 2);
        self.entropy = Rng::for_purpose(seed, 3);
        self.created = 1;
        self.alive = 1;
        self.current = ThreadId::MAIN;
        self.alone = true;
        self.outside_touched = false;
        self.open_world = false;
        self.ending = false;
        self.progress_at = 0;
        self.futile = 0;
        self.enabled.clear();
        self.enabled.set(ThreadId::MAIN, true);
        self.polled.clear();
        if core::mem::take(&mut self.somebody_spins) {
            self.spinning.clear();
        }
        self.timers.clear();
        self.attention.reset();
        let main = &mut self.threads[0];
        self.waiters.remove(ThreadId::MAIN);
        main.wait = Wait::None.pack();
        main.wake = Wake::Go;
        main.woken = false;
        main.was_futile = false;
        main.spins = 0;
        main.since_futile = 0;
        main.deadline = NEVER;
        let results = self.results();
        results.outcome = Outcome::Unknown as u32;
        results.thread = u32::MAX;
        results.threads = 1;
        results.threads_alive = 1;
        results.steps = 0;
        (results.phase, results.phase_start) = (0, 0);
        results.points = 0;
        results.shared_points = 0;
        results.switches = 0;
        results.hash = FIRST_HASH;
        results.log_len = 0;
        results.guard_fired = 0;
        results.escapes = 0;
        results.notes = 0;
        results.message_len = 0;
        #[cfg(feature = "verify")]
        crate::verify::restarted();
    }

    /// Tells who decides that a run starts.
    fn start_engine(&mut self, seed: u64) {
        // SAFETY: mapped since `start`; the command line touches neither during a run.
        let (settings, lessons) = unsafe { (&(*self.block).settings, &(*self.block).lessons) };
        // SAFETY: as above; nobody else writes it.
        unsafe { (*self.block).trace.points = 0 };
        let (number, profile) = (settings.run, settings.profile);
        let run = Run { number, seed, parameters: &settings.parameters, profile, lessons };
        // SAFETY: written in `start`.
        let (member, bound, gaps, watched) = match unsafe { self.engine.assume_init_mut() } {
            Engine::Explore(guard) => {
                guard.start(&run);
                (guard.member(), guard.bound(), guard.gaps(), guard.watches())
            }
            Engine::Follow(replay) => {
                replay.start(&run);
                (0, None, 0, false)
            }
            Engine::Order(_) => (0, None, 0, false),
        };
        self.policy_watches = watched;
        self.note_who_passes(self.settings().flags & flag::PASSED != 0);
        self.results().member = member;
        self.results().gaps = gaps;
        self.results().bound = bound.map_or(0, |bound| bound.saturating_add(1));
    }

    /// The results of this run.
    #[inline]
    pub fn results(&mut self) -> &mut block::Results {
        // SAFETY: mapped since `start`; the command line only reads it after the run.
        unsafe { &mut (*self.block).results }
    }

    /// The settings of this run.
    pub fn settings(&self) -> &block::Settings {
        // SAFETY: as for `results`.
        unsafe { &(*self.block).settings }
    }

    /// The block, as far as it is read and its atomics are used.
    pub fn shared_block(&self) -> &'static Block {
        // SAFETY: mapped for the whole life of the process.
        unsafe { &*self.block }
    }

    /// The block.
    pub fn block(&self) -> *mut Block {
        self.block
    }

    /// Notes that something escaped control.
    pub fn escaped(&mut self, what: Escape) {
        self.results().escapes |= 1 << what as u32;
    }

    /// Notes what a reduction of a search does not know of: see [`note`].
    pub fn noted(&mut self, what: u64) {
        self.results().notes |= what;
    }

    /// A thread's record.
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
        if let Engine::Explore(guard) = unsafe { self.engine.assume_init_mut() } {
            guard.created(parent, t);
        }
        if self.traces {
            // SAFETY: mapped since `start`; the command line reads it after the run.
            unsafe { (*self.block).trace.parents[t.index()] = parent.0 };
        }
        if self.names {
            self.name_thread(parent, t);
        }
        self.alive += 1;
        self.expect(t, Event::new(EventKind::Start, 0));
        self.enabled.set(t, true);
        let (created, alive) = (self.created as u32, self.alive as u32);
        let results = self.results();
        results.threads = results.threads.max(created);
        results.threads_alive = results.threads_alive.max(alive);
        self.achieved();
        if control::parallel() {
            gate::launched(t);
        }
    }

    /// Notes what a thread does next.
    #[inline(always)]
    pub fn expect(&mut self, t: ThreadId, event: Event) {
        self.pending[t.index()] = event;
        if self.names {
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

    /// Something happened that no livelock does.
    pub fn achieved(&mut self) {
        self.progress_at = self.results().points;
        self.futile = 0;
    }

    /// The thread's last operation made no progress: a yield, a failed attempt, a clock reading.
    pub fn made_no_progress(&mut self, me: ThreadId) {
        let thread = self.thread(me);
        thread.was_futile = true;
        thread.spins = thread.spins.saturating_add(1);
        thread.since_futile = 0;
    }

    /// Whether what the thread waits for is there.
    #[inline]
    pub fn ready(&self, t: ThreadId) -> bool {
        // The usual cases first: a jump through a table is often predicted wrongly.
        match self.threads[t.index()].wait.get() {
            Wait::None => true,
            // SAFETY: see `ready_otherwise`.
            Wait::Mutex(m) => unsafe { (*m).ready(owner(t)) },
            _ => self.ready_otherwise(t),
        }
    }

    #[inline(never)]
    #[link_section = "raddle_run"]
    fn ready_otherwise(&self, t: ThreadId) -> bool {
        let thread = &self.threads[t.index()];
        let me = owner(t);
        // SAFETY (all below): the program keeps an object alive while threads wait for it; one that
        // does not would crash in the real function too.
        unsafe {
            match thread.wait.get() {
                Wait::None => true,
                Wait::Event | Wait::Polled(_) => thread.woken,
                Wait::Mutex(m) => (*m).ready(me),
                Wait::Read(l) => (*l).ready_to_read(me),
                Wait::Write(l) => (*l).ready_to_write(me),
                Wait::Semaphore(s) => (*s).ready(),
                Wait::Spin(s) => (*s).ready(),
                Wait::Once(o) => (*o).ready(),
                Wait::Join(other) => self.threads[other.index()].life != Life::Alive,
            }
        }
    }

    /// An object has changed: looks again at those who wait for it.
    #[inline]
    pub fn changed(&mut self, key: usize) {
        if !self.waiters.none(key) {
            self.look_again(key);
        }
    }

    /// A mutex has been taken or given back: as [`Scheduler::changed`], for the most frequent object of all.
    /// Those who wait for it all need the same: that it is there for whoever comes.
    #[inline]
    #[link_section = "raddle_run"]
    pub fn mutex_changed(&mut self, mutex: *const Mutex, available: bool) {
        let key = mutex as usize;
        if self.waiters.none(key) {
            return;
        }
        let mut at = None;
        while let Some(t) = self.waiters.after(key, at) {
            let thread = &self.threads[t.index()];
            let on = available | (thread.wake != Wake::Go);
            let on = if thread.wait.is_mutex() { on } else { thread.wake != Wake::Go || self.ready(t) };
            self.enabled.set(t, on);
            at = Some(t);
        }
    }

    #[link_section = "raddle_run"]
    fn look_again(&mut self, key: usize) {
        let mut at = None;
        while let Some(t) = self.waiters.after(key, at) {
            let on = self.threads[t.index()].wake != Wake::Go || self.ready(t);
            self.enabled.set(t, on);
            at = Some(t);
        }
    }

    /// Ends a thread's [`Wait::Event`] or [`Wait::Polled`].
    pub fn wake(&mut self, t: ThreadId) {
        self.thread(t).woken = true;
        self.waiters.remove(t);
        self.enabled.set(t, true);
    }

    /// Ends a wait on a condition: the thread now waits for its mutex.
    pub fn relock(&mut self, t: ThreadId, why: Wake) {
        let thread = self.thread(t);
        let mutex = core::mem::replace(&mut thread.relock, core::ptr::null_mut());
        thread.relocked = why;
        thread.wait = Wait::Mutex(mutex).pack();
        thread.wake = Wake::Go;
        self.expect(t, Event::new(EventKind::Relock, mutex as usize));
        self.timers.remove(t);
        self.waiters.insert(t, mutex as usize);
        let ready = self.ready(t);
        self.enabled.set(t, ready);
    }

    /// Ends a thread's wait for another reason than what it waits for.
    pub fn disturb(&mut self, t: ThreadId, why: Wake) {
        if !self.threads[t.index()].relock.is_null() {
            if why != Wake::Interrupted {
                return self.relock(t, why);
            }
            // A handler must be able to run before the mutex is free: the wait ends spuriously, as
            // POSIX allows then.
            let thread = self.thread(t);
            thread.relock = core::ptr::null_mut();
            thread.relocked = Wake::Interrupted;
            // It has left the condition: whoever signals that now must not count on it.
            self.waiters.remove(t);
        }
        if self.threads[t.index()].wake == Wake::Go {
            self.thread(t).wake = why;
        }
        self.enabled.set(t, true);
    }

    /// Thread `me` is about to do `event`, for which it needs `wait` before `deadline`. Returns the
    /// thread that goes on.
    #[inline(always)]
    pub fn arrive(&mut self, me: ThreadId, event: Event, wait: Packed, deadline: u64) -> ThreadId {
        let ready = self.come(me, event, wait, deadline);
        if self.alive == 1 && ready && self.is_quiet() {
            if self.watched {
                self.pass_alone(me, me);
            }
            return me;
        }
        self.stand(me, wait, ready, deadline);
        self.decide(me)
    }

    /// Whether nothing can happen at a point of the only thread.
    #[inline(always)]
    fn is_quiet(&self) -> bool {
        let waits = self.polled.is_empty() && self.futile < PATIENCE && signals::next_alarm() == NEVER;
        waits && !self.follows_every
    }

    /// Notes what `me` is about to do; says whether what it needs is there.
    #[inline(always)]
    fn come(&mut self, me: ThreadId, event: Event, wait: Packed, deadline: u64) -> bool {
        let points = self.results().points + 1;
        self.results().points = points;
        if points.is_multiple_of(LOOK_OUTSIDE) {
            self.look_outside_now_and_then();
        }
        self.clock.point();
        if event.kind != EventKind::Clock {
            self.clock.other_work();
        }
        self.account(me);
        self.expect(me, event);
        let thread = &mut self.threads[me.index()];
        thread.wait = wait;
        thread.wake = Wake::Go;
        thread.deadline = deadline;
        self.ready(me)
    }

    /// `me` stands before its step, and others may go first.
    #[inline(always)]
    fn stand(&mut self, me: ThreadId, wait: Packed, ready: bool, deadline: u64) {
        if self.alive > 1 {
            self.results().shared_points += 1;
        }
        self.enabled.set(me, ready);
        let key = wait.get().key();
        if key != 0 {
            self.waiters.insert(me, key);
        }
        if wait.is_polled() && !ready {
            self.polled.set(me, true);
        }
        // Also when it is ready: another thread may be faster, and then it waits.
        if deadline != NEVER {
            self.noted(note::TIMED);
            self.timers.insert(me, deadline);
        }
    }

    /// Thread `me` has been chosen and goes on.
    #[inline(always)]
    pub fn depart(&mut self, me: ThreadId) -> Wake {
        self.current = me;
        self.waiters.remove(me);
        let thread = &mut self.threads[me.index()];
        if thread.deadline != NEVER {
            thread.deadline = NEVER;
            self.timers.remove(me);
        }
        if thread.wait.is_polled() {
            self.polled.set(me, false);
        }
        // What it waited for may have come together with a disturbance: then it has it.
        let why = self.threads[me.index()].wake;
        let wake = if why == Wake::Go || self.ready(me) { Wake::Go } else { why };
        let thread = &mut self.threads[me.index()];
        thread.wait = Wait::None.pack();
        thread.wake = Wake::Go;
        thread.woken = false;
        #[cfg(feature = "verify")]
        crate::verify::departed(self, me);
        wake
    }

    /// Keeps the books on progress.
    #[inline(always)]
    fn account(&mut self, me: ThreadId) {
        let thread = &mut self.threads[me.index()];
        if thread.was_futile {
            thread.was_futile = false;
            self.futile += 1;
            return;
        }
        let done = self.pending[me.index()].kind;
        let weight = if done.is_access() { ACCESS } else { OPERATION };
        thread.since_futile = thread.since_futile.saturating_add(weight);
        if thread.since_futile > FORGIVEN {
            thread.spins = 0;
        }
        if thread.since_futile > BUSY || thread.spins == 0 {
            self.achieved();
        }
    }

    /// Time has passed: wakes those whose deadline is over.
    #[inline(always)]
    fn expire(&mut self) {
        signals::expire(self);
        while let Some((deadline, t)) = self.timers.first() {
            if deadline > self.clock.now() {
                return;
            }
            self.timers.remove(t);
            self.disturb(t, Wake::TimedOut);
        }
    }

    /// When time alone makes something happen.
    fn next_deadline(&self) -> Option<u64> {
        let deadline = self.timers.first().map_or(NEVER, |(deadline, _)| deadline);
        let next = deadline.min(signals::next_alarm());
        (next != NEVER).then_some(next)
    }

    /// All that run only spin: let time pass for those who sleep, or call it what it is.
    pub(crate) fn nobody_achieves_anything(&mut self) {
        if let Some(deadline) = self.next_deadline() {
            self.futile = 0;
            self.clock.jump(deadline);
            self.expire();
        } else if !self.polled.is_empty() {
            self.futile = 0;
            self.look_outside();
        } else if self.open_world {
            // Another process, or a thread that is not ours, may be what is waited for.
            sys::give_way();
        } else if self.results().points - self.progress_at > LIVELOCK {
            failure::stop(self, Outcome::Livelock);
        }
    }

    /// Tests the outside conditions of waiting threads.
    pub fn look_outside(&mut self) -> bool {
        let mut found = false;
        let mut k = 0;
        while let Some(t) = self.polled.nth(k) {
            k += 1;
            if let Wait::Polled(polled) = self.threads[t.index()].wait.get() {
                // SAFETY: on the stack of a thread that waits.
                let Polled { test, context, .. } = unsafe { *polled };
                // SAFETY: the context lives on the waiting thread's stack; tests do not block.
                if !self.threads[t.index()].woken && unsafe { test(context) } {
                    self.wake(t);
                    found = true;
                }
            }
        }
        found
    }

    #[cold]
    fn look_outside_now_and_then(&mut self) {
        signals::look(self);
        // SAFETY: mapped since `start`.
        unsafe { (*self.block).control.heartbeat.fetch_add(1, Ordering::Relaxed) };
        // What this process has just done itself is looked at by `decide`, and comes from inside.
        if !self.outside_touched && !self.polled.is_empty() && self.look_outside() {
            self.escaped(Escape::OutsideInput);
        }
    }
}
