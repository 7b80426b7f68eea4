//! The smallest delays with which a failure still happens, and where the threads were that were late.
//!
//! The run is made again with fewer delays, and then with smaller ones: with the same seed, so that the policy draws the
//! same, but with a list of delays in place of those that the seed draws. What counts is that the same failure happens
//! (its kind and its place); the decisions of that run are the schedule.

use raddle_core::policy::{Descriptor, Kind};
use raddle_core::{delays, Delay};
use raddle_report::FailureKind;
use raddle_schedule::Late;

use super::executor::{JobEnd, Look};
use super::report::{Counts, Failure, RunReport, Serial, Verdict};
use super::runner::Runner;
use super::threads::{ThreadView, NOT_STARTED};
use super::Assignment;

/// The most runs that look for smaller delays.
const TRIES: usize = 64;

/// How many delays of about the same size are tried: where they lie among all of these, in quarters.
const PLACES: [usize; 5] = [2, 0, 4, 1, 3];

/// A run whose failure is looked for with smaller delays.
struct Search<'a> {
    run: u64,
    assignment: &'a Assignment,
    kind: FailureKind,
    place: String,
    tries: usize,
    found: Option<(Failure, Counts)>,
}

/// Whether smaller delays are looked for. The next run of a search would be another one, what a check leaves behind may
/// change its runs, a run that hangs would hang again for as long, and a run with one race may have others.
pub fn are_least(policy: &Descriptor, in_check: bool, kind: FailureKind) -> bool {
    let repeatable = policy.kind == Kind::Sampling && !in_check;
    repeatable && kind != FailureKind::Timeout && kind != FailureKind::Race
}

/// Finds the smallest delays with which a failure happens.
pub(crate) fn reduce(runner: &mut Runner<'_>, report: &mut RunReport, assignment: &Assignment) -> Result<(), JobEnd> {
    let Verdict::Failed(failure) = &mut report.verdict else { return Ok(()) };
    if failure.delays.is_empty() || failure.log.is_none() {
        return Ok(());
    }
    let first: Vec<_> = failure.delays.iter().map(|late| late.delay).collect();
    let (kind, place) = (failure.kind, failure.place.clone());
    let mut search = Search { run: report.run, assignment, kind, place, tries: 0, found: None };
    let fewer = subsets(&first).into_iter();
    for delays in fewer {
        if search.tries < TRIES && search.fails_with(runner, &delays)? {
            break;
        }
    }
    for i in 0..search.delays(&first).len() {
        search.shorten(runner, &first, i)?;
    }
    if let Some((again, counts)) = search.found {
        let (run_seed, bound) = (failure.run_seed, failure.bound);
        **failure = Failure { serial: Serial::Again(counts), run_seed, bound, ..again };
    }
    Ok(())
}

impl Search<'_> {
    /// The delays of the best run so far.
    fn delays(&self, first: &[Delay]) -> Vec<Delay> {
        let found = self.found.as_ref();
        found.map_or_else(|| first.to_vec(), |(failure, _)| failure.delays.iter().map(|late| late.delay).collect())
    }

    /// Whether the failure happens with these delays.
    fn fails_with(&mut self, runner: &mut Runner<'_>, delays: &[Delay]) -> Result<bool, JobEnd> {
        self.tries += 1;
        let report = runner.run_delayed(self.run, self.assignment, delays)?;
        let counts = report.counts;
        let Verdict::Failed(again) = report.verdict else { return Ok(false) };
        if again.kind == FailureKind::Timeout {
            // More like it would take too long.
            self.tries = TRIES;
        }
        let same = again.kind == self.kind && again.place == self.place && again.log.is_some() && !again.log_is_full;
        if same {
            self.found = Some((*again, counts));
        }
        Ok(same)
    }

    /// Looks for a smaller delay in the place of one.
    fn shorten(&mut self, runner: &mut Runner<'_>, first: &[Delay], which: usize) -> Result<(), JobEnd> {
        let mut others = self.delays(first);
        if which >= others.len() {
            return Ok(());
        }
        let replaced = others.remove(which);
        let groups = groups(runner.possible_delays(self.run, self.assignment, &others)?, replaced.nanoseconds);
        let mut limit = groups.len();
        for quarter in PLACES {
            for (at, group) in groups[..limit].iter().enumerate() {
                if self.tries == TRIES {
                    return Ok(());
                }
                let mut delays = others.clone();
                delays.push(group[(group.len() - 1) * quarter / 4]);
                delays.sort_by_key(|delay| delay.point);
                if self.fails_with(runner, &delays)? {
                    limit = at;
                    break;
                }
            }
        }
        Ok(())
    }
}

