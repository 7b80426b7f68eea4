//! What the main process and its jobs say to each other: frames of a length and JSON.

use std::io::{self, Read, Write};
use std::os::fd::{AsRawFd, RawFd};
use std::os::unix::net::UnixStream;
use std::sync::Arc;

use raddle_core::block::{Stacks, Summary, STACKS};
use raddle_core::policy::{Explored, Learns, Profile};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::lessons::Told;
use super::races::Place;
use super::run_report::{Counts, RunReport, Verdict};
use super::target_error::TargetError;

/// What a job shall do.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Order {
    /// The first run, counted from 1.
    pub first: u64,
    /// The last run.
    pub last: u64,
    /// What the policy is told of earlier runs.
    #[serde(with = "ProfileOnTheWire")]
    pub profile: Profile,
    /// The threads that earlier runs made.
    #[serde(with = "stacks_on_the_wire")]
    pub stacks: [Stacks; STACKS],
    /// The places that earlier runs saw racing.
    pub places: Vec<Place>,
    /// What later runs shall learn from these.
    #[serde(with = "LearnsOnTheWire")]
    pub traced: Learns,
    /// What the policy is told, if it is not what the job was told last.
    pub told: Option<Arc<Told>>,
    /// Which version of it that is.
    pub version: u64,
}

/// Sizes of stacks, and how many threads have each.
pub mod stacks_on_the_wire {
    use super::*;

    /// Writes them.
    pub fn serialize<S: serde::Serializer>(stacks: &[Stacks; STACKS], to: S) -> Result<S::Ok, S::Error> {
        stacks.map(|s| (s.size, s.guard, s.count)).serialize(to)
    }

    /// Reads them.
    pub fn deserialize<'de, D: serde::Deserializer<'de>>(from: D) -> Result<[Stacks; STACKS], D::Error> {
        let stacks = <[(u64, u32, u32); STACKS]>::deserialize(from)?;
        Ok(stacks.map(|(size, guard, count)| Stacks { size, guard, count }))
    }
}

impl Order {
    /// Asks what the program's check wants; no run is made.
    pub fn survey() -> Order {
        Order {
            first: 0,
            last: 0,
            profile: Profile::default(),
            stacks: Default::default(),
            places: Vec::new(),
            traced: Learns::Nothing,
            told: None,
            version: 0,
        }
    }

    /// Whether it is [`Order::survey`].
    pub fn is_survey(&self) -> bool {
        self.first == 0
    }
}

/// What a check in the program asks for.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Wishes {
    /// Its name.
    pub name: Option<String>,
    /// The policy with its parameters.
    pub policy: Option<String>,
    /// Runs.
    pub runs: Option<u64>,
    /// The seed.
    pub seed: Option<u64>,
    /// When a run is cut.
    pub max_steps: Option<u64>,
}

/// Runs of a check that passed. There may be hundreds of thousands of them in a second, so they are sent
/// as bytes, not as JSON.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct Batch {
    /// The first run.
    pub first: u64,
    /// Bytes that follow the message.
    pub bytes: usize,
    /// The summaries.
    #[serde(skip)]
    pub payload: Vec<u8>,
}

impl Batch {
    /// These runs.
    pub fn new(first: u64, summaries: &[Summary]) -> Batch {
        // SAFETY: a summary is plain numbers without padding.
        let payload = unsafe {
            std::slice::from_raw_parts(summaries.as_ptr().cast::<u8>(), std::mem::size_of_val(summaries)).to_vec()
        };
        Batch { first, bytes: payload.len(), payload }
    }

    /// How many.
    pub fn count(&self) -> u64 {
        (self.payload.len() / size_of::<Summary>()) as u64
    }

    /// As reports.
    pub fn reports(&self) -> impl Iterator<Item = RunReport> + '_ {
        let summaries = self.payload.chunks_exact(size_of::<Summary>()).map(|bytes| {
            // SAFETY: as many bytes as a summary has, which is plain numbers.
            unsafe { bytes.as_ptr().cast::<Summary>().read_unaligned() }
        });
        summaries.zip(self.first..).map(|(summary, run)| RunReport {
            run,
            verdict: if summary.cut != 0 { Verdict::Cut } else { Verdict::Passed },
            counts: Counts::from(&summary),
            escapes: summary.escapes,
            output_cut: false,
            stacks: Default::default(),
            racing: Vec::new(),
            observed: None,
            log: None,
            log_too_long: false,
        })
    }
}

