//! One run after the other, each with a verdict.

use std::collections::HashSet;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use libc::pid_t;
use raddle_core::block::{Outcome, Results};
use raddle_core::policy::{Explored, Learns};
use raddle_core::{Decision, EventKind};

use super::block;
use super::check;
use super::classify::{self, Symptom, Traces};
use super::dispatch;
use super::executor::{Executor, Halt, Over};
use super::findings;
use super::frames::Frames;
use super::lessons::Observed;
use super::output::Output;
use super::plan::Plan;
use super::races::{Files, Seen};
use super::retrace::{self, Retraced};
use super::run_report::{Counts, Divergence, Failure, Kind, RunReport, Serial, Verdict};
use super::scratch::JobScratch;
use super::stderr;
use super::target_error::TargetError;
use super::wire::{Batch, Order, Wishes};
use super::worth;
use crate::inspect::builds::Builds;
use crate::sys::Ending;

/// Makes and judges the runs of one job.
pub struct Runner<'a> {
    plan: &'a Plan,
    runtime: PathBuf,
    executor: Executor<'a>,
    scratch: JobScratch,
    /// Failures whose decisions were sent before.
    known: HashSet<(Kind, String)>,
    files: Files,
    frames: Frames,
    /// The search is over; until somebody has asked.
    pub exhausted: Option<Explored>,
}

