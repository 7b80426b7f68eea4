//! Delays: threads that could run are late, and the deadline of another thread comes first.
//!
//! When and how often is [`raddle_core::delays`]' matter; here stands what a delay is. At most one comes before the
//! decisions at one point, so that its number is enough to repeat it. Nothing passes while something real goes on
//! outside, which would not be late as well, nor once a fair schedule decides, which looks for a livelock.

use raddle_core::delays::{Draw, Lag, DEADLINES, MOST};
use raddle_core::policy::{Descriptor, Kind};
use raddle_core::{Delay, Policy, ThreadId};
use raddle_protocol::results::blind_spot;
use raddle_protocol::settings::flag;
use raddle_protocol::trace::DELAYS;
use raddle_protocol::Settings;

use super::decide::RunKind;
use super::timers::Entry;
use super::Scheduler;
use crate::control;
use crate::process::failure;

/// The most points for which late threads stay behind.
const BEHIND: u64 = 1_000;

/// What decides whether a delay comes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[repr(u8)]
enum Source {
    /// Nothing: none does.
    #[default]
    Nothing = 0,
    /// The run's seed.
    Drawn,
    /// A list.
    Given,
    /// The policy, which is a search.
    Search,
}

/// The delays of a run. Valid when zeroed: there are none.
pub struct Delays {
    source: Source,
    /// Possible delays are noted.
    notes: bool,
    /// Of which how many go between two that are noted, and how many have gone.
    stride: u32,
    skipped: u32,
    lag: Lag,
    draw: Draw,
    given: [Delay; MOST],
    given_count: usize,
    /// Those of the given ones that have passed.
    followed: usize,
    /// The last point that was a delay point.
    last_point: u64,
    /// The point up to which the late threads stay behind.
    behind_until: u64,
}

impl Delays {
    /// What decides in a run of this kind, of a policy or a replay.
    fn of(settings: &Settings, seed: u64, kind: RunKind, explores: bool, searches: bool) -> Delays {
        let given = settings.flags & flag::GIVEN_DELAYS != 0;
        let parallel = flag::PARALLEL | flag::PARALLEL_REPLAY;
        let source = match kind {
            _ if settings.run.lag == 0 || settings.flags & parallel != 0 => Source::Nothing,
            RunKind::WarmUp => Source::Nothing,
            _ if given => Source::Given,
            // It repeats what is in the results; see `restart_delays`.
            RunKind::Repeated => Source::Given,
            RunKind::Counted if !explores => Source::Nothing,
            RunKind::Counted if searches => Source::Search,
            RunKind::Counted => Source::Drawn,
        };
        Delays {
            source,
            notes: settings.flags & flag::NOTE_DELAYS != 0,
            stride: 1,
            skipped: 0,
            lag: Lag::new(settings.run.lag.saturating_mul(1_000_000)),
            draw: Draw::new(seed, settings.profile.delay_points),
            given: settings.delays,
            given_count: if given { (settings.delay_count as usize).min(MOST) } else { 0 },
            followed: 0,
            last_point: 0,
            behind_until: 0,
        }
    }

    /// Time has passed while no thread could run.
    pub fn rested(&mut self, nanoseconds: u64) {
        self.lag.refill(nanoseconds);
    }
}

/// The earliest deadlines that can come, each once, in their order.
#[derive(Default)]
struct Deadlines {
    at: [u64; DEADLINES],
    count: usize,
}

impl Deadlines {
    fn add(&mut self, deadline: u64) {
        let place = self.at[..self.count].partition_point(|&other| other < deadline);
        if place == DEADLINES || self.at[..self.count].get(place) == Some(&deadline) {
            return;
        }
        self.count = (self.count + 1).min(DEADLINES);
        self.at[place..self.count].rotate_right(1);
        self.at[place] = deadline;
    }
}

impl Scheduler {
    /// A process starts its first run, perhaps in the place of a program that has had some of the run's delays.
    #[link_section = "raddle_run"]
    pub(super) fn start_delays(&mut self, descriptor: &Descriptor, explores: bool) {
        let searches = descriptor.kind == Kind::Systematic;
        let settings = self.settings();
        self.delays = Delays::of(settings, settings.seed, RunKind::Counted, explores, searches);
        let results = self.results();
        let (had, delays) = ((results.delay_count as usize).min(MOST), results.delays);
        for delay in &delays[..had] {
            self.delays.lag.spend(delay.nanoseconds);
        }
        self.delays.followed = had;
    }

    /// Another run starts in the same process; the results are still those of the one before it.
    pub(super) fn restart_delays(&mut self, seed: u64, kind: RunKind, explores: bool) {
        let (searches, results) = (self.searches, self.results());
        let (before, count) = (results.delays, results.delay_count as usize);
        (results.delay_count, results.delay_points) = (0, 0);
        self.delays = Delays::of(self.settings(), seed, kind, explores, searches);
        if kind == RunKind::Repeated {
            (self.delays.given, self.delays.given_count) = (before, count.min(MOST));
        }
    }