/// All lists that leave something out, the shortest first.
fn subsets(of: &[Delay]) -> Vec<Vec<Delay>> {
    let all = (1 << of.len()) - 1;
    let mut sets: Vec<u32> = (0..all).collect();
    sets.sort_by_key(|set| set.count_ones());
    let list = |set: u32| (0..of.len()).filter(|i| set >> i & 1 == 1).map(|i| of[i]).collect();
    sets.into_iter().map(list).collect()
}

/// Delays that are smaller than this one, those of about the same size together, the smallest first.
fn groups(mut possible: Vec<Delay>, than: u64) -> Vec<Vec<Delay>> {
    possible.retain(|delay| rounded(delay.nanoseconds) < rounded(than));
    possible.sort_by_key(|delay| (rounded(delay.nanoseconds), delay.point));
    let alike = |a: &Delay, b: &Delay| rounded(a.nanoseconds) == rounded(b.nanoseconds);
    possible.chunk_by(alike).map(<[Delay]>::to_vec).collect()
}

/// A number with its first two digits.
fn rounded(number: u64) -> u64 {
    let mut unit = 1;
    while number / unit >= 100 {
        unit *= 10;
    }
    (number + unit / 2) / unit * unit
}

/// Says where the threads were that were late.
pub(crate) fn locate(failure: &mut Failure, looks: &[Look]) {
    if looks.len() != failure.delays.len() {
        return;
    }
    for (late, look) in failure.delays.iter_mut().zip(looks) {
        let thread = look.threads.iter().find(|view| u64::from(view.id) == late.delay.thread);
        late.place = thread.and_then(place);
    }
}

/// The file and the line in the program's own code, or the function.
fn place(view: &ThreadView) -> Option<String> {
    if view.state == NOT_STARTED {
        return Some("its start".to_string());
    }
    let own = view.place.as_ref()?;
    let source = own.rsplit_once('(').and_then(|(_, source)| source.strip_suffix(')')).filter(|it| it.contains(':'));
    Some(source.unwrap_or(own).to_string())
}

/// The delays of a run, of which nothing else is known yet.
pub(crate) fn of(results: &raddle_protocol::Results) -> Vec<Late> {
    let had = (results.delay_count as usize).min(delays::MOST);
    results.delays[..had].iter().map(|&delay| Late { delay, place: None }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn delay(point: u64, nanoseconds: u64) -> Delay {
        Delay { point, nanoseconds, thread: 1 }
    }

    #[test]
    fn fewer_delays_come_first() {
        let all = [delay(1, 10), delay(2, 20), delay(3, 30)];
        let lengths: Vec<_> = subsets(&all).iter().map(Vec::len).collect();
        assert_eq!(lengths, [0, 1, 1, 1, 2, 2, 2]);
        assert_eq!(subsets(&all[..1]), [vec![]]);
    }

    #[test]
    fn a_place_is_a_line_of_the_program() {
        let at = |place: &str| super::place(&ThreadView { place: Some(place.into()), ..ThreadView::default() });
        assert_eq!(at("worker (worker.cc:31)").as_deref(), Some("worker.cc:31"));
        assert_eq!(at("worker(int) (worker.cc:31)").as_deref(), Some("worker.cc:31"));
        assert_eq!(at("worker(int)").as_deref(), Some("worker(int)"));
        assert_eq!(super::place(&ThreadView::default()), None);
    }

    #[test]
    fn delays_of_about_the_same_size_are_tried_together() {
        let possible = [(9, 60_000_000), (4, 10_000_000), (5, 9_999_000), (6, 9_998_000), (7, 1_000_000)];
        let groups = groups(possible.map(|(point, size)| delay(point, size)).to_vec(), 60_000_000);
        let points: Vec<Vec<u64>> =
            groups.iter().map(|group| group.iter().map(|delay| delay.point).collect()).collect();
        assert_eq!(points, [vec![7], vec![4, 5, 6]]);
    }
}
