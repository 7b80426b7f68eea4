//! Makes a run happen, in a fork server or in a process of its own, and says what is left of it.

use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use libc::pid_t;
use raddle_core::block::{command, event, fallback, flag, OsReason, Outcome};
use raddle_core::policy::{Explored, Learns};

use super::block::{self, SharedBlock};
use super::calls;
use super::classify::TimedOut;
use super::frames::Frames;
use super::launch::{Descriptors, Launch, LaunchError};
use super::output::{self, Output};
use super::plan::Plan;
use super::races::Place;
use super::scratch::JobScratch;
use super::stdin::Stdin;
use super::target_error::TargetError;
use super::threads::{self, ThreadView};
use super::watch::{self, Happened, Watch};
use super::wire::{Order, Wishes};
use crate::inspect::builds::Builds;
use crate::inspect::stack::Unwinder;
use crate::sys::{self, Ending};

/// How long a process that was told to leave, or killed, may take.
const GRACE: Duration = Duration::from_secs(1);

/// How long the target may take to load the runtime and to reach main.
const START: Duration = Duration::from_secs(10);

/// Why a job cannot go on.
#[derive(Debug)]
pub enum Halt {
    /// The target cannot be run.
    Target(TargetError),
    /// The job is asked to leave.
    Stopped,
    /// No run was made: the search is over.
    Exhausted(Explored),
}

impl From<io::Error> for Halt {
    fn from(error: io::Error) -> Halt {
        Halt::Target(TargetError::System(format!("the system refused: {error}")))
    }
}

impl From<LaunchError> for Halt {
    fn from(error: LaunchError) -> Halt {
        Halt::Target(TargetError::Launch(error.to_string()))
    }
}

/// How runs are made.
enum Mode {
    /// By this fork server.
    Server(pid_t),
    /// Each in a process of its own.
    Exec,
    /// By a check in this process.
    Check(pid_t),
}

/// What is left of a run, beside what is in the block and what it printed.
pub struct Over {
    /// How its process ended.
    pub ending: Ending,
    /// Whether it was killed for taking too long, and what it did then.
    pub timed_out: Option<TimedOut>,
    /// Its threads when it failed.
    pub threads: Vec<ThreadView>,
}

/// Starts and ends the processes of one job.
pub struct Executor<'a> {
    plan: &'a Plan,
    launch: Launch,
    /// The block that the runtime in the target uses.
    pub block: SharedBlock,
    /// What the last run printed.
    pub output: Output,
    own_directory: Option<PathBuf>,
    frames: Frames,
    unwinder: Unwinder,
    builds: Builds,
    mode: Option<Mode>,
    /// A process of the job that is not this executor's, and stays.
    pub spare: Option<pid_t>,
    /// Why threads are switched as OS threads, until somebody has asked.
    pub os_threads: Option<String>,
    /// The places that the last run was told of.
    places: Vec<Place>,
}

