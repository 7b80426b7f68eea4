//! The contract between the scheduler and a policy.
//!
//! A policy is told of the run's start, of each schedule point and of the run's end, and answers
//! each point with the thread that takes the next step. It knows nothing of pthreads, of how
//! threads are switched or of what blocks them. To add one: write one file in `policies/`,
//! implement [`Policy`], describe it in a [`Descriptor`] and list that in [`crate::policies::ALL`].

use crate::enabled::EnabledSet;
use crate::event::Event;
use crate::lessons::Lessons;
use crate::thread::ThreadId;

/// The most parameters that a policy can have.
pub const MAX_PARAMETERS: usize = 16;

/// What a policy is told at the start of a run.
#[derive(Clone, Copy)]
pub struct Run<'a> {
    /// The run's number in its campaign, from 1.
    pub number: u64,
    /// The seed of this run; all randomness must come from it.
    pub seed: u64,
    /// The parameters in the order of [`Descriptor::parameters`].
    pub parameters: &'a [f64],
    /// What earlier runs showed.
    pub profile: Profile,
    /// What earlier runs showed of threads and objects, as far as [`Descriptor::learns`] asks for it.
    pub lessons: &'a Lessons,
}

/// What earlier runs of the campaign showed. Runs are made in rounds that end at fixed numbers
/// (`raddle_engine::plan::rounds`). A profile comes from completed rounds, or from the runs before a
/// fixed one of the first round, so it does not depend on how many runs go on at once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct Profile {
    /// The most steps that a run of the last round took; 0 when nothing is known yet.
    pub steps: u64,
    /// The most threads that a run of the last round had; 0 when nothing is known yet.
    pub threads: u64,
    /// The most schedule points that a run of the last round had, sequential stretches included.
    pub points: u64,
    /// The most steps between two sequential stretches in a run of the last round.
    pub phase: u64,
    /// The steps of the campaign's first run.
    pub first: u64,
}

/// A schedule point: a decision is due.
#[derive(Clone, Copy, Debug)]
pub struct Point<'a> {
    /// The thread that arrived here. It may have blocked or ended: then it is not in `enabled`.
    pub current: ThreadId,
    /// The threads that can take a step. Never empty.
    pub enabled: &'a EnabledSet,
    /// What each thread will do when it is chosen, by thread id.
    pub pending: &'a [Event],
    /// How many operations of `current` in a row made no progress: yields, failed attempts,
    /// clock readings.
    pub spins: u32,
    /// Steps counted before this one. A step is counted when it is taken while two threads are
    /// enabled, or when it is the one that made a second thread enabled.
    pub step: u64,
    /// The last step was taken alone but made a second thread enabled: it has just been counted,
    /// and a policy may treat it as a place for a preemption after the fact.
    pub opened: bool,
    /// Schedule points so far, this one and sequential stretches included.
    pub points: u64,
}

impl Point<'_> {
    /// Whether the current thread goes on without a preemption. One that spins would never block by itself.
    #[inline]
    pub fn goes_on(&self) -> bool {
        self.spins == 0 && self.enabled.contains(self.current)
    }

    /// The enabled thread whose turn comes after this one's, by their ids.
    pub fn next_turn(&self, t: ThreadId) -> ThreadId {
        self.enabled.after(t).or(self.enabled.nth(0)).unwrap_or(t)
    }

    /// The thread that goes on without a preemption, where threads take turns.
    pub fn unpreempted(&self) -> ThreadId {
        if self.goes_on() {
            self.current
        } else {
            self.next_turn(self.current)
        }
    }
}

