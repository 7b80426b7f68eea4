//! Runs that seem to make no progress: a fair schedule takes over, and under it states are compared.
//!
//! Suspicion comes from counting operations (see [`progress`](super::progress)) and is never a verdict: it only changes
//! who decides. From then on threads take [turns](raddle_core::decorators::round_robin) of three kinds, in stages that
//! last longer each time round. A program that ends is good. It is in a livelock if its state
//! [recurs](crate::recurrence) both with turns of one point and with long ones, and if states of the beginning come back
//! at the end of a stage with turns of many lengths in between: then no fair schedule that was tried achieved anything.
//!
//! All of this depends on the numbers of points alone, so a replay does the same. Stages end at fixed points, whenever
//! the recurrence was seen, because that may differ between fibers and OS threads.

use raddle_core::decorators::round_robin::{RoundRobin, Turns};
use raddle_core::{EnabledSet, ThreadId, MAX_THREADS};
use raddle_protocol::settings::flag;
use raddle_protocol::{Escape, Outcome};

use super::progress::LIVELOCK;
use super::thread::Life;
use super::Scheduler;
use crate::control::{self, state_pointer};
use crate::os::{memory, sys};
use crate::process::failure;
use crate::recurrence::pages::Pages;
use crate::recurrence::{hash::Hash, model, Cycle, Quarter, Seen, State};
use crate::signals::kernel as signals;
use crate::switch::own_stack;

/// The points of the first stage.
const STAGE: u64 = 8_192;
/// Where the remembered state lies.
const REMEMBERED: usize = memory::RUNTIME.start + 0xf_1000_0000;

/// The fair schedule. Valid when zeroed.
#[derive(Default)]
pub struct Fairness {
    turns: RoundRobin,
    kind: Turns,
    /// How many points a stage lasts.
    length: u64,
    /// The point at which this one ends.
    ends: u64,
    /// The state recurred in the last stage with turns of one point.
    recurred: bool,
    /// And states of the last one with drawn turns came back in it.
    stuck: bool,
    cycle: Cycle,
    /// See [`sys::answers`].
    answers: u64,
    /// The remembered state of the model.
    model: Option<Hash>,
    /// The thread that was woken last where any of several could have been.
    woken: ThreadId,
}

/// What belongs to the fair schedule. Valid when zeroed.
pub struct Fair {
    schedule: Fairness,
    /// Where the registers of each thread were put at its last point.
    pub stack_pointers: [usize; MAX_THREADS],
    reserved: bool,
    /// States under drawn turns.
    seen: Seen,
}

impl Fair {
    fn pages() -> &'static mut Pages {
        // SAFETY: mapped in `take_over`, valid when zeroed, and only used by the thread that holds the baton, for one
        // look at a time.
        unsafe { &mut *(REMEMBERED as *mut Pages) }
    }
}

/// The state of the run at this moment.
struct Now<'a> {
    model: Hash,
    remembered: &'a mut Option<Hash>,
}

impl State for Now<'_> {
    fn remember(&mut self) -> bool {
        *self.remembered = Some(self.model);
        Fair::pages().remember()
    }

    fn recurs(&mut self) -> bool {
        *self.remembered == Some(self.model) && Fair::pages().recurs()
    }
}

impl Scheduler {
    /// A fair schedule takes over if the run seems to make no progress, or is about to be cut.
    #[cold]
    pub(super) fn suspect(&mut self) {
        // Threads of a parallel run are scheduled by the kernel, which is fair.
        if self.is_fair || control::parallel() {
            return;
        }
        let (settings, most) = (self.settings(), self.settings().run.max_steps);
        let (replays, recorded) = (settings.flags & flag::REPLAY != 0, settings.fair_from);
        let (points, steps) = (self.results().points, self.results().steps);
        let suspicious = points - self.progress_at > LIVELOCK.min(most / 2) || steps > most - most / 10;
        if if replays && recorded != 0 { points >= recorded } else { suspicious } {
            self.take_over();
        }
    }

    fn take_over(&mut self) {
        let points = self.results().points;
        self.results().fair_from = points;
        self.is_fair = true;
        let length = STAGE.min((self.settings().run.max_steps / 16).max(1));
        let it = fair();
        it.schedule = Fairness { length, ends: points + length, ..Fairness::default() };
        if !core::mem::replace(&mut it.reserved, true) {
            sys::unseen(|| sys::map_at(REMEMBERED, size_of::<Pages>()));
            sys::unseen(own_stack::reserve);
        }
    }

    /// Sets back what belongs to a run.
    pub(super) fn forget_fairness(&mut self) {
        if core::mem::take(&mut self.is_fair) {
            let it = fair();
            it.schedule = Fairness::default();
            it.stack_pointers.fill(0);
        }
    }

