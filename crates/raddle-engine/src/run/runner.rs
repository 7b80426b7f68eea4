//! One run after the other, each with a verdict.

use std::collections::HashSet;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use raddle_core::policy::{Explored, Learns};
use raddle_core::{Decision, Delay, EventKind};
use raddle_protocol::hooks::offers;
use raddle_protocol::settings::flag;
use raddle_protocol::{Escape, Outcome, Points, Results};

use super::classify::{self, Symptom, Traces};
use super::executor::{Executor, JobEnd, Look, RunEnd};
use super::frames::Frames;
use super::lateness;
use super::observed::Observed;
use super::oracle;
use super::output::Output;
use super::races::{Files, Seen};
use super::report::CheckRequest;
use super::report::{Counts, Divergence, Failure, HeapFacts, RunReport, Serial, Verdict};
use super::retrace::{self, Retraced, Retracer};
use super::said::Said;
use super::shared_block;
use super::target_error::TargetError;
use super::threads::ThreadView;
use super::watch::Stop;
use super::{Assignment, Batch};
use crate::each_test::failure::{Assertion, Stream};
use crate::os::scratch::JobScratch;
use crate::os::sys::Ending;
use crate::plan::coverage::LONGEST_LOG;
use crate::plan::rounds::FIRST_ROUND;
use crate::plan::{self, sync_functions, LookAt, Plan};
use raddle_inspect::builds::Builds;
use raddle_report::FailureKind;

/// Makes and judges the runs of one job.
pub struct Runner<'a> {
    plan: &'a Plan,
    runtime: PathBuf,
    executor: Executor<'a>,
    /// Looks for the failures of parallel runs in serial ones.
    retracer: Option<Retracer<'a>>,
    scratch: JobScratch,
    stop: Stop,
    /// Failures whose decisions were reported before.
    known: HashSet<(FailureKind, String)>,
    files: Files,
    frames: Frames,
    /// The search is over; until it has been reported.
    pub exhausted: Option<Explored>,
}

/// Runs that were made in one go.
#[derive(Debug, Default)]
pub struct Made {
    pub batch: Batch,
    /// The one after them, if it was made and is worth a report of its own.
    pub last: Option<RunReport>,
}

impl Made {
    fn one(report: RunReport) -> Made {
        Made { batch: Batch::default(), last: Some(report) }
    }

    /// How many there are.
    pub fn count(&self) -> u64 {
        self.batch.count() + u64::from(self.last.is_some())
    }
}

