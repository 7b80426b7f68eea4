//! The jobs of a campaign, as the main process sees them.

use std::io;
use std::path::Path;
use std::time::{Duration, Instant};

use libc::pid_t;

use super::job::Job;
use super::output::Output;
use super::plan::Plan;
use super::scratch::Scratch;
use super::wire::{Channel, Order, Reply};
use crate::sys::{self, Ending};

/// How long a job that is asked to leave may take.
const GRACE: Duration = Duration::from_secs(3);

/// What a job said.
#[derive(Debug)]
pub enum News {
    /// A message.
    Reply(Reply),
    /// The job is gone without having been asked to leave.
    Gone(String),
}

struct Member {
    pid: pid_t,
    channel: Channel,
    gone: bool,
    /// Orders that it has not finished.
    orders: usize,
    /// The version of what it was told last.
    told: u64,
}

/// The jobs.
pub struct Crew {
    members: Vec<Member>,
}

impl Crew {
    /// Forks the jobs. This process must have one thread only. `outputs` has a pair for each job.
    pub fn hire(plan: &Plan, runtime: &Path, scratch: &Scratch, outputs: Vec<Output>) -> io::Result<Crew> {
        sys::become_subreaper();
        let cores = sys::cores_from_here();
        let jobs = outputs.len();
        let mut crew = Crew { members: Vec::new() };
        for (index, output) in outputs.into_iter().enumerate() {
            let (ours, theirs) = Channel::pair()?;
            let directories = scratch.job(index)?;
            let parent = std::process::id() as pid_t;
            let cores = share(&cores, index, jobs, plan.is_parallel());
            // SAFETY: this process has one thread, so the child may do anything.
            let pid = unsafe { libc::fork() };
            match sys::check(pid)? {
                0 => {
                    for member in &crew.members {
                        // SAFETY: our copies of the other jobs' channels; nobody uses them here.
                        unsafe { libc::close(member.channel.descriptor()) };
                    }
                    drop(ours);
                    Job { plan, cores, runtime, scratch: directories, output, parent }.live(theirs)
                }
                _ => crew.members.push(Member { pid, channel: ours, gone: false, orders: 0, told: 0 }),
            }
        }
        Ok(crew)
    }

    /// Jobs that have fewer orders than they could have.
    pub fn idle(&self, at_most: usize) -> Vec<usize> {
        let free = |member: &Member| !member.gone && member.orders < at_most;
        (0..self.members.len()).filter(|&i| free(&self.members[i])).collect()
    }

    /// Gives a job something to do.
    pub fn give(&mut self, job: usize, order: &Order) -> io::Result<()> {
        let member = &mut self.members[job];
        member.orders += 1;
        if std::mem::replace(&mut member.told, order.version) == order.version && order.told.is_some() {
            return member.channel.send(&Order { told: None, ..order.clone() });
        }
        member.channel.send(order)
    }

    /// Whether any job has something to do.
    pub fn busy(&self) -> bool {
        self.members.iter().any(|member| !member.gone && member.orders > 0)
    }

    /// Waits for news, at most so long; a signal ends the wait.
    pub fn wait(&mut self, at_most: Duration) -> io::Result<Vec<News>> {
        let mut polls: Vec<_> = self
            .members
            .iter()
            .map(|member| libc::pollfd {
                fd: if member.gone { -1 } else { member.channel.descriptor() },
                events: libc::POLLIN,
                revents: 0,
            })
            .collect();
        let milliseconds = at_most.as_millis().min(1000) as i32;
        // SAFETY: the array has the length that is passed.
        unsafe { libc::poll(polls.as_mut_ptr(), polls.len() as libc::nfds_t, milliseconds) };
        let mut news = Vec::new();
        for (member, poll) in self.members.iter_mut().zip(&polls) {
            if poll.revents != 0 {
                news.push(member.hear()?);
            }
        }
        Ok(news)
    }

    /// Asks all jobs to leave, hears what they still have to say, and makes sure that they are gone.
    pub fn dismiss(mut self) -> Vec<News> {
        for member in self.members.iter().filter(|member| !member.gone) {
            // SAFETY: a child of ours that has not been waited for.
            unsafe { libc::kill(member.pid, libc::SIGTERM) };
        }
        let deadline = Instant::now() + GRACE;
        let mut last = Vec::new();
        while self.members.iter().any(|member| !member.gone) && Instant::now() < deadline {
            match self.wait(Duration::from_millis(50)) {
                Ok(news) => last.extend(news),
                Err(_) => break,
            }
        }
        for member in &self.members {
            if sys::try_wait(member.pid).is_none() {
                sys::kill(member.pid);
            }
        }
        sys::sweep_children(None);
        last
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

impl Member {
    /// Reads one message.
    fn hear(&mut self) -> io::Result<News> {
        match self.channel.hear()? {
            Some(Reply::Idle) => {
                self.orders -= 1;
                Ok(News::Reply(Reply::Idle))
            }
            Some(reply) => Ok(News::Reply(reply)),
            None => {
                self.gone = true;
                let ending = sys::wait(self.pid).map(Ending::from_status);
                Ok(News::Gone(ending.map_or("it vanished".to_string(), |ending| ending.to_string())))
            }
        }
    }
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