    /// The thread whose turn it is at a point of `me`.
    #[cold]
    pub(super) fn fair_choice(&mut self, me: ThreadId) -> ThreadId {
        let gives_way = core::mem::take(&mut self.threads[me.index()].gives_way);
        fair().schedule.turns.choose(me, &self.enabled, gives_way)
    }

    /// Which of several waiters, one bit each, is woken: in turns, too.
    pub(super) fn fair_waiter(&mut self, waiters: u64) -> ThreadId {
        let schedule = &mut fair().schedule;
        let mut set = EnabledSet::new();
        (0..64).filter(|i| waiters >> i & 1 != 0).for_each(|i| _ = set.set(ThreadId(i), true));
        schedule.woken = set.after(schedule.woken).or(set.first()).unwrap_or_default();
        schedule.woken
    }

    /// A decision under the fair schedule: `next` goes on after `me`. Ends the run if it is in a livelock.
    #[cold]
    pub fn compare_states(&mut self, me: ThreadId, next: ThreadId) {
        if !self.is_fair {
            return;
        }
        let points = self.results().points;
        let Fair { schedule, stack_pointers, seen, .. } = fair();
        let alone = self.enabled.len() < 2;
        if alone {
            schedule.turns.end_turn();
        }
        let drawn = schedule.kind == Turns::Drawn;
        // Where a round of turns begins; between two such visits every thread that can run has had its turn.
        let visits = if drawn { next != me } else { next.index() < me.index() };
        if alone || visits {
            let answers = core::mem::replace(&mut schedule.answers, sys::answers());
            let model = if self.is_closed() { model::of(self, next, stack_pointers) } else { None };
            let quiet = answers == schedule.answers && model.is_some();
            let model = model.unwrap_or(Hash::EMPTY);
            if !drawn {
                let mut now = Now { model, remembered: &mut schedule.model };
                sys::unseen(|| schedule.cycle.visit(quiet, &mut now));
            } else if quiet {
                let quarter = Quarter::of(schedule.ends.saturating_sub(points + 1), schedule.length);
                seen.visit(quarter, || self.achieved(model, stack_pointers));
            } else {
                seen.clear();
            }
        }
        if points >= schedule.ends {
            self.next_stage();
        }
    }

    /// A hash of the state with the registers of threads, but without their stacks, and the pages that this took. A timer's
    /// signal may have left something on a stack that differs each time.
    fn achieved(&self, mut hash: Hash, stack_pointers: &[usize]) -> Option<(Hash, u64)> {
        const REGISTERS: usize = 8;
        let stacks = &stack_pointers[..self.created];
        for (thread, &stack) in self.threads.iter().zip(stacks) {
            if thread.life == Life::Alive && stack != 0 {
                // SAFETY: `own_stack` has put them there, between control words and a return address, and the thread has not
                // gone on since.
                let registers = unsafe { core::slice::from_raw_parts(stack as *const u64, REGISTERS) };
                registers.iter().for_each(|&register| hash.word(register));
            }
        }
        let (memory, pages) = sys::unseen(|| Fair::pages().digest(stacks))?;
        hash.add(memory);
        Some((hash, pages))
    }

    /// A stage is over.
    fn next_stage(&mut self) {
        let points = self.results().points;
        let Fair { schedule, seen, .. } = fair();
        let proven = core::mem::take(&mut schedule.cycle).is_proven();
        let next = match schedule.kind {
            Turns::Single => {
                schedule.recurred = proven;
                seen.clear();
                Turns::Drawn
            }
            Turns::Drawn => {
                schedule.stuck = seen.is_again();
                Turns::Long
            }
            Turns::Long if proven && schedule.recurred && schedule.stuck => self.end_in_livelock(),
            Turns::Long => {
                schedule.length *= 2;
                Turns::Single
            }
        };
        schedule.kind = next;
        schedule.turns = RoundRobin::new(next);
        schedule.ends = points + schedule.length;
    }

    fn end_in_livelock(&mut self) -> ! {
        let from = self.results().fair_from;
        failure::write_message(
            self.results(),
            format_args!(
                "no thread gets anywhere: since a fair schedule took over at point {from}, memory and registers have \
                 come back to the same state again and again"
            ),
        );
        failure::stop(self, Outcome::Livelock)
    }

    /// Whether all that can still happen comes from the threads that can run.
    fn is_closed(&mut self) -> bool {
        const UNSEEN: u64 = 1 << Escape::NoDispatch as u32 | 1 << Escape::ForeignThread as u32;
        let open = self.open_world
            || self.foreign_threads
            || self.results().escapes & UNSEEN != 0
            || self.next_deadline().is_some()
            || self.polled.iter().any(|t| self.waits_for_outside(t))
            || signals::expected(self);
        !open && control::mailbox().is_empty()
    }
}

fn fair() -> &'static mut Fair {
    // SAFETY: the callers hold the baton; the scheduler does not overlap with what is beside it.
    unsafe { &mut *core::ptr::addr_of_mut!((*state_pointer()).fair) }
}
