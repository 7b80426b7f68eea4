//! Makes a run happen, in a fork server, in a process of its own or in a check, and says what is left of it.

use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use libc::pid_t;
use raddle_core::policy::{Explored, Learns};
use raddle_inspect::builds::Builds;
use raddle_inspect::stack::Unwinder;
use raddle_protocol::control::{command, event};
use raddle_protocol::results::SUMMARIES;
use raddle_protocol::settings::{self, flag, INHERITED};
use raddle_protocol::{Escape, OsReason, Outcome};

use super::calls;
use super::classify::TimedOut;
use super::frames::Frames;
use super::heap;
use super::launch::{Descriptors, Launch, LaunchError};
use super::output::{self, Output};
use super::report::CheckRequest;
use super::shared_block::{self, SharedBlock};
use super::strays;
use super::target_error::TargetError;
use super::threads::{self, ThreadView};
use super::watch::{self, Happened, Stop, Watch, Watcher};
use super::Assignment;
use crate::os::process::{self, Process};
use crate::os::scratch::JobScratch;
use crate::os::sys::{self, Ending};
use crate::plan::place::Place;
use crate::plan::stdin::{self, Stdin};
use crate::plan::{LookAt, Plan};

/// How long a process that was told to leave, or killed, may take.
const GRACE: Duration = Duration::from_secs(1);

/// The most looks at one run; a program may panic and go on for ever.
const LOOKS: usize = 64;

/// How long the target may take to load the runtime and to reach main.
const START: Duration = Duration::from_secs(10);

/// Why a job cannot go on.
#[derive(Debug)]
pub enum JobEnd {
    /// The target cannot be run.
    Target(TargetError),
    /// The job is asked to stop.
    Stopped,
    /// No run was made: the search is over.
    Exhausted(Explored),
}

impl From<io::Error> for JobEnd {
    fn from(error: io::Error) -> JobEnd {
        JobEnd::Target(TargetError::System(format!("the system refused: {error}")))
    }
}

impl From<LaunchError> for JobEnd {
    fn from(error: LaunchError) -> JobEnd {
        JobEnd::Target(TargetError::Launch(error.to_string()))
    }
}

/// How runs are made.
enum Mode {
    /// By this fork server.
    Server(Process),
    /// Each in a process of its own.
    Exec,
    /// By a check in this process.
    Check(Process),
}

/// How far a target came that was started to make runs.
enum Start {
    /// It is ready: a fork server, or at its check.
    Ready(Process),
    /// It cannot be a fork server, for this reason.
    NoServer(String),
    Ended(Ending),
    /// It did not come that far in time; whether the runtime was there.
    TooSlow {
        attached: bool,
    },
}

/// Whether a process says when its runs are over: a fork server and a check do. Of another one a program that has written
/// over its block may seem to.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Answers {
    Yes,
    No,
}

/// How a process answered an assignment.
enum Answer {
    /// It has made the runs, or ended one, and goes on.
    Done,
    Ended(Ending),
}

/// A process that has made its runs, or ended.
struct Attended {
    answer: Answer,
    timed_out: Option<TimedOut>,
    threads: Vec<ThreadView>,
    looks: Vec<Look>,
}

/// What is left of a run, apart from what is in the block and what it printed.
pub struct RunEnd {
    /// How its process ended.
    pub ending: Ending,
    /// Whether it was killed for taking too long, and what it did then.
    pub timed_out: Option<TimedOut>,
    /// Its threads when it failed.
    pub threads: Vec<ThreadView>,
    /// Its threads while it went on, each time that [`Plan::look_at`] was called.
    pub looks: Vec<Look>,
}

/// The threads of a run at one moment, the one that was running first.
#[derive(Debug)]
pub struct Look {
    pub threads: Vec<ThreadView>,
    /// How many lines were on standard error at that time.
    pub lines: usize,
}