impl<'a> Executor<'a> {
    /// Prepares; starts nothing.
    pub fn new(
        plan: &'a Plan,
        runtime: &Path,
        scratch: &JobScratch,
        output: Output,
        builds: Builds,
    ) -> Result<Executor<'a>, Halt> {
        let recording = plan.recording.as_ref().map_or(&[][..], |r| &r.decisions);
        let block = SharedBlock::new(plan.settings(), recording)?;
        watch::install(&block);
        Ok(Executor {
            plan,
            launch: Launch::new(&plan.target, runtime, scratch)?,
            block,
            output,
            own_directory: plan.target.own_directory.then(|| scratch.cwd.clone()),
            frames: Frames::new(&plan.target.runtime),
            unwinder: Unwinder::with(builds.clone()),
            builds,
            mode: plan.exec.then_some(Mode::Exec),
            spare: None,
            os_threads: None,
            places: Vec::new(),
        })
    }

    /// Starts the fork server, if there is to be one. Returns why there is none after all.
    pub fn prepare(&mut self) -> Result<Option<String>, Halt> {
        if self.mode.is_some() {
            return Ok(None);
        }
        let reason = self.start_server()?;
        if reason.is_some() {
            self.mode = Some(Mode::Exec);
        }
        Ok(reason)
    }

    /// Makes one run.
    pub fn run(&mut self, run: u64, seed: u64, order: &Order) -> Result<Over, Halt> {
        let over = self.run_once(run, seed, order)?;
        let reason = OsReason::from_u32(self.block.control().os_reason.load(Ordering::Relaxed));
        let told = self.block.settings().flags & flag::FIBERS == 0;
        let Some(reason) = reason.filter(|_| !told) else { return Ok(over) };
        // From here on without fibers, in a new process; the run that met the reason is made again.
        self.os_threads = Some(reason.text().to_string());
        self.finish();
        self.block.set(|settings| settings.flags &= !flag::FIBERS);
        if self.plan.exec {
            self.mode = Some(Mode::Exec);
        }
        if self.block.results().outcome == Outcome::NeedsOsThreads as u32 {
            return self.run_once(run, seed, order);
        }
        Ok(over)
    }

    fn run_once(&mut self, run: u64, seed: u64, order: &Order) -> Result<Over, Halt> {
        self.prepare()?;
        self.output.clear()?;
        let over = match self.mode {
            Some(Mode::Server(server)) => {
                self.block.clear_results();
                self.configure(run, seed, order)?;
                self.run_forked(server)?
            }
            _ => {
                self.block.reset();
                self.configure(run, seed, order)?;
                self.run_executed()?
            }
        };
        self.output.look()?;
        Ok(over)
    }

    /// Lets the fork server make the runs of an order as long as they end well. Returns how many did, and
    /// what is left of the run after them. `None`: there is no fork server.
    pub fn run_series(&mut self, order: &Order, scratch: &Path) -> Result<Option<(usize, Option<Over>)>, Halt> {
        self.prepare()?;
        let Some(Mode::Server(server)) = self.mode else { return Ok(None) };
        self.output.clear()?;
        self.block.clear_results();
        self.configure(0, 0, order)?;
        self.block.set(|settings| {
            settings.first_run = order.first;
            settings.last_run = order.last;
            block::put(&mut settings.scratch, scratch.as_os_str().as_bytes());
        });
        self.block.control().completed.store(0, Ordering::Relaxed);
        self.block.control().strays.store(0, Ordering::Relaxed);
        let over = self.run_forked(server)?;
        self.output.look()?;
        let completed = self.block.control().completed.load(Ordering::Acquire) as usize;
        let whole = completed as u64 == order.last - order.first + 1;
        Ok(Some((completed, (!whole).then_some(over))))
    }

    fn configure(&mut self, run: u64, seed: u64, order: &Order) -> Result<(), Halt> {
        if self.places != order.places {
            self.places.clone_from(&order.places);
            // Runs have other choices now.
            self.block.forget_search()?;
        }
        self.block.set_places(&order.places);
        if let Some(told) = &order.told {
            self.block.tell(told);
        }
        let sampled = self.plan.samples(if run == 0 { order.first } else { run });
        self.block.set(|settings| {
            settings.first_run = 0;
            settings.last_run = 0;
            settings.run = run;
            settings.seed = seed;
            settings.profile = order.profile;
            settings.stacks = order.stacks;
            settings.flags &= !(flag::TRACE | flag::PASSED);
            if order.traced > Learns::Nothing {
                settings.flags |= flag::TRACE;
            }
            if sampled {
                settings.flags |= flag::PASSED;
            }
        });
        Ok(())
    }

    fn start(&mut self) -> Result<pid_t, LaunchError> {
        if self.block.settings().flags & flag::SERVER == 0 {
            self.launch.bind_late();
        }
        let bound = self.launch.is_bound();
        self.block.set(|settings| {
            settings.flags &= !flag::BOUND;
            settings.flags |= if bound { flag::BOUND } else { 0 };
        });
        self.launch.start(Descriptors {
            block: self.block.descriptor(),
            stdout: self.output.stdout.descriptor(),
            stderr: self.output.stderr.descriptor(),
        })
    }

    /// Starts a fork server, or says why the program cannot be one.
    fn start_server(&mut self) -> Result<Option<String>, Halt> {
        self.output.clear()?;
        self.block.reset();
        self.server_settings(true);
        let pid = self.start()?;
        let limit = START.max(self.plan.run_timeout);
        let deadline = Instant::now() + limit;
        let control = self.block.control();
        let reason = loop {
            let seen = control.event.load(Ordering::Acquire);
            match control.fallback.load(Ordering::Acquire) {
                fallback::NONE => {}
                fallback::THREADS => break "it starts threads before main".to_string(),
                fallback::DESCRIPTORS => break "it opens pipes, sockets or the like before main".to_string(),
                other => break format!("its runtime says so (reason {other})"),
            }
            if seen & event::READY != 0 {
                control.event.fetch_and(!event::READY, Ordering::AcqRel);
                self.mode = Some(Mode::Server(pid));
                return Ok(None);
            }
            if seen & event::CHILD != 0 {
                control.event.fetch_and(!event::CHILD, Ordering::AcqRel);
                if let Some(status) = sys::try_wait(pid) {
                    let ending = Ending::from_status(status);
                    sys::sweep_children(None);
                    if self.launch.bind_late() {
                        // Perhaps it names a function that is nowhere.
                        return self.start_server();
                    }
                    self.must_be_attached(ending)?;
                    self.server_settings(false);
                    return Ok(Some(format!("it ends before main ({ending})")));
                }
                continue;
            }
            if watch::stopped() {
                self.end(pid);
                return Err(Halt::Stopped);
            }
            if Instant::now() > deadline {
                if control.attached.load(Ordering::Acquire) == 0 {
                    self.end(pid);
                    return Err(Halt::Target(TargetError::NotAttached { seconds: limit.as_secs() }));
                }
                break format!("it does not reach main within {} s", limit.as_secs());
            }
            sys::futex_wait(&control.event, seen, Duration::from_millis(2));
        };
        self.end(pid);
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
        let directory = self.own_directory.as_ref();
        self.block.set(|settings| {
            settings.flags &= !flag::SERVER;
            settings.stdin.fill(0);
            settings.directory.fill(0);
            if on {
                settings.flags |= flag::SERVER;
                if let Some(stdin) = stdin {
                    block::put(&mut settings.stdin, stdin.as_os_str().as_bytes());
                }
                if let Some(directory) = directory {
                    block::put(&mut settings.directory, directory.as_os_str().as_bytes());
                }
            }
        });
    }

    /// Kills a process that we started and have not waited for, with all that it leaves behind.
    fn end(&self, pid: pid_t) {
        sys::kill(pid);
        sys::wait(pid);
        sys::sweep_children(self.spare);
    }

    /// The fork server.
    pub fn server(&self) -> Option<pid_t> {
        match self.mode {
            Some(Mode::Server(server)) => Some(server),
            _ => None,
        }
    }

    /// Looks at its own processes again, after another executor has been at work.
    pub fn watch_again(&self) {
        watch::install(&self.block);
        // A child may have ended meanwhile.
        self.block.control().event.fetch_or(event::CHILD, Ordering::AcqRel);
    }

    fn must_be_attached(&self, ending: Ending) -> Result<(), Halt> {
        if self.block.control().attached.load(Ordering::Acquire) != 0 {
            return Ok(());
        }
        let stderr = output::tail(&self.output.stderr.read()?, 20);
        Err(Halt::Target(TargetError::NotLoaded { ending: ending.to_string(), stderr }))
    }

    /// A run as a child of the fork server.
    fn run_forked(&mut self, server: pid_t) -> Result<Over, Halt> {
        let control = self.block.control();
        // A child that ended must still be noticed, so its bit stays.
        control.event.fetch_and(event::CHILD, Ordering::AcqRel);
        control.release.store(0, Ordering::Relaxed);
        control.heartbeat.store(0, Ordering::Relaxed);
        control.run_pid.store(0, Ordering::Relaxed);
        control.command.store(command::RUN, Ordering::Release);
        sys::futex_wake(&control.command);

        let mut watch = Watch::new(self.plan.run_timeout);
        let mut threads = Vec::new();
        let mut timed_out = None;
        let mut seen = 0;
        loop {
            let happened = watch.wait(&self.block, &mut self.output, server);
            let completed = self.block.control().completed.load(Ordering::Acquire);
            let run_pid = self.block.control().run_pid.load(Ordering::Acquire);
            match happened {
                Happened::Frozen => threads = self.look_at_frozen(run_pid, &mut watch),
                Happened::Done => {
                    let status = self.block.control().wait_status.load(Ordering::Acquire);
                    return Ok(Over { ending: Ending::from_status(status), timed_out, threads });
                }
                Happened::Stopped => return Err(Halt::Stopped),
                // The limit is for one run, not for a series.
                Happened::TooSlow if timed_out.is_none() && completed != seen => {
                    seen = completed;
                    watch = Watch::new(self.plan.run_timeout);
                }
                Happened::TooSlow if timed_out.is_none() => {
                    timed_out = Some(watch.silence());
                    threads = threads::look_from_outside(&mut self.unwinder, &self.frames, run_pid);
                    sys::kill(run_pid);
                    watch = Watch::new(GRACE);
                }
                // The server cannot say so itself: it shares the run's fate, or hangs. The next run
                // starts a new one.
                Happened::Ended(status) => {
                    // The run is ours now.
                    sys::sweep_children(None);
                    self.mode = None;
                    return Ok(Over { ending: Ending::from_status(status), timed_out, threads });
                }
                Happened::TooSlow => {
                    self.end(server);
                    self.mode = None;
                    return Ok(Over { ending: Ending::Signal(libc::SIGKILL), timed_out, threads });
                }
            }
        }
    }

    /// A run as a process of its own.
    fn run_executed(&mut self) -> Result<Over, Halt> {
        let pid = self.start()?;
        self.block.control().run_pid.store(pid, Ordering::Release);
        let mut watch = Watch::new(self.plan.run_timeout);
        let mut threads = Vec::new();
        let mut timed_out = None;
        let status = loop {
            match watch.wait(&self.block, &mut self.output, pid) {
                Happened::Frozen => threads = self.look_at_frozen(pid, &mut watch),
                Happened::Ended(status) => break status,
                Happened::Done => {}
                Happened::Stopped => {
                    self.end(pid);
                    return Err(Halt::Stopped);
                }
                Happened::TooSlow => {
                    timed_out = timed_out.or(Some(watch.silence()));
                    threads = threads::look_from_outside(&mut self.unwinder, &self.frames, pid);
                    sys::kill(pid);
                    watch = Watch::new(GRACE);
                }
            }
        };
        sys::sweep_children(self.spare);
        let ending = Ending::from_status(status);
        self.must_be_attached(ending)?;
        Ok(Over { ending, timed_out, threads })
    }

    /// Looks at the threads of a run that has stopped at a failure, and lets it go on to its end.
    fn look_at_frozen(&mut self, pid: pid_t, watch: &mut Watch) -> Vec<ThreadView> {
        let started = Instant::now();
        let results = self.block.results();
        let reports = self.block.threads(results.threads);
        let mut views = threads::look(&mut self.unwinder, &self.frames, pid, &reports);
        for view in &mut views {
            let calls = calls::told(&reports[usize::from(view.id)], self.plan, &self.builds);
            view.backtrace.splice(0..0, calls);
        }
        if [Outcome::Assert as u32, Outcome::Signal as u32].contains(&results.outcome) {
            threads::mark_failed(&mut views, results.thread);
        }
        let control = self.block.control();
        control.release.store(1, Ordering::Release);
        sys::futex_wake(&control.release);
        watch.extend(started.elapsed());
        views
    }

    /// Starts a program with checks and waits until it reaches the one that is to make the runs. `None`:
    /// it ended without reaching it.
    pub fn reach_check(&mut self) -> Result<Option<Wishes>, Halt> {
        self.output.clear()?;
        self.block.reset();
        let pid = self.start()?;
        let limit = START.max(self.plan.run_timeout);
        let deadline = Instant::now() + limit;
        loop {
            let control = self.block.control();
            let seen = control.event.load(Ordering::Acquire);
            if seen & event::CHECK != 0 {
                control.event.fetch_and(!event::CHECK, Ordering::AcqRel);
                self.mode = Some(Mode::Check(pid));
                return Ok(Some(self.block.wishes()));
            }
            if seen & event::CHILD != 0 {
                control.event.fetch_and(!event::CHILD, Ordering::AcqRel);
                if let Some(status) = sys::try_wait(pid) {
                    self.must_be_attached(Ending::from_status(status))?;
                    sys::sweep_children(None);
                    return Ok(None);
                }
                continue;
            }
            if watch::stopped() {
                self.end(pid);
                return Err(Halt::Stopped);
            }
            if Instant::now() > deadline {
                self.end(pid);
                return Err(Halt::Target(TargetError::NoCheck { seconds: limit.as_secs() }));
            }
            sys::futex_wait(&control.event, seen, Duration::from_millis(2));
        }
    }

    /// Lets the program's check make the runs of an order. Returns how many passed, and what is left of
    /// the run after them when that one failed.
    pub fn run_check(&mut self, order: &Order, seed: u64) -> Result<(usize, Option<Over>), Halt> {
        let pid = match self.mode {
            Some(Mode::Check(pid)) => pid,
            _ => {
                self.reach_check()?.ok_or(Halt::Target(TargetError::CheckNotReached))?;
                let Some(Mode::Check(pid)) = self.mode else {
                    return Err(Halt::Target(TargetError::CheckNotReached));
                };
                pid
            }
        };
        self.block.clear_results();
        self.configure(order.first, seed, order)?;
        self.block.set(|settings| {
            settings.first_run = order.first;
            settings.last_run = order.last;
        });
        let control = self.block.control();
        control.event.fetch_and(event::CHILD, Ordering::AcqRel);
        control.release.store(0, Ordering::Relaxed);
        control.completed.store(0, Ordering::Relaxed);
        control.command.store(command::RUN, Ordering::Release);
        sys::futex_wake(&control.command);
        let (mut threads, mut timed_out, mut seen) = (Vec::new(), None, 0);
        let mut watch = Watch::new(self.plan.run_timeout);
        let ending = loop {
            let happened = watch.wait(&self.block, &mut self.output, pid);
            let completed = self.block.control().completed.load(Ordering::Acquire);
            match happened {
                Happened::Frozen => threads = self.look_at_frozen(pid, &mut watch),
                Happened::Done => break None,
                Happened::Ended(status) => break Some(Ending::from_status(status)),
                Happened::Stopped => {
                    self.end(pid);
                    self.mode = None;
                    return Err(Halt::Stopped);
                }
                // The limit is for one run, not for all of them.
                Happened::TooSlow if completed != seen && timed_out.is_none() => {
                    seen = completed;
                    watch = Watch::new(self.plan.run_timeout);
                }
                Happened::TooSlow => {
                    timed_out = timed_out.or(Some(watch.silence()));
                    threads = threads::look_from_outside(&mut self.unwinder, &self.frames, pid);
                    sys::kill(pid);
                    watch = Watch::new(GRACE);
                }
            }
        };
        let completed = self.block.control().completed.load(Ordering::Acquire) as usize;
        self.output.look()?;
        let whole = completed as u64 == order.last - order.first + 1;
        if let Some(ending) = ending {
            sys::sweep_children(None);
            self.mode = None;
            return Ok((completed, Some(Over { ending, timed_out, threads })));
        }
        let failed = (!whole).then_some(Over { ending: Ending::Exit(0), timed_out, threads });
        Ok((completed, failed))
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

    /// Says what the program's check is to report.
    pub fn say(&mut self, verdict: &str) {
        self.block.say(verdict);
    }

    /// Ends the fork server, or lets a program go on behind its check.
    pub fn finish(&mut self) {
        let (Some(Mode::Server(server)) | Some(Mode::Check(server))) = self.mode.take() else {
            return;
        };
        let control = self.block.control();
        control.command.store(command::QUIT, Ordering::Release);
        sys::futex_wake(&control.command);
        let deadline = Instant::now() + GRACE;
        loop {
            let seen = control.event.load(Ordering::Acquire);
            if sys::try_wait(server).is_some() {
                break;
            }
            if Instant::now() > deadline || watch::stopped() {
                return self.end(server);
            }
            sys::futex_wait(&control.event, seen, Duration::from_millis(2));
        }
        sys::sweep_children(None);
    }
}
