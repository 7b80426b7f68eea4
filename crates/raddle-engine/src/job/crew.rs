//! The jobs of a campaign: threads, each with assignments and a way to reply.

use std::io;
use std::path::Path;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use super::{Job, Replies, Reply};
use crate::os::scratch::Scratch;
use crate::os::sys;
use crate::plan::Plan;
use crate::run::output::Output;
use crate::run::watch::Stop;
use crate::run::Assignment;

/// How long jobs may take to end once they have been asked to stop. They take milliseconds, unless the machine is busy or
/// a process cannot be killed because it waits for a device.
const GRACE: Duration = Duration::from_secs(10);

struct Member {
    /// Closed when the job is to leave.
    assignments: Option<Sender<Assignment>>,
    thread: Option<JoinHandle<()>>,
    gone: bool,
    /// Assignments that it has not finished.
    open: usize,
    /// The version of the knowledge that it was given last.
    version: u64,
}

pub struct Crew {
    members: Vec<Member>,
    replies: Receiver<(usize, Reply)>,
    stop: Stop,
}

impl Crew {
    /// Starts the jobs, one for each of `outputs`. On failure the jobs that were started end by themselves.
    pub fn start(plan: &Arc<Plan>, runtime: &Path, scratch: &Scratch, outputs: Vec<Output>) -> io::Result<Crew> {
        let stop = Stop::default();
        let cores = match plan.cores {
            Some(ref cores) => cores.clone(),
            None => sys::cores_from_here(),
        };
        let jobs = outputs.len();
        let (to, replies) = mpsc::channel();
        let mut members = Vec::new();
        for (index, output) in outputs.into_iter().enumerate() {
            let (assignments, received) = mpsc::channel();
            let job = Job {
                plan: plan.clone(),
                cores: share(&cores, index, jobs, plan.is_parallel()),
                runtime: runtime.to_path_buf(),
                scratch: scratch.job(index)?,
                output,
                stop: stop.clone(),
            };
            let replies = Replies { job: index, to: to.clone() };
            let name = format!("raddle-job-{index}");
            let thread = sys::spawn(name, move || job.live(&received, &replies))?;
            let (assignments, thread) = (Some(assignments), Some(thread));
            members.push(Member { assignments, thread, gone: false, open: 0, version: 0 });
        }
        Ok(Crew { members, replies, stop })
    }

    /// The jobs that could have more assignments, of which each may have this many.
    pub fn idle(&self, at_most: usize) -> Vec<usize> {
        let free = |member: &Member| !member.gone && member.open < at_most;
        (0..self.members.len()).filter(|&i| free(&self.members[i])).collect()
    }

    /// Gives a job something to do.
    pub fn give(&mut self, job: usize, mut assignment: Assignment) {
        let member = &mut self.members[job];
        if std::mem::replace(&mut member.version, assignment.version) == assignment.version {
            assignment.knowledge = None;
        }
        member.open += 1;
        if let Some(to) = &member.assignments {
            // A job that is gone has said so, which is read later.
            let _ = to.send(assignment);
        }
    }

    /// Whether any job has something to do.
    pub fn busy(&self) -> bool {
        self.members.iter().any(|member| !member.gone && member.open > 0)
    }

    /// Waits for replies, but not for longer than this.
    pub fn wait(&mut self, at_most: Duration) -> Vec<Reply> {
        let mut all = Vec::new();
        match self.replies.recv_timeout(at_most) {
            Ok(reply) => all.push(reply),
            Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => return Vec::new(),
        }
        all.extend(self.replies.try_iter());
        all.into_iter().map(|(job, reply)| self.note(job, reply)).collect()
    }

    fn note(&mut self, job: usize, reply: Reply) -> Reply {
        let member = &mut self.members[job];
        match reply {
            Reply::Idle => member.open -= 1,
            Reply::Gone => member.gone = true,
            _ => {}
        }
        reply
    }

    /// Asks all jobs to stop and collects what they still report. A job that does not end in time is left to itself:
    /// it ends when its target can be killed.
    pub fn dismiss(mut self) -> Vec<Reply> {
        self.leave()
    }

    fn leave(&mut self) -> Vec<Reply> {
        // A job that has nothing to do sees the closed channel.
        self.members.iter_mut().for_each(|member| member.assignments = None);
        if self.busy() {
            self.stop.request();
        }
        let mut last = Vec::new();
        let deadline = Instant::now() + GRACE;
        while self.members.iter().any(|member| !member.gone) && Instant::now() < deadline {
            last.extend(self.wait(deadline - Instant::now()));
        }
        for member in self.members.iter_mut().filter(|member| member.gone) {
            // A job that broke down has said so.
            member.thread.take().map(JoinHandle::join);
        }
        last
    }
}

impl Drop for Crew {
    /// What the jobs have started ends before their directories are removed.
    fn drop(&mut self) {
        self.leave();
    }
}

/// The cores of a job: one, or where threads run in parallel its share of all.
fn share(cores: &[usize], index: usize, jobs: usize, parallel: bool) -> Vec<usize> {
    let one = || cores.get(index % cores.len().max(1)).copied().into_iter().collect();
    if !parallel || jobs > cores.len() {
        return one();
    }
    cores[index * cores.len() / jobs..(index + 1) * cores.len() / jobs].to_vec()
}

#[cfg(test)]
mod tests {
    use super::share;

    #[test]
    fn a_serial_job_has_one_core() {
        let cores = [4, 5, 6];
        assert_eq!(share(&cores, 1, 2, false), [5]);
        assert_eq!(share(&cores, 4, 5, false), [5]);
        assert_eq!(share(&cores, 4, 5, true), [5]);
        assert_eq!(share(&[], 0, 1, false), [0; 0]);
    }

    #[test]
    fn parallel_jobs_share_all_cores() {
        let cores: Vec<usize> = (0..8).collect();
        assert_eq!(share(&cores, 0, 1, true), cores);
        let shares: Vec<_> = (0..3).map(|index| share(&cores, index, 3, true)).collect();
        assert!(shares.iter().all(|share| share.len() >= 2));
        assert_eq!(shares.concat(), cores);
    }
}