/// What a job has to say.
#[derive(Debug, Serialize, Deserialize)]
pub enum Reply {
    /// These runs are over; they come in the order of their numbers.
    Runs(Vec<RunReport>),
    /// These runs of a check passed.
    Batch(Batch),
    /// What the check asks for; `None`: the program ended without reaching it.
    Reached(Option<Wishes>),
    /// The order is done.
    Idle,
    /// The search is over; what is left of the order is not made.
    Exhausted(ExploredOnTheWire),
    /// There is no fork server, and why.
    Fallback(String),
    /// Threads are switched as OS threads, and why.
    OsThreads(String),
    /// The target cannot be run.
    Failed(TargetError),
}

/// How it is written what a search has explored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExploredOnTheWire {
    schedules: u64,
    redundant: u64,
    bound: u32,
    gaps: u32,
    reduced: bool,
    fair: bool,
}

impl From<Explored> for ExploredOnTheWire {
    fn from(Explored { schedules, redundant, bound, gaps, reduced, fair }: Explored) -> ExploredOnTheWire {
        ExploredOnTheWire { schedules, redundant, bound, gaps, reduced, fair }
    }
}

impl From<ExploredOnTheWire> for Explored {
    fn from(it: ExploredOnTheWire) -> Explored {
        let ExploredOnTheWire { schedules, redundant, bound, gaps, reduced, fair } = it;
        Explored { schedules, redundant, bound, gaps, reduced, fair }
    }
}

/// How it is written what is learned.
#[derive(Serialize, Deserialize)]
#[serde(remote = "Learns")]
enum LearnsOnTheWire {
    Nothing,
    Steps,
    Lengths,
    Objects,
    Orders,
}

/// How a profile is written.
#[derive(Serialize, Deserialize)]
#[serde(remote = "Profile")]
pub struct ProfileOnTheWire {
    steps: u64,
    threads: u64,
    points: u64,
    phase: u64,
    first: u64,
}

/// One end of the connection between the main process and a job.
#[derive(Debug)]
pub struct Channel {
    stream: UnixStream,
}

impl Channel {
    /// Both ends.
    pub fn pair() -> io::Result<(Channel, Channel)> {
        let (one, other) = UnixStream::pair()?;
        Ok((Channel { stream: one }, Channel { stream: other }))
    }

    /// Sends a message.
    pub fn send(&mut self, message: &impl Serialize) -> io::Result<()> {
        let body = serde_json::to_vec(message)?;
        let mut frame = (body.len() as u64).to_le_bytes().to_vec();
        frame.extend_from_slice(&body);
        self.stream.write_all(&frame)
    }

    /// Sends runs of a check.
    pub fn send_batch(&mut self, mut batch: Batch) -> io::Result<()> {
        let payload = std::mem::take(&mut batch.payload);
        self.send(&Reply::Batch(batch))?;
        self.stream.write_all(&payload)
    }

    /// Waits for what a job has to say; `None` when the other end is closed.
    pub fn hear(&mut self) -> io::Result<Option<Reply>> {
        let mut reply = self.receive()?;
        if let Some(Reply::Batch(batch)) = &mut reply {
            let length = batch.bytes as u64;
            (&self.stream).take(length).read_to_end(&mut batch.payload)?;
            if (batch.payload.len() as u64) < length {
                return Ok(None);
            }
        }
        Ok(reply)
    }

    /// Waits for a message; `None` when the other end is closed.
    pub fn receive<T: DeserializeOwned>(&mut self) -> io::Result<Option<T>> {
        let mut length = [0; 8];
        if let Err(error) = self.stream.read_exact(&mut length) {
            return match error.kind() {
                io::ErrorKind::UnexpectedEof | io::ErrorKind::ConnectionReset => Ok(None),
                _ => Err(error),
            };
        }
        let mut body = Vec::new();
        let length = u64::from_le_bytes(length);
        (&self.stream).take(length).read_to_end(&mut body)?;
        if (body.len() as u64) < length {
            return Ok(None);
        }
        Ok(Some(serde_json::from_slice(&body)?))
    }

    /// Waits until there is something to read, or a signal comes; says which.
    pub fn readable(&self) -> bool {
        let mut poll = libc::pollfd { fd: self.descriptor(), events: libc::POLLIN, revents: 0 };
        // SAFETY: one descriptor, as passed.
        unsafe { libc::poll(&mut poll, 1, -1) > 0 }
    }

    /// For poll.
    pub fn descriptor(&self) -> RawFd {
        self.stream.as_raw_fd()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_arrive_and_the_end_is_noticed() {
        let (mut here, mut there) = Channel::pair().expect("a pair");
        let profile = Profile { steps: 3, threads: 2, points: 5, phase: 1, first: 2 };
        let order = Order { first: 1, last: 9, profile, traced: Learns::Objects, ..Order::survey() };
        here.send(&order).expect("sent");
        assert_eq!(there.receive().expect("received"), Some(order));
        drop(here);
        assert_eq!(there.receive::<Order>().expect("noticed"), None);
    }
}
