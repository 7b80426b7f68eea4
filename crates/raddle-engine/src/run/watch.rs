//! Waiting for a target: until it is ready, a run is over or frozen at a failure, the process has ended, or the time is
//! over.

use std::io;
use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Sender};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use raddle_protocol::control::event;
use raddle_protocol::Fallback;

use super::classify::TimedOut;
use super::output::Output;
use super::shared_block::{Bell, DistantBell, SharedBlock};
use crate::os::process::{self, Process};
use crate::os::sys::{self, Ending};

/// More events than a process has while it makes its runs.
const MOST_EVENTS: u32 = 16;

/// How often a long run is looked at.
const LOOK: Duration = Duration::from_millis(50);

#[derive(Debug, PartialEq, Eq)]
pub enum Happened {
    /// The fork server is ready, or cannot be one for the reason with this number.
    Ready(u32),
    /// The program has reached a check, which waits for a command.
    CheckReached,
    /// The runs that were ordered are over.
    Done,
    /// The run has stopped at a failure and waits to be looked at.
    Frozen,
    /// The process that was started has ended.
    Ended(Ending),
    /// The time is over.
    TooSlow,
    /// The job is asked to stop.
    Stopped,
}

/// A request to stop, seen by all threads of a campaign.
#[derive(Clone, Default)]
pub struct Stop(Arc<StopState>);

#[derive(Default)]
struct StopState {
    requested: AtomicBool,
    /// The blocks whose jobs may be waiting.
    bells: Mutex<Vec<DistantBell>>,
}

impl Stop {
    /// Asks all jobs to stop.
    pub fn request(&self) {
        self.0.requested.store(true, Ordering::Release);
        let bells = self.0.bells.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        bells.iter().filter_map(DistantBell::upgrade).for_each(|bell| bell.ring(event::STOP));
    }

    /// Whether that was asked.
    pub fn requested(&self) -> bool {
        self.0.requested.load(Ordering::Acquire)
    }

    fn tell(&self, bell: &Bell) {
        let mut bells = self.0.bells.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        bells.retain(|bell| bell.upgrade().is_some());
        bells.push(bell.downgrade());
    }
}

/// Tells the thread that waits for a block when a process of its job has ended.
pub struct Watcher {
    /// Closed when there will be no more.
    processes: Option<Sender<OwnedFd>>,
    thread: Option<JoinHandle<()>>,
    stop: Stop,
}

impl Watcher {
    /// For the processes that use this block. They must have ended when the watcher is dropped, which waits for that.
    pub fn new(block: &SharedBlock, stop: &Stop) -> io::Result<Watcher> {
        let (processes, started) = mpsc::channel::<OwnedFd>();
        let bell = block.bell();
        stop.tell(&bell);
        let watch = move || {
            for process in started {
                while !process::ended(&process, -1) {}
                bell.ring(event::CHILD);
            }
        };
        let thread = sys::spawn("raddle-watch".to_string(), watch)?;
        Ok(Watcher { processes: Some(processes), thread: Some(thread), stop: stop.clone() })
    }

    /// Whether the job is asked to stop.
    pub fn stopped(&self) -> bool {
        self.stop.requested()
    }

    /// Watches a process from now on.
    pub fn watch(&self, process: &Process) -> io::Result<()> {
        let pidfd = process.pidfd()?;
        // The thread that receives lives as long as this end of the channel.
        self.processes.as_ref().map_or(Ok(()), |processes| processes.send(pidfd)).map_err(io::Error::other)
    }
}

impl Drop for Watcher {
    fn drop(&mut self) {
        self.processes = None;
        // A thread that has broken down is not there any longer either.
        self.thread.take().map(JoinHandle::join);
    }
}

/// A limit of time for what a process is to do.
pub struct Watch {
    limit: Duration,
    deadline: Instant,
    /// Events that came.
    events: u32,
    beat: (u32, u64),
    beat_at: Instant,
}

impl Watch {
    /// It starts now and may take this long.
    pub fn new(limit: Duration) -> Watch {
        let now = Instant::now();
        Watch { limit, deadline: now + limit, events: 0, beat: (0, 0), beat_at: now }
    }

    /// Time that we took ourselves does not count.
    pub fn extend(&mut self, by: Duration) {
        self.deadline += by;
    }

    /// How long it may take, and for how long it has reached no schedule point.
    pub fn silence(&self) -> TimedOut {
        TimedOut { limit: self.limit.as_secs_f64(), silent: self.beat_at.elapsed().as_secs_f64() }
    }

    /// Waits for the next thing to happen in a block, or to the process that was started.
    pub fn wait(
        &mut self,
        block: &SharedBlock,
        watcher: &Watcher,
        output: &mut Output,
        process: &mut Process,
    ) -> io::Result<Happened> {
        let control = block.control();
        self.events += 1;
        loop {
            // A program that writes over its block seems to have news all the time.
            if self.events > MOST_EVENTS && (watcher.stopped() || Instant::now() >= self.deadline) {
                return Ok(if watcher.stopped() { Happened::Stopped } else { Happened::TooSlow });
            }
            let seen = control.event.load(Ordering::Acquire);
            for bit in [event::FROZEN, event::DONE, event::READY, event::CHECK] {
                if seen & bit != 0 {
                    control.event.fetch_and(!bit, Ordering::AcqRel);
                    return Ok(match bit {
                        event::FROZEN => Happened::Frozen,
                        event::DONE => Happened::Done,
                        event::CHECK => Happened::CheckReached,
                        _ => Happened::Ready(control.fallback.load(Ordering::Acquire)),
                    });
                }
            }
            if seen & event::CHILD != 0 {
                control.event.fetch_and(!event::CHILD, Ordering::AcqRel);
                if process.has_ended() {
                    // What it left of its group has the number of a process that is still there, though dead.
                    process.kill_group();
                    return Ok(Happened::Ended(process.wait()?));
                }
            }
            if watcher.stopped() {
                return Ok(Happened::Stopped);
            }
            let now = Instant::now();
            if now >= self.deadline {
                return Ok(Happened::TooSlow);
            }
            let beat = block.beat();
            if beat != self.beat {
                self.beat = beat;
                self.beat_at = now;
            }
            sys::futex_wait(&control.event, seen, LOOK.min(self.deadline - now));
            if now.elapsed() >= LOOK {
                // A look that fails now will fail again after the run, and be reported there.
                let _ = output.look();
            }
        }
    }
}

/// Why there is no fork server, for the number of a [`Fallback`].
pub fn fallback_reason(number: u32) -> Option<String> {
    let known = Fallback::from_u32(number).map(|reason| reason.text().to_string());
    (number != 0).then(|| known.unwrap_or_else(|| format!("its runtime says so (reason {number})")))
}