impl<'a> Runner<'a> {
    pub fn new(
        plan: &'a Plan,
        retraced: Option<&'a Plan>,
        runtime: &Path,
        scratch: JobScratch,
        output: Output,
        stop: &Stop,
    ) -> Result<Runner<'a>, JobEnd> {
        let builds = Builds::default();
        // What runs is what is there now, even when it is built anew while the campaign goes on.
        builds.at(&plan.target.program.path);
        let executor = Executor::new(plan, runtime, &scratch, output, builds.clone(), stop)?;
        let frames = Frames::new(&plan.target.runtime);
        let (known, files, runtime) = (HashSet::new(), Files::new(builds), runtime.to_path_buf());
        let retracer = retraced.map(Retracer::new);
        Ok(Runner {
            plan,
            runtime,
            executor,
            retracer,
            scratch,
            stop: stop.clone(),
            known,
            files,
            frames,
            exhausted: None,
        })
    }

    /// See [`Executor::prepare`].
    pub fn prepare(&mut self) -> Result<Option<String>, JobEnd> {
        self.executor.prepare()
    }

    /// Why threads are switched as OS threads, once, when that has come up.
    pub fn os_threads(&mut self) -> Option<String> {
        self.executor.os_threads.take()
    }

    /// Why there is no fork server any longer, once, when that has come up.
    pub fn fallback(&mut self) -> Option<String> {
        self.executor.fallback.take()
    }

    /// See [`Executor::abandon`].
    pub fn abandon(&mut self) {
        self.executor.abandon();
        if let Some(retracer) = &mut self.retracer {
            retracer.abandon();
        }
    }

    /// What the program's check asks for; `None`: it is not reached.
    pub fn reach_check(&mut self) -> Result<Option<CheckRequest>, JobEnd> {
        self.executor.reach_check()
    }

    /// Makes the next runs of an assignment: as many as can be made in one go. None are made when the search is over.
    pub fn make(&mut self, assignment: &Assignment) -> Result<Made, JobEnd> {
        match self.make_some(assignment) {
            Err(JobEnd::Exhausted(explored)) => {
                self.exhausted = Some(explored);
                Ok(Made::default())
            }
            made => made,
        }
    }

    fn make_some(&mut self, assignment: &Assignment) -> Result<Made, JobEnd> {
        let run = assignment.first;
        let learns = assignment.traced > Learns::Nothing;
        // The decisions of these runs are wanted, which only a run that is made alone brings along.
        let alone = learns || self.plan.samples(run);
        let in_one_go = |it: &Self| Assignment { last: it.before_sample(assignment), ..assignment.clone() };
        if self.plan.check.is_some() {
            return match alone {
                true => Ok(Made::one(self.make_alone_in_check(run, assignment)?)),
                false => self.make_in_check(&in_one_go(self)),
            };
        }
        if !alone && run > FIRST_ROUND && self.plan.status_tells() {
            if let Some(made) = self.series(&in_one_go(self))? {
                return Ok(made);
            }
        }
        Ok(Made::one(self.run(run, assignment)?))
    }

    pub fn run(&mut self, run: u64, assignment: &Assignment) -> Result<RunReport, JobEnd> {
        let seed = self.plan.run_seed(run);
        let end = self.executor.run(run, seed, assignment)?;
        let report = self.judge(run, seed, assignment, &end);
        self.scratch.clean(self.plan.target.own_directory)?;
        let mut report = self.retraced(report?, assignment)?;
        self.with_least_delays(&mut report, assignment)?;
        self.with_stacks(report, assignment)
    }

    /// Looks at a failure again that leaves questions: a panic has unwound its stack when the run ends, and who holds a
    /// lock of Rust's library is only noted when it is asked for.
    fn with_stacks(&self, mut report: RunReport, assignment: &Assignment) -> Result<RunReport, JobEnd> {
        let plan = self.plan;
        let counts = report.counts;
        let Verdict::Failed(failure) = &mut report.verdict else { return Ok(report) };
        let counts = failure.counts(&counts);
        if !plan.inspect || plan.check.is_some() || plan.recording.is_some() || failure.log.is_none() {
            return Ok(report);
        }
        let panicked = failure.assertion.as_ref().is_some_and(|said| said.thread.is_some());
        let look_at = match panicked && failure.threads.is_empty() {
            true => sync_functions::panic(&plan.target.program.path).map(LookAt::Call),
            false => failure.heap.freed_by_call.map(LookAt::Free),
        };
        let sees_locks = plan.settings.points >= Points::Atomic && plan.target.program.offers & offers::ATOMICS != 0;
        let asks = failure.threads.iter().any(|thread| thread.lock.is_some() && thread.holder.is_none());
        if look_at.is_none() && !(sees_locks && asks) {
            return Ok(report);
        }
        let job = (self.runtime.as_path(), &self.scratch, &self.stop);
        if let Some(again) = retrace::look(plan, job, assignment, look_at, failure, &counts)? {
            failure.threads = again.threads;
            failure.message = again.message;
        }
        Ok(report)
    }

    /// Finds the smallest delays with which the run fails, and where threads are late then.
    fn with_least_delays(&mut self, report: &mut RunReport, assignment: &Assignment) -> Result<(), JobEnd> {
        let plan = self.plan;
        let Some(failure) = report.failure() else { return Ok(()) };
        if !plan.inspect || plan.check.is_some() || plan.recording.is_some() {
            return Ok(());
        }
        if lateness::are_least(plan.policy.descriptor, false, failure.kind) {
            lateness::reduce(self, report, assignment)?;
        }
        let counts = report.counts;
        let Verdict::Failed(failure) = &mut report.verdict else { return Ok(()) };
        if failure.delays.is_empty() {
            return Ok(());
        }
        let job = (self.runtime.as_path(), &self.scratch, &self.stop);
        let looks = retrace::look_at_delays(plan, job, assignment, failure, &failure.counts(&counts))?;
        lateness::locate(failure, &looks);
        Ok(())
    }

    /// Makes a run of this number again, with these delays.
    pub fn run_delayed(&mut self, run: u64, assignment: &Assignment, delays: &[Delay]) -> Result<RunReport, JobEnd> {
        let seed = self.plan.run_seed(run);
        // What it finds is wanted with its decisions, each time.
        let known = std::mem::take(&mut self.known);
        self.executor.block.set(|settings| {
            settings.delays = plan::delays(delays);
            settings.delay_count = delays.len() as u64;
            settings.flags |= flag::GIVEN_DELAYS;
        });
        let end = self.executor.run(run, seed, assignment);
        self.executor.block.set(|settings| settings.flags &= !flag::GIVEN_DELAYS);
        let report = end.and_then(|end| self.judge(run, seed, assignment, &end));
        self.known = known;
        self.scratch.clean(self.plan.target.own_directory)?;
        report
    }

    /// The delays that are possible in a run of this number that has these.
    pub fn possible_delays(
        &mut self,
        run: u64,
        assignment: &Assignment,
        delays: &[Delay],
    ) -> Result<Vec<Delay>, JobEnd> {
        self.executor.block.set(|settings| settings.flags |= flag::NOTE_DELAYS);
        let report = self.run_delayed(run, assignment, delays);
        self.executor.block.set(|settings| settings.flags &= !flag::NOTE_DELAYS);
        report?;
        Ok(self.executor.block.possible_delays())
    }

    /// Makes the run of a recording, and looks at its threads at each delay.
    pub fn looks_at_delays(&mut self, assignment: &Assignment) -> Result<Vec<Look>, JobEnd> {
        self.executor.block.set(|settings| settings.flags |= flag::LOOK_AT_DELAYS);
        let seed = self.plan.run_seed(1);
        let looks = self.executor.run(1, seed, assignment)?.looks;
        self.scratch.clean(self.plan.target.own_directory)?;
        Ok(looks)
    }

    /// Makes a run that follows these decisions.
    pub fn follow(&mut self, seed: u64, decisions: &[Decision], assignment: &Assignment) -> Result<RunReport, JobEnd> {
        // What it finds is wanted with its decisions, each time.
        self.known.clear();
        self.executor.block.follow(decisions);
        let end = self.executor.run(1, seed, assignment)?;
        let report = self.judge(1, seed, assignment, &end);
        self.scratch.clean(self.plan.target.own_directory)?;
        report
    }

    /// Looks for the failure of a parallel run in a serial one.
    fn retraced(&mut self, mut report: RunReport, assignment: &Assignment) -> Result<RunReport, JobEnd> {
        let Verdict::Failed(failure) = &mut report.verdict else { return Ok(report) };
        let Some(retracer) = &mut self.retracer else { return Ok(report) };
        let place = (&*self.runtime, &self.scratch, &self.stop);
        let found = retracer.retrace(place, assignment, &self.executor.block.log(), failure)?;
        failure.serial = match found {
            Some(Retraced { log, counts }) => {
                let new = self.known.insert((failure.kind, failure.place.clone()));
                failure.log = new.then_some(log);
                failure.step = counts.steps;
                Serial::Again(counts)
            }
            None => Serial::Never,
        };
        Ok(report)
    }

    /// Makes runs in one go: those that passed, and the one after them. `None`: there is no fork server to do that.
    fn series(&mut self, assignment: &Assignment) -> Result<Option<Made>, JobEnd> {
        let Some((completed, end)) = self.executor.run_series(assignment, &self.scratch.tmp)? else { return Ok(None) };
        let batch = Batch::new(assignment.first, self.executor.block.summaries(completed));
        let Some(end) = end else { return Ok(Some(Made { batch, last: None })) };
        let run = assignment.first + completed as u64;
        let last = if self.executor.block.results().outcome == Outcome::NeedsOsThreads as u32 {
            Some(self.run(run, assignment)?)
        } else {
            let report = self.judge(run, self.plan.run_seed(run), assignment, &end);
            self.scratch.clean(self.plan.target.own_directory)?;
            let report = self.unless_exhausted(report)?;
            let mut report = report.map(|report| self.retraced(report, assignment)).transpose()?;
            if let Some(report) = &mut report {
                self.with_least_delays(report, assignment)?;
            }
            report.map(|report| self.with_stacks(report, assignment)).transpose()?
        };
        Ok(Some(Made { batch, last }))
    }

    /// The report of a run, if one was made; otherwise it is noted that the search is over.
    fn unless_exhausted(&mut self, report: Result<RunReport, JobEnd>) -> Result<Option<RunReport>, JobEnd> {
        match report {
            Err(JobEnd::Exhausted(explored)) => {
                self.exhausted = Some(explored);
                Ok(None)
            }
            report => report.map(Some),
        }
    }

    /// Makes one run in the program's check, from which later runs learn or which is sampled.
    fn make_alone_in_check(&mut self, run: u64, assignment: &Assignment) -> Result<RunReport, JobEnd> {
        let one = Assignment { first: run, last: run, ..assignment.clone() };
        loop {
            let Made { batch, last } = self.make_in_check(&one)?;
            if let Some(report) = last {
                return Ok(report);
            }
            if let Some(explored) = self.exhausted.take() {
                return Err(JobEnd::Exhausted(explored));
            }
            let passed = batch.reports().next();
            if let Some(report) = passed {
                let (log, log_too_long) = self.sample(run);
                return Ok(RunReport { observed: self.observed(assignment), log, log_too_long, ..report });
            }
        }
    }

    /// Makes runs in the program's check: those that passed, and the failing one after them.
    fn make_in_check(&mut self, assignment: &Assignment) -> Result<Made, JobEnd> {
        loop {
            let mut is_first = !self.executor.goes_on();
            let (completed, end) = self.executor.run_check(assignment, self.plan.run_seed(assignment.first))?;
            is_first &= completed == 0;
            let batch = Batch::new(assignment.first, self.executor.block.summaries(completed));
            let passed = |batch| Ok(Made { batch, last: None });
            if end.is_some() && self.executor.leave_fibers() {
                if completed == 0 {
                    continue;
                }
                return passed(batch);
            }
            self.executor.leave_fibers();
            let Some(end) = end else { return passed(batch) };
            let run = assignment.first + completed as u64;
            let seed = self.plan.run_seed(run);
            let report = self.judge(run, seed, assignment, &end);
            let Some(mut report) = self.unless_exhausted(report)? else { return passed(batch) };
            let leaks = report.failure().is_some_and(|failure| failure.kind == FailureKind::Leak);
            let below_calls = self.executor.block.results().leaks_below_calls != 0;
            if leaks && (below_calls || !is_first) && !self.plan.searches() {
                if below_calls {
                    self.executor.block.set(|settings| settings.flags |= flag::NO_REPEAT);
                }
                return Ok(Made { batch, last: Some(self.make_afresh(run, assignment)?) });
            }
            // A good run that has news of races ends here too, but not its process.
            if matches!(report.verdict, Verdict::Passed) && !self.executor.goes_on() {
                let message = format!("the check's body ended the process ({})", end.ending);
                let symptom = Symptom::new(FailureKind::Exit, message);
                report.verdict = Verdict::Failed(Box::new(self.failure(symptom, seed, assignment, &end)?));
            }
            if let Some(failure) = report.failure() {
                let verdict = self.verdict(run, failure);
                self.executor.block.say(&verdict);
            }
            if self.plan.recording.is_some() {
                // What a failing run sets up once, such as a panic's backtrace, the next replay must find undone.
                self.executor.finish()?;
            }
            return Ok(Made { batch, last: Some(report) });
        }
    }

    /// Makes a run in a process of its own, whose repetition was another one in the process that it was made in. What
    /// collectors and caches keep from run to run spoils none: they access memory in another way, or do something more
    /// now and then. A body that makes other calls depends on how often it has been run; that shows in a new process,
    /// too, and is at fault.
    fn make_afresh(&mut self, run: u64, assignment: &Assignment) -> Result<RunReport, JobEnd> {
        self.executor.abandon();
        let one = Assignment { first: run, last: run, ..assignment.clone() };
        let Made { batch, last } = self.make_in_check(&one)?;
        let passed = || {
            let (log, log_too_long) = self.sample(run);
            let report = batch.reports().next()?;
            Some(RunReport { observed: self.observed(assignment), log, log_too_long, ..report })
        };
        let Some(mut report) = last.or_else(passed) else {
            return Err(JobEnd::Target(TargetError::System(
                "internal error: a run to be repeated was lost".to_string(),
            )));
        };
        report.escapes |= 1 << Escape::KeptState as u32;
        Ok(report)
    }

    /// What the program's check is to say of a failure.
    fn verdict(&self, run: u64, failure: &Failure) -> String {
        let command: Vec<_> = self.plan.target.command.iter().map(|a| a.as_bytes().to_vec()).collect();
        let path = self.plan.out.join(failure.file_name(&command));
        let replay = match failure.kind {
            FailureKind::Leak => String::new(),
            _ => format!("\n  the schedule is in {path}\n  replay it: raddle replay {path}", path = path.display()),
        };
        format!("{} in run {run}: {}{replay}", failure.kind.title(), failure.message)
    }

    fn judge(&mut self, run: u64, run_seed: u64, assignment: &Assignment, end: &RunEnd) -> Result<RunReport, JobEnd> {
        if self.executor.block.is_overwritten() {
            return Err(JobEnd::Target(TargetError::Overwritten { run }));
        }
        let results = self.executor.block.results();
        let seen = self.executor.block.races();
        let verdict = match Outcome::from_u32(results.outcome) {
            Outcome::Diverged if self.plan.recording.is_some() => Verdict::Diverged(divergence(&results)),
            Outcome::Diverged | Outcome::Internal => {
                let message = match shared_block::message(&results) {
                    text if text.is_empty() => "it gave no reason".to_string(),
                    text => text,
                };
                return Err(JobEnd::Target(TargetError::Internal { run, message }));
            }
            Outcome::Exhausted => return Err(JobEnd::Exhausted(results.explored)),
            Outcome::TooManyThreads => return Err(JobEnd::Target(TargetError::TooManyThreads { run })),
            Outcome::StepLimit => Verdict::Cut,
            _ => match self.symptom(&results, end)? {
                None => self.race(&seen, run_seed, assignment, end)?,
                Some(symptom) => Verdict::Failed(Box::new(self.failure(symptom, run_seed, assignment, end)?)),
            },
        };
        let (log, log_too_long) = self.sample(run);
        Ok(RunReport {
            run,
            verdict,
            counts: Counts::from(&results),
            escapes: results.escapes | self.executor.block.escaped_by_exec(),
            child_command: self.executor.block.child_command().filter(|_| results.threads < 2),
            output_cut: self.executor.output.was_cut(),
            stacks: if run <= FIRST_ROUND { results.stacks } else { Default::default() },
            racing: self.files.places(&seen),
            observed: self.observed(assignment),
            log,
            log_too_long,
        })
    }

    /// Who passed the points of the last run when it is sampled, and whether there were too many.
    fn sample(&self, run: u64) -> (Option<Vec<u32>>, bool) {
        if !self.plan.samples(run) {
            return (None, false);
        }
        let block = &self.executor.block;
        // A parallel run has decisions for all of its points; as for a serial one those before there is a second
        // thread do not count.
        let passed = if self.plan.is_parallel() {
            let alone = |d: &u32| Decision(*d).kind() != Some(EventKind::Create);
            let threads = |log: Vec<u32>| {
                let together = log.into_iter().skip_while(alone).skip(1);
                together.map(|d| Decision(d).thread().index() as u32).collect()
            };
            (block.results().log_len <= LONGEST_LOG).then(|| threads(block.log()))
        } else {
            block.passed()
        };
        let too_long = passed.is_none();
        (passed, too_long)
    }

    /// The last run of an assignment before one that must be made on its own.
    fn before_sample(&self, assignment: &Assignment) -> u64 {
        match self.plan.recording {
            Some(_) => assignment.last,
            None => self.plan.coverage.before_sample(assignment.first, assignment.last),
        }
    }

    /// What later runs can learn from the last one, if anything.
    fn observed(&self, assignment: &Assignment) -> Option<Box<Observed>> {
        (assignment.traced > Learns::Nothing).then(|| Box::new(self.executor.block.observed(assignment.traced)))
    }

    /// The races of a run that is otherwise good, if they are failures.
    fn race(&mut self, seen: &Seen, run_seed: u64, assignment: &Assignment, end: &RunEnd) -> Result<Verdict, JobEnd> {
        let Some(benign) = &self.plan.benign else { return Ok(Verdict::Passed) };
        let mut failures: Vec<Failure> = Vec::new();
        for race in &seen.races {
            let view = self.files.view(seen, race, &self.frames);
            let is_known = failures.iter().any(|failure| failure.place == view.symptom.place);
            if is_known || view.suppressed_by(&benign.suppressions).is_some() {
                continue;
            }
            let mut failure = self.failure(view.symptom, run_seed, assignment, end)?;
            failure.threads = view.threads;
            failure.step = race.step;
            if failures.iter().any(|failure| failure.log.is_some()) {
                failure.log = None;
            }
            failures.push(failure);
        }
        let mut failures = failures.into_iter();
        let Some(mut first) = failures.next() else { return Ok(Verdict::Passed) };
        first.also = failures.collect();
        Ok(Verdict::Failed(Box::new(first)))
    }

    fn symptom(&mut self, results: &Results, end: &RunEnd) -> Result<Option<Symptom>, JobEnd> {
        let expect = &self.plan.expect;
        let suspicious = end.ending != expect.ending() || results.outcome != Outcome::Exited as u32;
        let stderr = if suspicious { self.executor.output.stderr.read()? } else { Vec::new() };
        let stdout =
            if suspicious || expect.output.is_some() { self.executor.output.stdout.read()? } else { Vec::new() };
        let traces = Traces {
            results,
            ending: end.ending,
            // Who came to an end by itself just in time has not been killed.
            timed_out: end.timed_out.filter(|_| end.ending == Ending::Signal(libc::SIGKILL)),
            threads: &end.threads,
            stdout: &stdout,
            stdout_cut: self.executor.output.stdout.was_cut(),
            stderr: &stderr,
        };
        if let Some(symptom) = classify::classify(&traces, expect) {
            return Ok(Some(symptom));
        }
        let Some(command) = &expect.oracle else {
            return Ok(None);
        };
        let target = &self.plan.target;
        let directory = if target.own_directory { &self.scratch.cwd } else { &target.directory };
        let limit = self.plan.run_timeout;
        let verdict = oracle::ask(command, directory, &self.executor.output, end.ending, limit, &self.stop)?;
        Ok(verdict.map(|message| Symptom::new(FailureKind::Check, message)))
    }

    fn failure(
        &mut self,
        symptom: Symptom,
        run_seed: u64,
        assignment: &Assignment,
        end: &RunEnd,
    ) -> Result<Failure, JobEnd> {
        // Of a parallel run only what a serial one has shown is worth keeping.
        let new = !self.plan.is_parallel() && self.known.insert((symptom.kind, symptom.place.clone()));
        let output = &self.executor.output;
        let said = Said::of(&symptom, &output.stdout.read()?, &output.stderr.read()?);
        let threads = match &symptom.assertion {
            Some(said) if end.threads.is_empty() => at_panic(said, &end.looks),
            _ => end.threads.clone(),
        };
        Ok(Failure {
            kind: symptom.kind,
            message: symptom.message,
            place: symptom.place,
            step: self.executor.block.results().steps,
            threads,
            assertion: symptom.assertion,
            said,
            run_seed,
            profile: assignment.profile,
            stacks: assignment.stacks,
            delays: lateness::of(&self.executor.block.results()),
            racing: assignment.places.clone(),
            log: new.then(|| self.executor.block.log()),
            log_is_full: self.executor.block.log_is_full(),
            also: Vec::new(),
            bound: self.executor.block.results().bound.checked_sub(1),
            serial: Serial::Itself,
            heap: HeapFacts::from(&self.executor.block.results()),
        })
    }
}

/// The threads when a panic began: its text had just been printed, or, where a harness keeps it back, the thread has
/// its name.
fn at_panic(said: &Assertion, looks: &[Look]) -> Vec<ThreadView> {
    let printed = looks.iter().find(|look| said.stream == Stream::Stderr && look.lines > said.at);
    // The kernel keeps fifteen bytes of a name.
    let is_named = |look: &&Look| {
        let name = look.threads.first().map(|thread| thread.name.as_str());
        name.is_some_and(|name| said.thread.as_ref().is_some_and(|thread| thread.starts_with(name)))
    };
    let look = printed.or_else(|| looks.iter().find(is_named)).or(looks.last());
    look.map(|look| look.threads.clone()).unwrap_or_default()
}

fn divergence(results: &Results) -> Divergence {
    Divergence {
        step: results.diverged_step,
        expected: (results.diverged_expected != u32::MAX).then_some(results.diverged_expected),
        found: results.diverged_found,
        enabled: results.diverged_enabled != 0,
    }
}
