//! What a campaign knows of its runs, counted one by one in their order.

use raddle_core::policy::Profile;
use raddle_core::rng::splitmix64;
use raddle_protocol::Escape;

use super::worth::{Guarantee, Worth};
use crate::run::report::{RunReport, Serial, Verdict};

/// The statistics of the runs that count.
#[derive(Clone, Debug, Default)]
pub struct Tally {
    pub runs: u64,
    /// Those that failed.
    pub failing_runs: u64,
    /// The first that failed.
    pub first_failing_run: Option<u64>,
    /// Parallel runs whose failure did not happen again in a serial one.
    pub unreplayable_runs: u64,
    /// Those that were cut at the step limit.
    pub cut_runs: u64,
    /// Those that a fair schedule took over from the policy, because they seemed to make no progress.
    pub fair_runs: u64,
    /// Those in which threads that could run were late.
    pub delayed_runs: u64,
    /// The most points of a run at which threads could have been late.
    pub delay_points_max: u64,
    /// Those that left their recording.
    pub diverged_runs: u64,
    /// Those whose output was thrown away.
    pub output_cut_runs: u64,
    /// The most threads.
    pub threads_max: u64,
    /// The most schedule points: PCT's k.
    pub points_max: u64,
    /// The most steps: PCT's k without sequential stretches.
    pub steps_max: u64,
    /// The most steps between two sequential stretches: PCT's k of a phase.
    pub phase_max: u64,
    /// All steps.
    pub steps_total: u64,
    /// Points while two threads were alive, of all runs.
    pub shared_points: u64,
    /// How often the starvation guard stepped in.
    pub guard_fired: u64,
    /// Bits of [`Escape`].
    pub escapes: u64,
    /// What a child process has started last, in a run with one thread: as words of a shell.
    pub child_command: Option<String>,
    /// Bits of [`raddle_protocol::results::blind_spot`].
    pub notes: u64,
    /// A hash of the schedules of all runs in their order: equal when every run took the same steps.
    pub trace: u64,
    /// What it is worth that no more failed.
    pub worth: Worth,
}

impl Tally {
    /// Counts a run.
    pub fn add(&mut self, report: &RunReport) {
        self.add_guaranteed(report, None);
    }

    /// Counts a run of a policy that guarantees something, and that was told this of earlier runs.
    pub fn add_guaranteed(&mut self, report: &RunReport, guarantee: Option<(&Guarantee, Profile)>) {
        self.runs += 1;
        match &report.verdict {
            Verdict::Passed => {}
            Verdict::Cut => self.cut_runs += 1,
            Verdict::Diverged(_) => self.diverged_runs += 1,
            Verdict::Failed(failure) => {
                self.failing_runs += 1;
                self.unreplayable_runs += u64::from(failure.serial == Serial::Never);
                self.first_failing_run.get_or_insert(report.run);
            }
        }
        let counts = &report.counts;
        self.output_cut_runs += u64::from(report.output_cut);
        self.threads_max = self.threads_max.max(counts.threads);
        self.points_max = self.points_max.max(counts.points);
        self.steps_max = self.steps_max.max(counts.steps);
        self.phase_max = self.phase_max.max(counts.phase);
        self.steps_total += counts.steps;
        self.shared_points += counts.shared_points;
        self.guard_fired += counts.guard_fired;
        self.fair_runs += u64::from(counts.fair_from > 0);
        self.delayed_runs += u64::from(counts.delays > 0);
        self.delay_points_max = self.delay_points_max.max(counts.delay_points);
        self.escapes |= report.escapes;
        if report.child_command.is_some() {
            self.child_command.clone_from(&report.child_command);
        }
        self.worth.add(report, guarantee);
        self.notes |= counts.notes;
        self.trace = splitmix64(&mut (self.trace ^ counts.hash));
    }

    /// Different schedules.
    pub fn distinct_schedules(&self) -> u64 {
        self.worth.distinct_schedules()
    }

    /// Steps of the average run.
    pub fn steps_mean(&self) -> f64 {
        if self.runs == 0 {
            return 0.0;
        }
        self.steps_total as f64 / self.runs as f64
    }

