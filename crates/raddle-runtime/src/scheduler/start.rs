//! The beginning of a run: of the first one in a process, and of later ones.

use core::sync::atomic::Ordering;

use raddle_core::decorators::{guard::Guard, parallel_replay::ParallelReplay, replay::Replay};
use raddle_core::policy::{Descriptor, Kind, Learns, Policy, Run};
use raddle_core::{Decision, Rng, ThreadId};
use raddle_protocol::settings::flag;
use raddle_protocol::{Block, Outcome};

use super::clock::{Clock, NEVER};
use super::decide::{Decider, PolicyHandle, RunKind};
use super::thread::{Life, Wait, Wake};
use super::Scheduler;
use crate::control;

/// The hash of an empty list of decisions: FNV's offset basis.
const FIRST_HASH: u64 = 0xcbf2_9ce4_8422_2325;

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
        self.detects = settings.flags & flag::DETECT_RACES != 0;
        self.instrumented = crate::access::offers() != 0;
        self.clock = Clock::starting_at(settings.run.realtime);
        // SAFETY: as above.
        self.clock.pass_time(unsafe { &(*block).control }.clock.load(Ordering::Relaxed));
        self.chance = Rng::for_purpose(settings.seed, 2);
        self.entropy = Rng::for_purpose(settings.seed, 3);
        let decider = if settings.flags & flag::REPLAY != 0 {
            // SAFETY: as above; Decision is a transparent u32.
            let recording = unsafe {
                let start = bytes.add((*block).replay_offset()).cast::<Decision>();
                // A program that another one has started in its place goes on with the recording, as with the log.
                let followed = (*block).results.log_len.min(settings.replay_len) as usize;
                core::slice::from_raw_parts(start, settings.replay_len as usize).split_at(followed).1
            };
            if settings.flags & flag::PARALLEL_REPLAY != 0 {
                self.replays_parallel = true;
                Decider::ParallelReplay(ParallelReplay::new(recording))
            } else {
                Decider::Replay(Replay::new(recording))
            }
        } else {
            // SAFETY: the caller's promise.
            Decider::Explore(Guard::new(PolicyHandle(unsafe { (descriptor.build)(policy_memory) }), settings.run.guard))
        };
        let explores = matches!(decider, Decider::Explore(_));
        self.decider.write(decider);
        self.start_names(explores && descriptor.learns >= Learns::Objects);
        self.searches = descriptor.kind == Kind::Systematic;
        self.start_delays(descriptor, explores);
        // In a program with checks there is no run yet.
        if !(self.searches && crate::process::check::program_has_checks()) {
            self.start_decider(settings.seed);
        }
        self.created = 1;
        self.alive = 1;
        self.current = ThreadId::MAIN;
        self.alone = true;
        self.threads[0].life = Life::Alive;
        self.enabled.set(ThreadId::MAIN, true);
        let successor = control::is_successor();
        let results = self.results();
        results.threads = results.threads.max(1);
        results.threads_alive = results.threads_alive.max(1);
        results.offers = crate::access::offers();
        if !successor {
            results.hash = FIRST_HASH;
        }
    }

    /// Starts another run in the same process, with the same main thread.
    ///
    /// # Safety
    /// As for [`Scheduler::start`], which was called before; all other threads have ended.
    pub unsafe fn restart(&mut self, seed: u64, kind: RunKind) {
        // SAFETY: the command line does not touch the settings during a series.
        let settings = unsafe { &(*self.block).settings };
        // SAFETY: written in `start`; the log holds what the results say, and a follower reads each
        // decision before its own takes the place.
        unsafe {
            if kind == RunKind::Repeated {
                let recorded =
                    core::slice::from_raw_parts(self.log.cast::<Decision>(), self.results().log_len as usize);
                self.repeat_replay.write(Replay::new(recorded));
            } else if kind == RunKind::Counted || !self.searches {
                self.start_decider(seed);
            }
        }
        self.run_kind = kind;
        // SAFETY: written in `start`.
        let explores = matches!(unsafe { self.decider.assume_init_ref() }, Decider::Explore(_));
        self.restart_delays(seed, kind, explores);
        self.start_names(self.names_objects);
        self.clock = Clock::starting_at(settings.run.realtime);
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
        self.forget_fairness();
        self.enabled.clear();
        self.enabled.set(ThreadId::MAIN, true);
        self.polled.clear();
        if core::mem::take(&mut self.any_spinning) {
            self.spinning.clear();
        }
        self.timers.clear();
        crate::signals::kernel::forget_run();
        self.spin_sampler.reset();
        self.destroyed.clear();
        let main = &mut self.threads[0];
        self.waiters.remove(ThreadId::MAIN);
        main.wait = Wait::None.pack();
        main.wake = Wake::Go;
        main.woken = false;
        main.was_futile = false;
        main.gives_way = false;
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
        results.fair_from = 0;
        results.escapes = 0;
        results.blind_spots = 0;
        results.message_len = 0;
        #[cfg(feature = "verify")]
        crate::verify::restarted();
    }

    /// Starts a run in what decides.
    fn start_decider(&mut self, seed: u64) {
        // SAFETY: mapped since `start`; the command line touches neither during a run.
        let (settings, lessons) = unsafe { (&(*self.block).settings, &(*self.block).lessons) };
        // SAFETY: as above; only this thread writes it.
        let trace = unsafe { &mut (*self.block).trace };
        trace.points = 0;
        if settings.flags & flag::TRACE != 0 {
            trace.points_without_choice.fill(0);
        }
        let (number, profile) = (settings.number, settings.profile);
        let run = Run { number, seed, parameters: settings.run.policy.values(), profile, lessons };
        // SAFETY: written in `start`.
        let (member, bound, gaps, watched) = match unsafe { self.decider.assume_init_mut() } {
            Decider::Explore(guard) => {
                guard.start(&run);
                (guard.member(), guard.bound(), guard.gaps(), guard.sees_every_point())
            }
            Decider::Replay(replay) => {
                replay.start(&run);
                (0, None, 0, false)
            }
            Decider::ParallelReplay(_) => (0, None, 0, false),
        };
        self.policy_sees_every_point = watched;
        self.set_point_tracing(self.settings().flags & flag::POINT_THREADS != 0);
        self.results().member = member;
        self.results().gaps = gaps;
        self.results().bound = bound.map_or(0, |bound| bound.saturating_add(1));
    }
}