    /// Threads can run, and a thread has a deadline: perhaps that comes first.
    #[inline(never)]
    #[link_section = "raddle_run"]
    pub(super) fn consider_delay(&mut self, me: ThreadId) {
        if self.searches {
            self.note_deadlines();
        }
        let point = self.results().points;
        if !self.is_delay_point(point, self.clock.now()) {
            return;
        }
        self.delays.last_point = point;
        self.results().delay_points += 1;
        let number = self.results().delay_points;
        if !self.delays.notes && !self.delays.may_come(point, number) {
            return;
        }
        let deadlines = self.deadlines();
        if self.delays.notes {
            self.note_delays(point, &deadlines);
        }
        if self.results().delay_count as usize == MOST {
            return;
        }
        if let Some((nanoseconds, behind)) = self.chosen_delay(point, &deadlines) {
            self.delay(me, point, nanoseconds);
            if behind {
                self.delays.behind_until = point + BEHIND;
            }
        }
    }

    /// Whether a deadline can come at this point although threads can run.
    #[inline]
    fn is_delay_point(&self, point: u64, now: u64) -> bool {
        let reach = now + self.delays.lag.left();
        let is_near = self.timers.first().is_some_and(|(first, _)| first <= reach);
        if !is_near || self.delays.source == Source::Nothing || point == self.delays.last_point || self.is_fair {
            return false;
        }
        if self.open_world || self.is_open_to_outside() || control::parallel() {
            return false;
        }
        self.timers.entries().iter().any(|entry| self.can_come(entry, reach))
    }

    /// Whether a deadline lies before `reach` and its thread needs it: one that can go on does not.
    #[inline]
    fn can_come(&self, entry: &Entry, reach: u64) -> bool {
        entry.deadline <= reach && !self.enabled.contains(ThreadId(entry.thread))
    }

    /// The deadlines that can come at a delay point.
    fn deadlines(&self) -> Deadlines {
        let reach = self.clock.now() + self.delays.lag.left();
        let mut deadlines = Deadlines::default();
        let near = self.timers.entries().iter().filter(|entry| self.can_come(entry, reach));
        near.for_each(|entry| deadlines.add(entry.deadline));
        deadlines
    }

    /// By how much threads are late at this point, and whether they stay behind.
    fn chosen_delay(&mut self, point: u64, deadlines: &Deadlines) -> Option<(u64, bool)> {
        let (number, now) = (self.results().delay_points, self.clock.now());
        let (chosen, behind) = match self.delays.source {
            Source::Nothing => return None,
            Source::Drawn => self.delays.draw.at(number, deadlines.count)?,
            Source::Search => (self.searched_delay(deadlines.count)?, false),
            // A list shows the least that is needed, so nothing is left to chance.
            Source::Given => return self.delays.follow(point).map(|nanoseconds| (nanoseconds, true)),
        };
        Some((deadlines.at[chosen.min(deadlines.count - 1)].saturating_sub(now), behind))
    }

    #[cold]
    fn searched_delay(&mut self, deadlines: usize) -> Option<usize> {
        let chosen = self.exploring()?.pass_time(deadlines as u32);
        (chosen as usize).checked_sub(1)
    }

    /// The threads that can run are late.
    #[cold]
    fn delay(&mut self, me: ThreadId, point: u64, nanoseconds: u64) {
        let late = if self.enabled.contains(me) { me } else { self.enabled.first().unwrap_or(me) };
        if self.settings().flags & flag::LOOK_AT_DELAYS != 0 {
            failure::look(self, me);
        }
        let delay = Delay { point, nanoseconds, thread: late.0.into() };
        let results = self.results();
        results.delays[results.delay_count as usize] = delay;
        results.delay_count += 1;
        // Two delays at one point make two schedules, whatever threads do next.
        results.hash = Scheduler::hash(Scheduler::hash(results.hash, u32::MAX), (nanoseconds / 1_000) as u32);
        for i in 0..self.created {
            self.threads[i].is_late = self.enabled.contains(ThreadId(i as u16));
        }
        self.delays.lag.spend(nanoseconds);
        self.clock.pass_time(nanoseconds);
        self.expire();
    }

    /// Whether threads may have to stay behind at the next decisions.
    #[inline(always)]
    pub(super) fn holds_back(&self) -> bool {
        self.delays.behind_until != 0
    }

    /// The thread that goes on in the place of a late one that the policy has chosen, at a point of `me`.
    #[cold]
    pub(super) fn before_late(&mut self, me: ThreadId, chosen: ThreadId) -> ThreadId {
        let waits = self.threads[me.index()].spins > 0 || self.results().points > self.delays.behind_until;
        let in_time = |t: &ThreadId| !self.threads[t.index()].is_late;
        let other = (0..self.enabled.len()).filter_map(|k| self.enabled.nth(k)).find(in_time);
        match other.filter(|_| !waits) {
            Some(_) if in_time(&chosen) => chosen,
            Some(_) if in_time(&me) && self.enabled.contains(me) => me,
            Some(other) => other,
            None => {
                self.delays.behind_until = 0;
                chosen
            }
        }
    }

