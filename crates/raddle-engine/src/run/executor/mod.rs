//! Makes a run happen, in a fork server, in a process of its own or in a check, and says what is left of it.
//!
//! | file | one idea |
//! |---|---|
//! | `start` | starts the target and waits until it can make runs |
//! | `server` | runs as children of a fork server |
//! | `check` | runs that a check in the target makes |
//! | `attend` | waits for the runs and looks at those that fail or hang |
//! | `leave` | ends the target and what it leaves behind |

mod attend;
mod check;
mod leave;
mod server;
mod start;

use std::io;
use std::path::Path;
use std::sync::atomic::Ordering;

use raddle_core::policy::{Explored, Learns};
use raddle_inspect::builds::Builds;
use raddle_inspect::stack::Unwinder;
use raddle_protocol::settings::flag;
use raddle_protocol::{Escape, Outcome};

use self::attend::{Answer, Answers, Attended};
use super::classify::TimedOut;
use super::frames::Frames;
use super::launch::{Launch, LaunchError};
use super::output::Output;
use super::shared_block::{self, SharedBlock};
use super::target_error::TargetError;
use super::threads::ThreadView;
use super::watch::{Stop, Watcher};
use super::Assignment;
use crate::os::process::Process;
use crate::os::scratch::JobScratch;
use crate::os::sys::Ending;
use crate::plan::place::Place;
use crate::plan::Plan;

pub use self::attend::Look;

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

    /// Makes a run. What it meets may decide how this and all later ones are made; then it is made again.
    pub fn run(&mut self, run: u64, seed: u64, assignment: &Assignment) -> Result<RunEnd, JobEnd> {
        loop {
            let end = self.run_once(run, seed, assignment)?;
            if !self.leaves_server()? && !self.leaves_fibers()? {
                return Ok(end);
            }
        }
    }

    /// Whether a run could not go on with fibers and is to be made again. From here on there are none, in new processes,
    /// also when it could.
    fn leaves_fibers(&mut self) -> Result<bool, JobEnd> {
        let fibers = |executor: &Executor| executor.block.settings().flags & flag::FIBERS != 0;
        if !fibers(self) {
            return Ok(false);
        }
        let needed = self.leave_fibers();
        if !fibers(self) {
            self.finish()?;
        }
        if needed {
            self.clean()?;
        }
        Ok(needed)
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
}