/// An algorithm that decides which thread goes next.
pub trait Policy {
    /// A run starts.
    fn start(&mut self, run: &Run<'_>);

    /// At least two threads are enabled: which of them takes the next step?
    fn choose(&mut self, point: &Point<'_>) -> ThreadId;

    /// `parent` has created `child`, which is enabled from the next point on.
    fn created(&mut self, _parent: ThreadId, _child: ThreadId) {}

    /// The thread spins or yields without progress: a policy that would run it for ever should
    /// prefer others from now on.
    fn lower(&mut self, _thread: ThreadId) {}

    /// `current` has just been chosen, and `steps` steps have been counted so far. For how many steps more,
    /// up to `most`, will [`Policy::choose`] choose it again, if nothing happens but that it goes on? A
    /// policy that says so is not asked at these steps, which makes them cheap. 0: it wants to be asked.
    fn lease(&self, _current: ThreadId, _steps: u64, _most: u64) -> u64 {
        0
    }

    /// `steps` steps of a lease have been taken.
    fn pass(&mut self, _steps: u64) {}

    /// Which policy of a portfolio decides in the run that has started.
    fn member(&self) -> u32 {
        0
    }

    /// Of a [parallel](Kind::Parallel) policy, which is asked this instead of [`Policy::choose`]: may `thread`,
    /// which stands before its next step and could take it, take it now? When no other thread runs, one of the
    /// enabled ones must be allowed to.
    fn may_run(&self, _thread: ThreadId, _point: &ParallelPoint<'_>) -> bool {
        true
    }

    /// Of a parallel policy: `thread` takes step number `step`, counted from 1 over all threads as
    /// [`Point::step`] says.
    fn step_taken(&mut self, _thread: ThreadId, _step: u64) {}

    /// Of a parallel policy: how many nanoseconds a thread really sleeps before its next step.
    fn sleep_nanoseconds(&mut self) -> u64 {
        0
    }

    /// Of a parallel policy: whether threads are woken on idle cores, instead of where the kernel puts them.
    fn spreads_over_cores(&self) -> bool {
        false
    }

    /// Of a parallel policy that holds threads back: after how many nanoseconds without a schedule point one of these
    /// takes a step all the same.
    fn patience(&self) -> u64 {
        PATIENCE
    }

    /// The run has come to its end, and did not crash.
    fn end(&mut self) {}

    /// The run that was started does not count: the next one takes its place.
    fn run_discarded(&mut self) {}

    /// Whether [`Policy::no_choice`] is to be called.
    fn sees_every_point(&self) -> bool {
        false
    }

    /// One thread only is enabled, and takes a step; or none is, and the run is over. A policy that
    /// [`Policy::sees_every_point`] is told of each such point once there have been two threads.
    fn no_choice(&mut self, _point: &Point<'_>) {}

    /// One of these threads, a bit each by id, is woken, and the model does not care which: a policy may say it.
    /// `None`: it is drawn.
    fn choose_waiter(&mut self, _waiters: u64) -> Option<ThreadId> {
        None
    }

    /// The bound of the run that has started, for a policy that explores one bound after the other.
    fn bound(&self) -> Option<u32> {
        None
    }

    /// Asked after [`Policy::start`]: what a search has left out so far; bits of [`Gap`].
    fn gaps(&self) -> u32 {
        0
    }

    /// Asked after [`Policy::start`]: what was explored, if no schedule is left. The run is not made then.
    fn exhausted(&self) -> Option<Explored> {
        None
    }
}

/// Why a search that is over may have left schedules out; bits of [`Explored::gaps`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Gap {
    /// Runs had more choice points than are kept.
    Depth = 0,
    /// Runs had more threads than are told apart.
    Threads,
    /// The same choices led to another state.
    Unstable,
    /// There were more schedules than can be noted for later bounds.
    Memory,
    /// Threads waited busily, which the reduction does not know.
    Spins,
}

impl Gap {
    /// All of them.
    pub const ALL: [Gap; 5] = [Gap::Depth, Gap::Threads, Gap::Unstable, Gap::Memory, Gap::Spins];

    /// In words, for people.
    pub fn text(self) -> &'static str {
        [
            "some runs have more choice points than the search keeps",
            "some runs have more threads than the search tells apart",
            "the program did not always do the same after the same choices",
            "there are more schedules than the search can note for the next bound",
            "threads wait busily, and the reduction does not know what they wait for",
        ][self as usize]
    }
}

/// What a search has explored when no schedule is left.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct Explored {
    /// Schedules.
    pub schedules: u64,
    /// Runs that turned out to repeat a schedule up to the order of independent operations.
    pub redundant: u64,
    /// The bound up to which all schedules were explored, plus 1; 0: there was no bound.
    pub bound: u32,
    /// See [`Gap`].
    pub gaps: u32,
    /// Whether schedules were left out that differ from others by the order of independent operations only.
    pub reduced: bool,
    /// Whether a thread that waits busily was held back for others in any run: schedules in which it is not were left
    /// out.
    pub fair: bool,
}