    /// Notes for a search that deadlines could have come, if that was so.
    #[cold]
    fn note_deadlines(&mut self) {
        if self.timers.entries().iter().any(|entry| !self.enabled.contains(ThreadId(entry.thread))) {
            self.record_blind_spot(blind_spot::DEADLINES);
        }
    }

    #[cold]
    fn note_delays(&mut self, point: u64, deadlines: &Deadlines) {
        self.delays.skipped += 1;
        if self.delays.skipped < self.delays.stride {
            return;
        }
        self.delays.skipped = 0;
        let now = self.clock.now();
        // SAFETY: mapped since `start`; the command line reads it after the run.
        let trace = unsafe { &mut (*self.block).trace };
        for deadline in &deadlines.at[..deadlines.count] {
            if trace.delay_count as usize == DELAYS {
                (1..DELAYS / 2).for_each(|i| trace.delays[i] = trace.delays[2 * i]);
                trace.delay_count = DELAYS as u64 / 2;
                self.delays.stride *= 2;
            }
            let delay = Delay { point, nanoseconds: deadline.saturating_sub(now), thread: 0 };
            trace.delays[trace.delay_count as usize] = delay;
            trace.delay_count += 1;
        }
    }

    /// How many accesses can pass before a delay may come.
    #[inline]
    pub(super) fn accesses_before_delay(&mut self) -> u64 {
        if self.timers.len == 0 {
            return u64::MAX;
        }
        let (points, number) = (self.results().points, self.results().delay_points);
        match self.delays.source {
            Source::Nothing => u64::MAX,
            // Each access is at most one delay point.
            Source::Drawn => self.delays.draw.next().map_or(u64::MAX, |next| next.saturating_sub(number + 1)),
            Source::Given if self.delays.notes => 0,
            Source::Given => self.delays.next_given().map_or(u64::MAX, |point| point.saturating_sub(points + 1)),
            Source::Search => 0,
        }
    }

    /// Counts the delay points among accesses that are about to be entered in the books.
    pub(super) fn pass_delay_points(&mut self, accesses: u64) {
        if self.timers.len == 0 {
            return;
        }
        // The clock goes on by the same at each access, so all from some access on are delay points, if any is.
        let (mut first, mut last) = (1, accesses + 1);
        let (now, points) = (self.clock.now(), self.results().points);
        while first < last {
            let middle = first + (last - first) / 2;
            if self.is_delay_point(points + middle, now + self.clock.points_take(middle)) {
                last = middle;
            } else {
                first = middle + 1;
            }
        }
        if first <= accesses {
            self.results().delay_points += accesses + 1 - first;
            self.delays.last_point = points + accesses;
        }
    }
}

impl Delays {
    /// Whether there can be a delay at a delay point.
    fn may_come(&self, point: u64, number: u64) -> bool {
        match self.source {
            Source::Nothing => false,
            Source::Drawn => self.draw.next().is_some_and(|next| next <= number),
            Source::Given => self.next_given().is_some_and(|next| next <= point),
            Source::Search => true,
        }
    }

    fn next_given(&self) -> Option<u64> {
        self.given[..self.given_count].get(self.followed).map(|delay| delay.point)
    }

    /// The given delay that is due at this point.
    fn follow(&mut self, point: u64) -> Option<u64> {
        self.next_given().filter(|&next| next <= point)?;
        self.followed += 1;
        Some(self.given[self.followed - 1].nanoseconds)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn deadlines(of: &[u64]) -> Vec<u64> {
        let mut all = Deadlines::default();
        of.iter().for_each(|&deadline| all.add(deadline));
        all.at[..all.count].to_vec()
    }

    #[test]
    fn the_earliest_deadlines_are_kept_each_once() {
        assert_eq!(deadlines(&[5, 3, 5, 9, 3]), [3, 5, 9]);
        assert_eq!(deadlines(&[9, 8, 7, 6, 5, 4, 3, 2, 1, 1, 10]), [1, 2, 3, 4, 5, 6, 7, 8]);
    }

    #[test]
    fn a_given_delay_is_due_once() {
        // SAFETY: documented as valid when zeroed.
        let mut delays: Delays = unsafe { core::mem::zeroed() };
        delays.given[..2].copy_from_slice(&[4, 9].map(|point| Delay { point, nanoseconds: 10 * point, thread: 0 }));
        delays.given_count = 2;
        let due: Vec<_> = (1..12).filter_map(|point| delays.follow(point).map(|time| (point, time))).collect();
        assert_eq!(due, [(4, 40), (9, 90)]);
        assert_eq!(delays.next_given(), None);
    }
}