impl<'a> Runner<'a> {
    /// Prepares; starts nothing.
    pub fn new(plan: &'a Plan, runtime: &Path, scratch: JobScratch, output: Output) -> Result<Runner<'a>, Halt> {
        let builds = Builds::default();
        // What runs is what is there now, even when it is built anew while the campaign goes on.
        builds.at(&plan.target.program.path);
        let executor = Executor::new(plan, runtime, &scratch, output, builds.clone())?;
        let frames = Frames::new(&plan.target.runtime);
        let (known, files, runtime) = (HashSet::new(), Files::new(builds), runtime.to_path_buf());
        Ok(Runner { plan, runtime, executor, scratch, known, files, frames, exhausted: None })
    }

    /// See [`Executor::prepare`].
    pub fn prepare(&mut self) -> Result<Option<String>, Halt> {
        self.executor.prepare()
    }

    /// Why threads are switched as OS threads, once, when that has come up.
    pub fn os_threads(&mut self) -> Option<String> {
        self.executor.os_threads.take()
    }

    /// See [`Executor::finish`].
    pub fn finish(&mut self) {
        self.executor.finish();
    }

    /// Makes one run.
    pub fn run(&mut self, run: u64, order: &Order) -> Result<RunReport, Halt> {
        let seed = self.plan.run_seed(run);
        let over = self.executor.run(run, seed, order)?;
        let report = self.judge(run, seed, order, &over);
        self.scratch.clean(self.plan.target.own_directory)?;
        self.retraced(report?, order)
    }

    /// Looks for the failure of a parallel run in a serial one.
    fn retraced(&mut self, mut report: RunReport, order: &Order) -> Result<RunReport, Halt> {
        let Verdict::Failed(failure) = &mut report.verdict else { return Ok(report) };
        if !self.plan.is_parallel() {
            return Ok(report);
        }
        let (runtime, server) = (&self.runtime, self.executor.server());
        let job = retrace::Job { plan: self.plan, runtime, scratch: &self.scratch, server };
        let found = retrace::retrace(&job, order, &self.executor.block.log(), failure);
        self.executor.watch_again();
        failure.serial = match found? {
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

    /// Says which of the job's processes is not one of the runner's own, and stays.
    pub fn spare(&mut self, server: Option<pid_t>) {
        self.executor.spare = server;
    }

    /// Whether whole series of runs can be left to the fork server.
    pub fn can_make_series(&self) -> bool {
        self.plan.status_tells()
    }

    /// Makes runs of an order in one go: those that passed, and the one after them. `None`: there is no fork
    /// server to do that.
    pub fn series(&mut self, order: &Order) -> Result<Option<(Batch, Option<RunReport>)>, Halt> {
        let Some((completed, over)) = self.executor.run_series(order, &self.scratch.tmp)? else { return Ok(None) };
        let batch = Batch::new(order.first, self.executor.block.summaries(completed));
        let Some(over) = over else { return Ok(Some((batch, None))) };
        let run = order.first + completed as u64;
        let report = if self.executor.block.results().outcome == Outcome::NeedsOsThreads as u32 {
            self.run(run, order)?
        } else {
            let report = self.judge(run, self.plan.run_seed(run), order, &over);
            self.scratch.clean(self.plan.target.own_directory)?;
            match self.unless_exhausted(report)? {
                Some(report) => self.retraced(report, order)?,
                None => return Ok(Some((batch, None))),
            }
        };
        Ok(Some((batch, Some(report))))
    }

    /// The report of a run, if one was made; else it is noted that the search is over.
    fn unless_exhausted(&mut self, report: Result<RunReport, Halt>) -> Result<Option<RunReport>, Halt> {
        match report {
            Err(Halt::Exhausted(explored)) => {
                self.exhausted = Some(explored);
                Ok(None)
            }
            report => report.map(Some),
        }
    }

    /// What the program's check asks for; `None`: it is not reached.
    pub fn reach_check(&mut self) -> Result<Option<Wishes>, Halt> {
        self.executor.reach_check()
    }

    /// Makes one run of an order in the program's check, from which later runs learn or which is sampled.
    pub fn check_traced(&mut self, run: u64, order: &Order) -> Result<RunReport, Halt> {
        let one = Order { first: run, last: run, ..order.clone() };
        loop {
            match self.check(&one)? {
                (_, Some(report)) => return Ok(report),
                (batch, None) => {
                    let report = batch.reports().next();
                    if let Some(explored) = self.exhausted.take() {
                        return Err(Halt::Exhausted(explored));
                    }
                    if let Some(report) = report {
                        let (log, log_too_long) = self.sample(run);
                        return Ok(RunReport { observed: self.observed(order), log, log_too_long, ..report });
                    }
                }
            }
        }
    }

    /// Makes runs of an order in the program's check: those that passed, and the failing one after them.
    pub fn check(&mut self, order: &Order) -> Result<(Batch, Option<RunReport>), Halt> {
        loop {
            let (completed, over) = self.executor.run_check(order, self.plan.run_seed(order.first))?;
            let batch = Batch::new(order.first, self.executor.block.summaries(completed));
            if over.is_some() && self.executor.leave_fibers() {
                if completed == 0 {
                    continue;
                }
                return Ok((batch, None));
            }
            self.executor.leave_fibers();
            let Some(over) = over else { return Ok((batch, None)) };
            let run = order.first + completed as u64;
            let seed = self.plan.run_seed(run);
            let report = self.judge(run, seed, order, &over);
            let Some(mut report) = self.unless_exhausted(report)? else { return Ok((batch, None)) };
            // A good run that has news of races ends here too, but not its process.
            if matches!(report.verdict, Verdict::Passed) && !self.executor.goes_on() {
                let symptom = Symptom::new(Kind::Exit, format!("the check's body ended the process ({})", over.ending));
                report.verdict = Verdict::Failed(Box::new(self.failure(symptom, seed, order, &over)?));
            }
            if let Some(failure) = report.failure() {
                let command: Vec<_> = self.plan.target.command.iter().map(|a| a.as_bytes().to_vec()).collect();
                let path = self.plan.out.join(findings::file_name(failure, &command));
                let (kind, message) = (failure.kind.title(), &failure.message);
                let replay = match failure.kind {
                    Kind::Leak => String::new(),
                    _ => format!(
                        "\n  the schedule is in {path}\n  replay it: raddle replay {path}",
                        path = path.display()
                    ),
                };
                self.executor.say(&format!("{kind} in run {run}: {message}{replay}"));
            }
            if self.plan.recording.is_some() {
                // What a failing run sets up once, such as a panic's backtrace, the next replay must find undone.
                self.executor.finish();
            }
            return Ok((batch, Some(report)));
        }
    }

    fn judge(&mut self, run: u64, run_seed: u64, order: &Order, over: &Over) -> Result<RunReport, Halt> {
        let results = self.executor.block.results();
        let seen = self.executor.block.races();
        let verdict = match Outcome::from_u32(results.outcome) {
            Outcome::Diverged if self.plan.recording.is_some() => Verdict::Diverged(divergence(&results)),
            Outcome::Diverged | Outcome::Internal => {
                let message = match block::message(&results) {
                    text if text.is_empty() => "it gave no reason".to_string(),
                    text => text,
                };
                return Err(Halt::Target(TargetError::Internal { run, message }));
            }
            Outcome::Exhausted => return Err(Halt::Exhausted(results.explored)),
            Outcome::TooManyThreads => return Err(Halt::Target(TargetError::TooManyThreads { run })),
            Outcome::StepLimit => Verdict::Cut,
            _ => match self.symptom(&results, over)? {
                None => self.race(&seen, run_seed, order, over)?,
                Some(symptom) => Verdict::Failed(Box::new(self.failure(symptom, run_seed, order, over)?)),
            },
        };
        let (log, log_too_long) = self.sample(run);
        Ok(RunReport {
            run,
            verdict,
            counts: Counts::from(&results),
            escapes: results.escapes,
            output_cut: self.executor.output.was_cut(),
            stacks: if run <= dispatch::FIRST_BLOCK { results.stacks } else { Default::default() },
            racing: self.files.places(&seen),
            observed: self.observed(order),
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
            (block.results().log_len <= worth::LONGEST_LOG).then(|| threads(block.log()))
        } else {
            block.passed()
        };
        let too_long = passed.is_none();
        (passed, too_long)
    }

    /// Whether a run must be made on its own, because its decisions are wanted.
    pub fn is_sampled(&self, run: u64) -> bool {
        self.plan.samples(run)
    }

    /// The last run of an order before one that must be made on its own.
    pub fn before_sample(&self, order: &Order) -> u64 {
        match self.plan.recording {
            Some(_) => order.last,
            None => self.plan.coverage.before_sample(order.first, order.last),
        }
    }

    /// What later runs can learn from the last one, if anything.
    fn observed(&self, order: &Order) -> Option<Box<Observed>> {
        (order.traced > Learns::Nothing).then(|| Box::new(self.executor.block.observed(order.traced)))
    }

    /// The races of a run that is otherwise good, if they are failures.
    fn race(&mut self, seen: &Seen, run_seed: u64, order: &Order, over: &Over) -> Result<Verdict, Halt> {
        let Some(benign) = &self.plan.fail_on_race else { return Ok(Verdict::Passed) };
        let mut failures: Vec<Failure> = Vec::new();
        for race in &seen.races {
            let told = self.files.tell(seen, race, &self.frames);
            let is_known = failures.iter().any(|failure| failure.place == told.symptom.place);
            if is_known || told.suppressed_by(&benign.suppressions).is_some() {
                continue;
            }
            let mut failure = self.failure(told.symptom, run_seed, order, over)?;
            failure.threads = told.threads;
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

    fn symptom(&mut self, results: &Results, over: &Over) -> Result<Option<Symptom>, Halt> {
        let expect = &self.plan.expect;
        let suspicious = over.ending != Ending::Exit(expect.exit) || results.outcome != Outcome::Exited as u32;
        let stderr = if suspicious { self.executor.output.stderr.read()? } else { Vec::new() };
        let stdout = if expect.output.is_some() { self.executor.output.stdout.read()? } else { Vec::new() };
        let traces = Traces {
            results,
            ending: over.ending,
            // Who came to an end by itself just in time has not been killed.
            timed_out: over.timed_out.filter(|_| over.ending == Ending::Signal(libc::SIGKILL)),
            threads: &over.threads,
            stdout: &stdout,
            stdout_cut: self.executor.output.stdout.was_cut(),
            stderr: &stderr,
        };
        if let Some(symptom) = classify::classify(&traces, expect) {
            return Ok(Some(symptom));
        }
        let Some(command) = &expect.check else {
            return Ok(None);
        };
        let target = &self.plan.target;
        let directory = if target.own_directory { &self.scratch.cwd } else { &target.directory };
        let said = check::run(command, directory, &self.executor.output, over.ending, self.plan.run_timeout)?;
        Ok(said.map(|message| Symptom::new(Kind::Check, message)))
    }

    fn failure(&mut self, symptom: Symptom, run_seed: u64, order: &Order, over: &Over) -> Result<Failure, Halt> {
        // Of a parallel run only what a serial one has shown is worth keeping.
        let new = !self.plan.is_parallel() && self.known.insert((symptom.kind, symptom.place.clone()));
        let stderr = stderr::telling_lines(symptom.kind, &self.executor.output.stderr.read()?);
        Ok(Failure {
            kind: symptom.kind,
            message: symptom.message,
            place: symptom.place,
            step: self.executor.block.results().steps,
            threads: over.threads.clone(),
            stderr,
            run_seed,
            profile: order.profile,
            stacks: order.stacks,
            racing: order.places.clone(),
            log: new.then(|| self.executor.block.log()),
            log_is_full: self.executor.block.log_is_full(),
            also: Vec::new(),
            bound: self.executor.block.results().bound.checked_sub(1),
            serial: Serial::Itself,
        })
    }
}

fn divergence(results: &Results) -> Divergence {
    Divergence {
        step: results.diverged_step,
        expected: (results.diverged_expected != u32::MAX).then_some(results.diverged_expected),
        found: results.diverged_found,
        enabled: results.diverged_enabled != 0,
    }
}