impl Explored {
    /// Notes that schedules may be left out.
    pub fn lacks(&mut self, gap: Gap) {
        self.gaps |= 1 << gap as u32;
    }
}

/// What a parallel policy is told when a thread wants to take a step.
#[derive(Clone, Copy, Debug)]
pub struct ParallelPoint<'a> {
    /// The threads that run, and those that stand before a step that they could take, the asking one included.
    pub enabled: &'a EnabledSet,
    /// Whether another thread runs: it has begun a step, and has not come to its next one.
    pub others_run: bool,
}

/// Nanoseconds without a schedule point after which a thread that a parallel policy holds takes a step all the same,
/// when the policy says nothing.
pub const PATIENCE: u64 = 1_000_000_000;

#[cfg(test)]
impl<P: Policy + ?Sized> Policy for Box<P> {
    fn start(&mut self, run: &Run<'_>) {
        (**self).start(run);
    }
    fn choose(&mut self, point: &Point<'_>) -> ThreadId {
        (**self).choose(point)
    }
    fn created(&mut self, parent: ThreadId, child: ThreadId) {
        (**self).created(parent, child);
    }
    fn lower(&mut self, thread: ThreadId) {
        (**self).lower(thread);
    }
    fn lease(&self, current: ThreadId, steps: u64, most: u64) -> u64 {
        (**self).lease(current, steps, most)
    }
    fn pass(&mut self, steps: u64) {
        (**self).pass(steps);
    }
    fn member(&self) -> u32 {
        (**self).member()
    }
    fn may_run(&self, thread: ThreadId, point: &ParallelPoint<'_>) -> bool {
        (**self).may_run(thread, point)
    }
    fn step_taken(&mut self, thread: ThreadId, step: u64) {
        (**self).step_taken(thread, step);
    }
    fn sleep_nanoseconds(&mut self) -> u64 {
        (**self).sleep_nanoseconds()
    }
    fn spreads_over_cores(&self) -> bool {
        (**self).spreads_over_cores()
    }
    fn patience(&self) -> u64 {
        (**self).patience()
    }
    fn end(&mut self) {
        (**self).end();
    }
    fn run_discarded(&mut self) {
        (**self).run_discarded();
    }
    fn sees_every_point(&self) -> bool {
        (**self).sees_every_point()
    }
    fn no_choice(&mut self, point: &Point<'_>) {
        (**self).no_choice(point);
    }
    fn choose_waiter(&mut self, waiters: u64) -> Option<ThreadId> {
        (**self).choose_waiter(waiters)
    }
    fn bound(&self) -> Option<u32> {
        (**self).bound()
    }
    fn gaps(&self) -> u32 {
        (**self).gaps()
    }
    fn exhausted(&self) -> Option<Explored> {
        (**self).exhausted()
    }
}

/// One parameter of a policy.
#[derive(Clone, Copy, Debug)]
pub struct Parameter {
    /// The name on the command line.
    pub name: &'static str,
    /// What it means, in one line.
    pub help: &'static str,
    /// The value when none is given.
    pub default: f64,
    /// The smallest value that makes sense.
    pub min: f64,
    /// The largest value that makes sense.
    pub max: f64,
    /// Whether only whole numbers make sense.
    pub whole: bool,
    /// The names of the values 0, 1, …; empty when the value is a number.
    pub choices: &'static [&'static str],
}

impl Parameter {
    /// A number.
    pub const fn number(name: &'static str, default: f64, min: f64, max: f64, help: &'static str) -> Parameter {
        Parameter { name, help, default, min, max, whole: false, choices: &[] }
    }

    /// A whole number.
    pub const fn whole(name: &'static str, default: f64, min: f64, max: f64, help: &'static str) -> Parameter {
        Parameter { name, help, default, min, max, whole: true, choices: &[] }
    }