/// Starts and ends the processes of one job.
pub struct Executor<'a> {
    plan: &'a Plan,
    launch: Launch,
    /// The block that the runtime in the target uses.
    pub block: SharedBlock,
    /// What the last run printed.
    pub output: Output,
    scratch: JobScratch,
    frames: Frames,
    unwinder: Unwinder,
    builds: Builds,
    /// Before the watcher, which is dropped when the processes have ended.
    mode: Option<Mode>,
    watcher: Watcher,
    /// Why threads are switched as OS threads, until it has been reported.
    pub os_threads: Option<String>,
    /// Why there is no fork server any longer, until it has been reported.
    pub fallback: Option<String>,
    /// The places that the last run was told of.
    places: Vec<Place>,
}

impl<'a> Executor<'a> {
    pub fn new(
        plan: &'a Plan,
        runtime: &Path,
        scratch: &JobScratch,
        output: Output,
        builds: Builds,
        stop: &Stop,
    ) -> Result<Executor<'a>, JobEnd> {
        let recording = plan.recording.as_ref().map_or(&[][..], |r| &r.decisions);
        let mut block = SharedBlock::new(plan.block_settings(), recording)?;
        let path = block.path();
        block.set(|settings| _ = shared_block::put(&mut settings.block_path, path.as_bytes()));
        let mut launch = Launch::new(&plan.target, runtime, scratch)?;
        if plan.core_dumps {
            launch.allow_core_dumps();
        }
        Ok(Executor {
            plan,
            launch,
            watcher: Watcher::new(&block, stop)?,
            block,
            output,
            scratch: scratch.clone(),
            frames: Frames::new(&plan.target.runtime),
            unwinder: Unwinder::with(builds.clone()),
            builds,
            mode: plan.exec.then_some(Mode::Exec),
            os_threads: None,
            fallback: None,
            places: Vec::new(),
        })
    }

    /// Starts the fork server, if there is to be one. Returns why there is none after all.
    pub fn prepare(&mut self) -> Result<Option<String>, JobEnd> {
        if self.mode.is_some() {
            return Ok(None);
        }
        let reason = self.start_server()?;
        if reason.is_some() {
            self.mode = Some(Mode::Exec);
        }
        Ok(reason)
    }

    pub fn run(&mut self, run: u64, seed: u64, assignment: &Assignment) -> Result<RunEnd, JobEnd> {
        let mut end = self.run_once(run, seed, assignment)?;
        if self.leaves_server()? {
            end = self.run_once(run, seed, assignment)?;
        }
        let reason = OsReason::from_u32(self.block.control().os_reason.load(Ordering::Relaxed));
        let known = self.block.settings().flags & flag::FIBERS == 0;
        let Some(reason) = reason.filter(|_| !known) else { return Ok(end) };
        // From here on without fibers, in a new process; the run that met the reason is made again.
        self.os_threads = Some(reason.text().to_string());
        self.finish()?;
        self.block.set(|settings| settings.flags &= !flag::FIBERS);
        if self.plan.exec {
            self.mode = Some(Mode::Exec);
        }
        if self.block.results().outcome == Outcome::NeedsOsThreads as u32 {
            self.clean()?;
            return self.run_once(run, seed, assignment);
        }
        Ok(end)
    }

    /// Whether a run of the fork server was to become one of another program: from here on every run is a process of its
    /// own, and that one is made again.
    fn leaves_server(&mut self) -> Result<bool, JobEnd> {
        let number = self.block.control().fallback.load(Ordering::Acquire);
        let Some(reason) = watch::fallback_reason(number).filter(|_| matches!(self.mode, Some(Mode::Server(_)))) else {
            return Ok(false);
        };
        self.fallback = Some(reason);
        self.finish()?;
        self.clean()?;
        self.server_settings(false);
        self.mode = Some(Mode::Exec);
        Ok(true)
    }

    /// Removes what a run that is made again has left.
    fn clean(&self) -> io::Result<()> {
        self.scratch.clean(self.plan.target.own_directory)
    }

    fn run_once(&mut self, run: u64, seed: u64, assignment: &Assignment) -> Result<RunEnd, JobEnd> {
        self.prepare()?;
        self.output.clear()?;
        let end = match self.mode {
            Some(Mode::Server(_)) => {
                self.block.clear_results();
                self.configure(run, seed, assignment)?;
                self.run_forked()?
            }
            _ => {
                self.block.reset();
                self.configure(run, seed, assignment)?;
                self.run_executed()?
            }
        };
        self.output.look()?;
        Ok(end)
    }

    /// Lets the fork server make the runs of an assignment as long as they end well. Returns how many did, and
    /// what is left of the run after them. `None`: there is no fork server.
    pub fn run_series(
        &mut self,
        assignment: &Assignment,
        scratch: &Path,
    ) -> Result<Option<(usize, Option<RunEnd>)>, JobEnd> {
        self.prepare()?;
        if !matches!(self.mode, Some(Mode::Server(_))) {
            return Ok(None);
        }
        self.output.clear()?;
        self.block.clear_results();
        self.configure(0, 0, assignment)?;
        self.block.set(|settings| {
            settings.first_run = assignment.first;
            settings.last_run = assignment.last;
            shared_block::put(&mut settings.scratch, scratch.as_os_str().as_bytes());
        });
        self.block.control().completed.store(0, Ordering::Relaxed);
        self.block.control().strays.store(0, Ordering::Relaxed);
        let end = self.run_forked()?;
        if self.leaves_server()? {
            return Ok(None);
        }
        self.output.look()?;
        let completed = self.completed(assignment);
        let whole = completed as u64 == assignment.last - assignment.first + 1;
        Ok(Some((completed, (!whole).then_some(end))))
    }

    /// The runs of an assignment that are over: no more than it has, whatever a program has written into the block.
    fn completed(&self, assignment: &Assignment) -> usize {
        let said = u64::from(self.block.control().completed.load(Ordering::Acquire));
        said.min(assignment.last - assignment.first + 1) as usize
    }

    fn configure(&mut self, run: u64, seed: u64, assignment: &Assignment) -> Result<(), JobEnd> {
        if self.places != assignment.places {
            self.places.clone_from(&assignment.places);
            // Runs have other choices now.
            self.block.forget_search()?;
        }
        self.block.set_places(&assignment.places);
        if let Some(knowledge) = &assignment.knowledge {
            self.block.teach(knowledge);
        }
        let sampled = self.plan.samples(if run == 0 { assignment.first } else { run });
        self.block.set(|settings| {
            settings.first_run = 0;
            settings.last_run = 0;
            settings.number = run;
            settings.seed = seed;
            settings.profile = assignment.profile;
            settings.stacks = assignment.stacks;
            settings.flags &= !(flag::TRACE | flag::POINT_THREADS);
            if assignment.traced > Learns::Nothing {
                settings.flags |= flag::TRACE;
            }
            if sampled {
                settings.flags |= flag::POINT_THREADS;
            }
        });
        Ok(())
    }

    fn start(&mut self) -> Result<Process, JobEnd> {
        if self.block.settings().flags & flag::FORK_SERVER == 0 {
            self.launch.bind_late();
        }
        let bound = self.launch.is_bound();
        self.block.set(|settings| {
            settings.flags &= !flag::BIND_NOW;
            settings.flags |= if bound { flag::BIND_NOW } else { 0 };
        });
        let process = self.launch.start(Descriptors {
            block: self.block.descriptor(),
            stdout: self.output.stdout.descriptor(),
            stderr: self.output.stderr.descriptor(),
        })?;
        self.watcher.watch(&process)?;
        Ok(process)
    }

    /// Starts the target and waits until it can make runs.
    fn start_and_wait(&mut self) -> Result<Start, JobEnd> {
        self.output.clear()?;
        self.block.reset();
        let mut process = self.start()?;
        let mut watch = Watch::new(START.max(self.plan.run_timeout));
        loop {
            return match watch.wait(&self.block, &self.watcher, &mut self.output, &mut process)? {
                Happened::Ready(fallback) => Ok(match watch::fallback_reason(fallback) {
                    None => Start::Ready(process),
                    Some(reason) => {
                        self.end(process);
                        Start::NoServer(reason)
                    }
                }),
                Happened::CheckReached => Ok(Start::Ready(process)),
                Happened::Ended(ending) => {
                    self.sweep();
                    Ok(Start::Ended(ending))
                }
                Happened::TooSlow => {
                    let attached = self.block.control().attached.load(Ordering::Acquire) != 0;
                    self.end(process);
                    Ok(Start::TooSlow { attached })
                }
                Happened::Stopped => {
                    self.end(process);
                    Err(JobEnd::Stopped)
                }
                // Nothing runs yet.
                Happened::Done | Happened::Frozen => continue,
            };
        }
    }

    /// Starts a fork server, or says why the program cannot be one.
    fn start_server(&mut self) -> Result<Option<String>, JobEnd> {
        self.server_settings(true);
        let seconds = START.max(self.plan.run_timeout).as_secs();
        let reason = match self.start_and_wait()? {
            Start::Ready(process) => {
                self.mode = Some(Mode::Server(process));
                return Ok(None);
            }
            Start::NoServer(reason) => reason,
            Start::TooSlow { attached: true } => format!("it does not reach main within {seconds} s"),
            Start::TooSlow { attached: false } => return Err(JobEnd::Target(TargetError::NotAttached { seconds })),
            Start::Ended(ending) => {
                if self.launch.bind_late() {
                    // Perhaps it names a function that is nowhere.
                    return self.start_server();
                }
                self.must_be_attached(ending)?;
                format!("it ends before main ({ending})")
            }
        };
        self.server_settings(false);
        Ok(Some(reason))
    }

    /// Only the runs of a fork server open their input and change their directory themselves. An empty
    /// input is the server's, which has no state to share: opening it costs a fiftieth of a run.
    fn server_settings(&mut self, on: bool) {
        let stdin = match &self.plan.target.stdin {
            Stdin::Null => None,
            stdin => Some(stdin.path()),
        };
        let directory = self.plan.target.own_directory.then(|| self.scratch.cwd.clone());
        let inherited = if on { self.inherited() } else { [0; INHERITED] };
        self.block.set(|settings| {
            settings.inherited = inherited;
            settings.flags &= !flag::FORK_SERVER;
            settings.stdin.fill(0);
            settings.directory.fill(0);
            if on {
                settings.flags |= flag::FORK_SERVER;
                if let Some(stdin) = stdin {
                    shared_block::put(&mut settings.stdin, stdin.as_os_str().as_bytes());
                }
                if let Some(directory) = directory {
                    shared_block::put(&mut settings.directory, directory.as_os_str().as_bytes());
                }
            }
        });
    }

    /// The descriptors that the program is started with: its standard streams, and what this process does not close on
    /// exec.
    fn inherited(&self) -> [u64; INHERITED] {
        let stdin = &self.plan.target.stdin;
        let streams = [
            (0, std::fs::metadata(stdin.path()).ok()),
            (1, self.output.stdout.metadata().ok()),
            (2, self.output.stderr.metadata().ok()),
        ];
        let captured = match stdin {
            Stdin::Captured(file) => vec![(0, file.metadata().ok()), (stdin::DESCRIPTOR, file.metadata().ok())],
            Stdin::Null | Stdin::File(_) => Vec::new(),
        };
        let others = sys::descriptors_kept_on_exec().into_iter().filter(|&fd| fd > 2);
        let others = others.map(|fd| (fd, std::fs::metadata(format!("/proc/self/fd/{fd}")).ok()));
        let mut inherited = [0; INHERITED];
        let all = streams.into_iter().chain(captured).chain(others);
        let known = all.filter_map(|(fd, file)| file.map(|file| settings::descriptor(fd, file.dev(), file.ino())));
        inherited.iter_mut().zip(known).for_each(|(to, known)| *to = known);
        inherited
    }

    /// Kills a process that we started, with all that it leaves behind.
    fn end(&self, mut process: Process) {
        process.kill();
        // If it cannot be waited for, it is gone all the same.
        let _ = process.wait();
        self.sweep();
    }

    /// Ends what has no parent any more.
    fn sweep(&self) {
        strays::sweep(&self.scratch.tmp);
    }

    fn must_be_attached(&self, ending: Ending) -> Result<(), JobEnd> {
        if self.block.control().attached.load(Ordering::Acquire) != 0 {
            return Ok(());
        }
        let stderr = output::tail(&self.output.stderr.read()?, 20);
        Err(JobEnd::Target(TargetError::NotLoaded { ending: ending.to_string(), stderr }))
    }

    /// A run, or a series of runs, as children of the fork server.
    fn run_forked(&mut self) -> Result<RunEnd, JobEnd> {
        let Some(Mode::Server(mut server)) = self.mode.take() else {
            return Err(io::Error::other("there is no fork server").into());
        };
        let control = self.block.control();
        control.preemptions.store(0, Ordering::Relaxed);
        control.run_pid.store(0, Ordering::Relaxed);
        self.command_runs();
        let Attended { answer, timed_out, threads, looks } = self.attend(&mut server, Answers::Yes)?;
        let ending = match answer {
            Answer::Done => {
                let status = self.block.control().wait_status.load(Ordering::Acquire);
                self.mode = Some(Mode::Server(server));
                Ending::from_status(status)
            }
            // The server cannot say so itself: it shares the run's fate, or hangs. The next run starts a new one.
            Answer::Ended(ending) => {
                self.sweep();
                ending
            }
        };
        Ok(RunEnd { ending, timed_out, threads, looks })
    }

    /// A run as a process of its own.
    fn run_executed(&mut self) -> Result<RunEnd, JobEnd> {
        let mut process = self.start()?;
        self.block.control().run_pid.store(process.pid(), Ordering::Release);
        let Attended { answer, timed_out, threads, looks } = self.attend(&mut process, Answers::No)?;
        let ending = match answer {
            Answer::Ended(ending) => ending,
            Answer::Done => return Err(io::Error::other("a program of its own has answered").into()),
        };
        let results = self.block.results();
        let children = results.escapes & 1 << Escape::Children as u32 != 0;
        if children || timed_out.is_some() || Outcome::from_u32(results.outcome) == Outcome::Unknown {
            self.sweep();
        }
        self.must_be_attached(ending)?;
        Ok(RunEnd { ending, timed_out, threads, looks })
    }

    /// Lets a fork server or a check make runs.
    fn command_runs(&self) {
        let control = self.block.control();
        // A process that has ended must still be noticed, so its bit stays.
        control.event.fetch_and(event::CHILD, Ordering::AcqRel);
        control.release.store(0, Ordering::Relaxed);
        control.command.store(command::RUN, Ordering::Release);
        sys::futex_wake(&control.command);
    }

    /// Waits until a process has made its runs, and looks at those that fail or hang.
    fn attend(&mut self, process: &mut Process, answers: Answers) -> Result<Attended, JobEnd> {
        let (mut timed_out, mut threads, mut looks) = (None, Vec::new(), Vec::new());
        let (mut seen, mut frozen) = (0, false);
        let mut watch = Watch::new(self.plan.run_timeout);
        loop {
            let happened = watch.wait(&self.block, &self.watcher, &mut self.output, process)?;
            let control = self.block.control();
            let completed = control.completed.load(Ordering::Acquire);
            let run = control.run_pid.load(Ordering::Acquire);
            // The number may be that of an earlier run, or whatever a program has written over it.
            let of_server = || process::child(run, process.pid());
            match happened {
                // A run stops once at its failure.
                Happened::Frozen if frozen => {}
                Happened::Frozen => {
                    let run = of_server().map_or(process.pid(), |_| run);
                    // A run that only shows itself and goes on has no outcome yet.
                    let goes_on = self.block.results().outcome == Outcome::Unknown as u32;
                    let looked = !goes_on || looks.len() < LOOKS;
                    let views = if looked { self.look_at_frozen(run, &looks, &mut watch) } else { Vec::new() };
                    if !goes_on {
                        (threads, frozen) = (views, true);
                    } else if looks.len() < LOOKS {
                        let lines = self.output.stderr.read()?.iter().filter(|byte| **byte == b'\n').count();
                        looks.push(Look { threads: views, lines });
                    }
                    self.release();
                }
                Happened::Done if answers == Answers::Yes => {
                    return Ok(Attended { answer: Answer::Done, timed_out, threads, looks })
                }
                Happened::Ended(ending) => {
                    return Ok(Attended { answer: Answer::Ended(ending), timed_out, threads, looks })
                }
                Happened::Stopped => {
                    process.kill();
                    process.wait()?;
                    self.sweep();
                    return Err(JobEnd::Stopped);
                }
                // The limit is for one run, not for a series.
                Happened::TooSlow if timed_out.is_none() && completed > seen && completed as usize <= SUMMARIES => {
                    seen = completed;
                    watch = Watch::new(self.plan.run_timeout);
                }
                Happened::TooSlow if timed_out.is_none() => {
                    timed_out = Some(watch.silence());
                    let child = of_server();
                    let run = child.as_ref().map_or(process.pid(), |_| run);
                    threads = threads::look_from_outside(&mut self.unwinder, &self.frames, run);
                    match child {
                        Some(child) => process::signal(&child, libc::SIGKILL),
                        None => process.kill(),
                    }
                    watch = Watch::new(GRACE);
                }
                // The server hangs with its run.
                Happened::TooSlow => {
                    process.kill();
                    let answer = Answer::Ended(process.wait()?);
                    return Ok(Attended { answer, timed_out, threads, looks });
                }
                Happened::Done | Happened::Ready(_) | Happened::CheckReached => {}
            }
        }
    }

    /// Looks at the threads of a run that has stopped.
    fn look_at_frozen(&mut self, pid: pid_t, looks: &[Look], watch: &mut Watch) -> Vec<ThreadView> {
        let started = Instant::now();
        let results = self.block.results();
        let freeing = match self.plan.look_at {
            Some(LookAt::Free(_)) => looks.first().and_then(|look| look.threads.first()),
            _ => None,
        };
        let reports = self.block.threads(results.threads);
        let mut views = threads::look(&mut self.unwinder, &self.frames, pid, &reports);
        for view in &mut views {
            view.calls = calls::lines(&reports[usize::from(view.id)], self.plan, &self.builds);
        }
        let failed = [Outcome::Assert, Outcome::Signal, Outcome::Misuse, Outcome::Unknown];
        if failed.contains(&Outcome::from_u32(results.outcome)) {
            threads::mark_failed(&mut views, results.thread);
        }
        if let Some(thread) = results.origin_thread.checked_sub(1) {
            let frames = self.unwinder.frames_at(pid, results.origin_place);
            threads::name_origin(&mut views, thread as u16, "destroyed it", self.frames.place(&frames));
        }
        let tools = (&mut self.unwinder, &self.frames, pid);
        heap::add_sites(&mut views, &results.heap, freeing, tools);
        watch.extend(started.elapsed());
        views
    }

    /// Lets a run go on that has stopped.
    fn release(&self) {
        let control = self.block.control();
        control.release.store(1, Ordering::Release);
        sys::futex_wake(&control.release);
    }

    /// Starts a program with checks and waits until it reaches the one that is to make the runs. `None`:
    /// it ended without reaching it.
    pub fn reach_check(&mut self) -> Result<Option<CheckRequest>, JobEnd> {
        match self.start_and_wait()? {
            Start::Ready(process) => {
                self.mode = Some(Mode::Check(process));
                Ok(Some(self.block.check_request()))
            }
            Start::Ended(ending) => {
                self.must_be_attached(ending)?;
                Ok(None)
            }
            Start::TooSlow { .. } | Start::NoServer(_) => {
                let seconds = START.max(self.plan.run_timeout).as_secs();
                Err(JobEnd::Target(TargetError::NoCheck { seconds }))
            }
        }
    }

    /// Lets the program's check make the runs of an assignment. Returns how many passed, and what is left of
    /// the run after them when that one failed.
    pub fn run_check(&mut self, assignment: &Assignment, seed: u64) -> Result<(usize, Option<RunEnd>), JobEnd> {
        if !self.goes_on() {
            self.reach_check()?;
        }
        let Some(Mode::Check(mut process)) = self.mode.take() else {
            return Err(JobEnd::Target(TargetError::CheckNotReached));
        };
        self.block.clear_results();
        self.configure(assignment.first, seed, assignment)?;
        self.block.set(|settings| {
            settings.first_run = assignment.first;
            settings.last_run = assignment.last;
        });
        let control = self.block.control();
        control.completed.store(0, Ordering::Relaxed);
        // The runs are the process.
        control.run_pid.store(0, Ordering::Relaxed);
        self.command_runs();
        let Attended { answer, timed_out, threads, looks } = self.attend(&mut process, Answers::Yes)?;
        let completed = self.completed(assignment);
        self.output.look()?;
        let whole = completed as u64 == assignment.last - assignment.first + 1;
        match answer {
            Answer::Ended(ending) => {
                self.sweep();
                Ok((completed, Some(RunEnd { ending, timed_out, threads, looks })))
            }
            Answer::Done => {
                self.mode = Some(Mode::Check(process));
                let failed = (!whole).then_some(RunEnd { ending: Ending::Exit(0), timed_out, threads, looks });
                Ok((completed, failed))
            }
        }
    }

    /// Goes on without fibers if the last run met a reason for that; says so.
    pub fn leave_fibers(&mut self) -> bool {
        let reason = OsReason::from_u32(self.block.control().os_reason.load(Ordering::Relaxed));
        let needed = self.block.results().outcome == Outcome::NeedsOsThreads as u32;
        if let Some(reason) = reason.filter(|_| self.block.settings().flags & flag::FIBERS != 0) {
            self.os_threads = Some(reason.text().to_string());
            self.block.set(|settings| settings.flags &= !flag::FIBERS);
        }
        needed
    }

    /// Whether the process of the last run of a check is still there.
    pub fn goes_on(&self) -> bool {
        matches!(self.mode, Some(Mode::Check(_)))
    }

    /// Ends the target at once: the campaign is over.
    pub fn abandon(&mut self) {
        let (Some(Mode::Server(mut process)) | Some(Mode::Check(mut process))) = self.mode.take() else { return };
        process.kill();
        // If it cannot be waited for, it is gone all the same.
        let _ = process.wait();
        // What the runs of a fork server leave behind it has ended itself.
        if self.plan.check.is_some() {
            self.sweep();
        }
    }

    /// Ends the fork server, or lets a program go on behind its check.
    pub fn finish(&mut self) -> Result<(), JobEnd> {
        let (Some(Mode::Server(mut process)) | Some(Mode::Check(mut process))) = self.mode.take() else {
            return Ok(());
        };
        let control = self.block.control();
        control.command.store(command::QUIT, Ordering::Release);
        sys::futex_wake(&control.command);
        let mut watch = Watch::new(GRACE);
        loop {
            match watch.wait(&self.block, &self.watcher, &mut self.output, &mut process)? {
                Happened::Ended(_) => {
                    // What a server's runs leave behind it has ended itself; the rest of a program behind its check
                    // may have left something.
                    if self.plan.check.is_some() {
                        self.sweep();
                    }
                    return Ok(());
                }
                Happened::TooSlow | Happened::Stopped => {
                    self.end(process);
                    return Ok(());
                }
                _ => {}
            }
        }
    }
}
