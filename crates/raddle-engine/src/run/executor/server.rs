//! Runs as children of a fork server, one by one or in series.

use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::sync::atomic::Ordering;

use raddle_protocol::settings::{self, flag, INHERITED};

use super::attend::{Answer, Answers, Attended};
use super::start::{Start, START};
use super::{Executor, JobEnd, Mode, RunEnd};
use crate::os::sys::{self, Ending};
use crate::plan::stdin::{self, Stdin};
use crate::run::target_error::TargetError;
use crate::run::{shared_block, watch, Assignment};

impl Executor<'_> {
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

    /// Starts a fork server, or says why the program cannot be one.
    pub(super) fn start_server(&mut self) -> Result<Option<String>, JobEnd> {
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
    pub(super) fn server_settings(&mut self, on: bool) {
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
    pub(super) fn inherited(&self) -> [u64; INHERITED] {
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

    /// Whether a run of the fork server was to become one of another program: from here on every run is a process of its
    /// own, and that one is made again.
    pub(super) fn leaves_server(&mut self) -> Result<bool, JobEnd> {
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

    /// A run, or a series of runs, as children of the fork server.
    pub(super) fn run_forked(&mut self) -> Result<RunEnd, JobEnd> {
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
}