    /// One of several names, of which the first has the value 0.
    pub const fn choice(
        name: &'static str,
        default: usize,
        choices: &'static [&'static str],
        help: &'static str,
    ) -> Parameter {
        let max = (choices.len() - 1) as f64;
        Parameter { name, help, default: default as f64, min: 0.0, max, whole: true, choices }
    }

    /// Something that is on or off.
    pub const fn switch(name: &'static str, default: bool, help: &'static str) -> Parameter {
        Parameter::choice(name, default as usize, &["off", "on"], help)
    }
}

/// What a policy is told of earlier runs; each includes what stands above it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum Learns {
    /// Nothing.
    Nothing = 0,
    /// The [`Profile`].
    Steps,
    /// The steps of each thread: [`Lessons::threads`].
    Lengths,
    /// Which objects threads share: [`Lessons::object_uses`]. In such a policy's runs events have names of objects in
    /// the place of addresses, and no identities are made ready, so that the heap is the same in all runs.
    Objects,
    /// Orders of operations that no run has shown: [`Lessons::untested_pairs`].
    Pairs,
}

impl Learns {
    /// All of them.
    pub const ALL: [Learns; 5] = [Learns::Nothing, Learns::Steps, Learns::Lengths, Learns::Objects, Learns::Pairs];

    /// In a list of policies.
    pub fn name(self) -> &'static str {
        ["nothing", "steps", "lengths", "objects", "orders"][self as usize]
    }
}

/// How the runs of a policy are made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Kind {
    /// Each run is drawn by its seed; threads take turns.
    Sampling = 0,
    /// Each run depends on the one before it: the policy's state outlives the run, and there is one job. The
    /// state must be valid when zeroed: [`Descriptor::build`] is called in many processes, and must not touch it.
    Systematic,
    /// Threads really run at the same time; the order that happened is recorded.
    Parallel,
}

impl Kind {
    /// All of them.
    pub const ALL: [Kind; 3] = [Kind::Sampling, Kind::Systematic, Kind::Parallel];

    /// In a list of policies.
    pub fn name(self) -> &'static str {
        ["sampling", "systematic", "parallel"][self as usize]
    }
}

/// What the command line and the runtime must know of a policy.
#[derive(Clone, Copy)]
pub struct Descriptor {
    /// The name on the command line.
    pub name: &'static str,
    /// What it does, in one line.
    pub summary: &'static str,
    /// Where it was published.
    pub source: &'static str,
    /// Its parameters.
    pub parameters: &'static [Parameter],
    /// How its runs are made.
    pub kind: Kind,
    /// What it is told of earlier runs.
    pub learns: Learns,
    /// Bytes and alignment of the policy's state.
    pub layout: core::alloc::Layout,
    /// Builds the policy in zeroed memory of that layout.
    ///
    /// # Safety
    /// The memory must be zeroed, of the layout above, and live as long as the policy is used.
    pub build: unsafe fn(*mut u8) -> *mut dyn Policy,
}

/// Describes a policy. Its state is made by `Default`; after the word `zeroed` it is taken as it is in
/// zeroed memory, which saves touching it at the start of every run.
#[macro_export]
macro_rules! descriptor {
    (zeroed $type:ty, $($rest:tt)*) => {
        // The state is documented as valid when zeroed.
        $crate::descriptor!(@ $type, |_memory: *mut $type| (), $($rest)*)
    };
    (@ $type:ty, $init:expr, name: $name:expr, summary: $summary:expr, source: $source:expr,
     kind: $kind:expr, learns: $learns:expr, parameters: $parameters:expr) => {
        $crate::policy::Descriptor {
            name: $name,
            summary: $summary,
            source: $source,
            parameters: $parameters,
            kind: $kind,
            learns: $learns,
            layout: ::core::alloc::Layout::new::<$type>(),
            build: {
                #[link_section = "raddle_run"]
                unsafe fn build(memory: *mut u8) -> *mut dyn $crate::policy::Policy {
                    let typed = memory.cast::<$type>();
                    ($init)(typed);
                    typed
                }
                build
            },
        }
    };
    ($type:ty, $($rest:tt)*) => {
        // SAFETY: the caller of `build` gives memory of this type's layout.
        $crate::descriptor!(@ $type, |memory: *mut $type| unsafe { memory.write(<$type>::default()) }, $($rest)*)
    };
}
