//! What the main process and its jobs say to each other: frames of a length and JSON.

use std::io::{self, Read, Write};
use std::os::fd::{AsRawFd, RawFd};
use std::os::unix::net::UnixStream;

use raddle_core::block::{Stacks, STACKS};
use raddle_core::policy::Profile;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::run_report::RunReport;
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

/// What a job has to say.
#[derive(Debug, Serialize, Deserialize)]
pub enum Reply {
    /// These runs are over; they come in the order of their numbers.
    Runs(Vec<RunReport>),
    /// The order is done.
    Idle,
    /// There is no fork server, and why.
    Fallback(String),
    /// Threads are switched as OS threads, and why.
    OsThreads(String),
    /// The target cannot be run.
    Failed(TargetError),
}

/// How a profile is written.
#[derive(Serialize, Deserialize)]
#[serde(remote = "Profile")]
pub struct ProfileOnTheWire {
    steps: u64,
    threads: u64,
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
        let order = Order { first: 1, last: 9, profile: Profile { steps: 3, threads: 2 }, stacks: Default::default() };
        here.send(&order).expect("sent");
        assert_eq!(there.receive().expect("received"), Some(order));
        drop(here);
        assert_eq!(there.receive::<Order>().expect("noticed"), None);
    }
}
