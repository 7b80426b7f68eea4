//! The contract between the scheduler and a policy.
//!
//! A policy is told of the run's start, of each schedule point and of the run's end, and answers
//! each point with the thread that takes the next step. It knows nothing of pthreads, of how
//! threads are switched or of what blocks them. To add one: write one file in `policies/`,
//! implement [`Policy`], describe it in a [`Descriptor`] and list that in [`crate::policies::ALL`].
//! A policy that wraps another one forwards what it does not change with [`forward_policy!`](crate::forward_policy).

mod descriptor;
mod explored;
mod forward;

use crate::enabled::EnabledSet;
use crate::event::Event;
use crate::lessons::Lessons;
use crate::thread::ThreadId;

pub use descriptor::{Descriptor, Kind, Learns, Parameter, MAX_PARAMETERS};
pub use explored::{Explored, Gap};

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
    /// The most [delay points](crate::delays) that a run of the first round had. Policies have no use for it.
    pub delay_points: u64,
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
///
/// A policy needs `start` and `choose`. The other methods are for policies that want to know more, for searches, and for
/// parallel policies, in this order.
pub trait Policy {
    /// Called before the first point of each run.
    fn start(&mut self, run: &Run<'_>);

    /// At least two threads are enabled: which of them takes the next step?
    fn choose(&mut self, point: &Point<'_>) -> ThreadId;

    /// `parent` has created `child`, which is enabled from the next point on.
    fn created(&mut self, _parent: ThreadId, _child: ThreadId) {}

    /// The thread spins or yields without progress: a policy that would run it for ever should
    /// prefer others from now on.
    fn lower(&mut self, _thread: ThreadId) {}

    /// `current` has just been chosen, and `steps` steps have been counted so far. For how many more steps,
    /// up to `most`, will [`Policy::choose`] choose it again, as long as nothing happens except that it goes
    /// on? The policy is not asked at these steps, which makes them cheap. 0: it wants to be asked.
    fn lease(&self, _current: ThreadId, _steps: u64, _most: u64) -> u64 {
        0
    }

    /// `steps` steps of a lease have been taken.
    fn pass(&mut self, _steps: u64) {}

    /// The run has ended without a crash.
    fn end(&mut self) {}

    /// Whether [`Policy::no_choice`] is to be called.
    fn sees_every_point(&self) -> bool {
        false
    }

    /// Only one thread is enabled, and takes a step; or none is, and the run is over. Called once there have been two
    /// threads, if the policy [sees every point](Policy::sees_every_point).
    fn no_choice(&mut self, _point: &Point<'_>) {}

    /// Of a portfolio: which of its policies decides in the run that has started.
    fn member(&self) -> u32 {
        0
    }

    /// Of a search: which of these threads, one bit each by id, is to be woken, where the model does not care.
    /// `None`: it is drawn.
    fn choose_waiter(&mut self, _waiters: u64) -> Option<ThreadId> {
        None
    }

    /// Of a search: time may pass although threads can run, until one of these deadlines comes. Which, counted from 1;
    /// 0: none does.
    fn pass_time(&mut self, _deadlines: u32) -> u32 {
        0
    }

    /// Of a search: the run that was started does not count. The next one takes its place.
    fn run_discarded(&mut self) {}

    /// Of a search that explores one bound after another: the bound of the run that has started.
    fn bound(&self) -> Option<u32> {
        None
    }

    /// Of a search, asked after [`Policy::start`]: what it has left out so far; bits of [`Gap`].
    fn gaps(&self) -> u32 {
        0
    }

    /// Of a search, asked after [`Policy::start`]: what was explored, if no schedule is left. Then the run is not made.
    fn exhausted(&self) -> Option<Explored> {
        None
    }

    /// Of a [parallel](Kind::Parallel) policy, which is asked this instead of [`Policy::choose`]: may `thread`,
    /// which waits at a point and could take its next step, take it now? When no other thread runs, at least
    /// one of the enabled ones must be allowed to.
    fn may_run(&self, _thread: ThreadId, _point: &ParallelPoint<'_>) -> bool {
        true
    }

    /// Of a parallel policy: `thread` takes step number `step`, counted from 1 over all threads as
    /// [`Point::step`] says.
    fn step_taken(&mut self, _thread: ThreadId, _step: u64) {}

    /// Of a parallel policy: how many nanoseconds a thread sleeps, in real time, before its next step.
    fn sleep_nanoseconds(&mut self) -> u64 {
        0
    }

    /// Of a parallel policy: whether threads are woken on idle cores, instead of where the kernel puts them.
    fn spreads_over_cores(&self) -> bool {
        false
    }

    /// Of a parallel policy that holds threads back: after how many nanoseconds without a schedule point one of
    /// these takes a step all the same.
    fn patience(&self) -> u64 {
        PATIENCE
    }
}

/// A point of a parallel run: a thread wants to take a step.
#[derive(Clone, Copy, Debug)]
pub struct ParallelPoint<'a> {
    /// The threads that run, and those that wait at a point and could take a step, the asking one included.
    pub enabled: &'a EnabledSet,
    /// Whether another thread runs: it has begun a step, and has not come to its next one.
    pub others_run: bool,
}

/// [`Policy::patience`] of a policy that does not define it, in nanoseconds.
pub const PATIENCE: u64 = 1_000_000_000;