    /// What escaped control, in words.
    pub fn escapes(&self) -> Vec<&'static str> {
        let seen = Escape::ALL.iter().filter(|escape| self.escapes >> **escape as u32 & 1 != 0);
        seen.map(|escape| escape.text()).collect()
    }

    /// Whether no run had more threads than these, nor would have on another day: nothing was seen that differs
    /// from run to run for reasons of its own. A run that was cut might have had more later.
    pub fn alone(&self, threads: u64) -> bool {
        const REPEATABLE: [Escape; 4] = [Escape::AsyncCancel, Escape::Futex, Escape::NoDispatch, Escape::Affinity];
        let repeatable = REPEATABLE.iter().fold(0, |bits, escape| bits | 1 << *escape as u32);
        self.runs > 0 && self.cut_runs == 0 && self.threads_max <= threads && self.escapes & !repeatable == 0
    }

    /// Whether a run came to its end, by itself or by a failure.
    pub fn explored(&self) -> bool {
        self.runs > self.cut_runs
    }

    /// Whether there were runs, and none came to its end.
    pub fn all_cut(&self) -> bool {
        self.runs > 0 && !self.explored()
    }

    /// Why the campaign says nothing about the program, if that is so.
    pub fn nothing_controlled(&self) -> Option<NothingControlled> {
        if self.runs == 0 {
            Some(NothingControlled::NoRun)
        } else if self.threads_max < 2 {
            Some(NothingControlled::OneThread)
        } else if self.shared_points == 0 {
            Some(NothingControlled::NoPoint)
        } else {
            None
        }
    }
}

/// Why nothing was under control.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NothingControlled {
    /// No run was over when the campaign was.
    NoRun,
    /// The program never started a thread.
    OneThread,
    /// No schedule point was seen with two threads alive.
    NoPoint,
}

impl NothingControlled {
    /// For a person: what was seen and what to do.
    pub fn text(self) -> &'static str {
        match self {
            NothingControlled::NoRun => {
                "the campaign stopped before any run finished, so nothing was explored and nothing is known about the \
                 program. If --time stopped it, allow more time than one run takes"
            }
            NothingControlled::OneThread => {
                "the program never started a thread. Give it arguments that make it start threads; if its children \
                 have the threads, test the program that they run"
            }
            NothingControlled::NoPoint => {
                "no schedule point was seen while two threads were alive. If the threads synchronise only through \
                 atomics, use --points atomic; `raddle test --dry-run` says what would be seen"
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::report::Counts;

    fn report(run: u64, verdict: Verdict, counts: Counts) -> RunReport {
        RunReport { verdict, counts, escapes: 1 << run, ..RunReport::new(run) }
    }

    #[test]
    fn counts_what_the_contract_names() {
        let mut tally = Tally::default();
        let counts = |steps, hash| Counts { steps, hash, threads: 3, shared_points: 1, ..Counts::default() };
        tally.add(&report(1, Verdict::Passed, counts(10, 7)));
        tally.add(&report(2, Verdict::Cut, counts(20, 7)));
        tally.add(&report(3, Verdict::Passed, counts(3, 8)));
        assert_eq!((tally.runs, tally.cut_runs, tally.distinct_schedules()), (3, 1, 2));
        assert_eq!((tally.steps_max, tally.steps_mean()), (20, 11.0));
        assert_eq!(tally.escapes().len(), 3);
        assert_eq!(tally.nothing_controlled(), None);
    }

    #[test]
    fn threads_of_the_harness_do_not_count() {
        let mut tally = Tally::default();
        assert!(!tally.alone(2));
        let counts = |threads| Counts { threads, ..Counts::default() };
        tally.add(&RunReport { escapes: 1 << Escape::Futex as u32, ..report(1, Verdict::Passed, counts(2)) });
        assert!(tally.alone(2));
        let mut other = tally.clone();
        other.add(&RunReport { escapes: 0, ..report(2, Verdict::Passed, counts(3)) });
        assert!(!other.alone(2));
        let mut cut = tally.clone();
        cut.add(&report(2, Verdict::Cut, counts(2)));
        assert!(!cut.alone(2));
        tally.add(&RunReport { escapes: 1 << Escape::OutsideInput as u32, ..report(2, Verdict::Passed, counts(2)) });
        assert!(!tally.alone(2));
    }

    #[test]
    fn tells_a_program_without_threads_from_one_without_points() {
        let mut tally = Tally::default();
        assert_eq!((tally.nothing_controlled(), tally.explored()), (Some(NothingControlled::NoRun), false));
        tally.add(&report(1, Verdict::Passed, Counts { threads: 1, ..Counts::default() }));
        assert!(tally.explored());
        assert_eq!(tally.nothing_controlled(), Some(NothingControlled::OneThread));
        tally.add(&report(2, Verdict::Passed, Counts { threads: 2, ..Counts::default() }));
        assert_eq!(tally.nothing_controlled(), Some(NothingControlled::NoPoint));
    }
}
