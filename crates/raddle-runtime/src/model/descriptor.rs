//! Descriptors: which of them only this process can feed, and how a long transfer is cut up.

use core::ffi::c_int;
use raddle_core::event::DESCRIPTORS;

use libc::{iovec, pollfd};

/// Descriptors below this number are told apart; others may always be fed from outside.
const MOST: usize = 4096;
/// The kernel transfers no more in one call.
const LARGEST_TRANSFER: usize = 0x7fff_f000;

/// The object of events on a descriptor: no address lies there.
pub fn key(fd: c_int) -> usize {
    DESCRIPTORS + fd as u32 as usize
}

/// Descriptors that only this process can feed: pipes, socket pairs and event counters that it has
/// made itself. Waiting for one while no thread can run is a deadlock. Valid when zeroed.
pub struct ClosedDescriptors {
    bits: [u64; MOST / 64],
}

impl ClosedDescriptors {
    /// Whether only this process can feed the descriptor.
    pub fn contains(&self, fd: c_int) -> bool {
        place(fd).is_some_and(|(word, bit)| self.bits[word] & bit != 0)
    }

    /// Notes whether only this process can feed the descriptor.
    pub fn set(&mut self, fd: c_int, closed: bool) {
        if let Some((word, bit)) = place(fd) {
            if closed {
                self.bits[word] |= bit;
            } else {
                self.bits[word] &= !bit;
            }
        }
    }

    /// A descriptor now means what another one means.
    pub fn copy(&mut self, from: c_int, to: c_int) {
        self.set(to, self.contains(from));
    }

    /// The descriptors from `first` to `last` are gone.
    pub fn forget(&mut self, first: u32, last: u32) {
        for fd in first..=last.min(MOST as u32 - 1) {
            self.set(fd as c_int, false);
        }
    }
}

fn place(fd: c_int) -> Option<(usize, u64)> {
    let fd = usize::try_from(fd).ok()?;
    (fd < MOST).then(|| (fd / 64, 1 << (fd % 64)))
}

/// How many bytes the buffers hold, as far as one call transfers them.
pub fn length(buffers: &[iovec]) -> usize {
    buffers.iter().fold(0, |sum: usize, b| sum.saturating_add(b.iov_len)).min(LARGEST_TRANSFER)
}

/// What is left of a transfer that takes several calls.
pub struct Pieces<'a> {
    buffers: &'a [iovec],
    /// What has been transferred of the first buffer.
    offset: usize,
    /// What has been transferred in all.
    pub done: usize,
    total: usize,
}

/// Buffers of one call.
pub const MOST_BUFFERS: usize = 16;

impl<'a> Pieces<'a> {
    /// Nothing has been transferred yet.
    pub fn new(buffers: &'a [iovec]) -> Pieces<'a> {
        Pieces { buffers, offset: 0, done: 0, total: length(buffers) }
    }

    /// How many bytes are left.
    pub fn left(&self) -> usize {
        self.total - self.done
    }

    /// The buffers of the next call, of at most `limit` bytes; returns how many there are.
    pub fn next(&self, limit: usize, into: &mut [iovec; MOST_BUFFERS]) -> usize {
        let mut room = limit.min(self.left());
        let mut skip = self.offset;
        let mut count = 0;
        for buffer in self.buffers {
            if room == 0 || count == MOST_BUFFERS {
                break;
            }
            let take = (buffer.iov_len - skip).min(room);
            if take > 0 {
                into[count] = iovec { iov_base: buffer.iov_base.wrapping_byte_add(skip), iov_len: take };
                count += 1;
                room -= take;
            }
            skip = 0;
        }
        count
    }

    /// `bytes` bytes have been transferred.
    pub fn advance(&mut self, bytes: usize) {
        let bytes = bytes.min(self.left());
        self.done += bytes;
        self.offset += bytes;
        while let [first, rest @ ..] = self.buffers {
            if self.offset < first.iov_len {
                break;
            }
            self.offset -= first.iov_len;
            self.buffers = rest;
        }
    }
}

/// The most descriptors that select knows.
pub const MOST_IN_SET: usize = 4096;
/// Words of a set.
pub const WORDS: usize = MOST_IN_SET / 64;
/// One set of a select: a bit per descriptor.
pub type Bits = [u64; WORDS];

/// The sets of a select (reading, writing, exceptions) below `highest` as poll(2) has them. Returns how
/// many there are; `None` when there is no room for all.
pub fn entries_of(sets: &[Bits; 3], highest: usize, into: &mut [pollfd]) -> Option<usize> {
    let mut count = 0;
    for fd in 0..highest.min(MOST_IN_SET) {
        let wanted = |set: &Bits| set[fd / 64] >> (fd % 64) & 1 != 0;
        let pairs = sets.iter().zip([libc::POLLIN, libc::POLLOUT, libc::POLLPRI]);
        let events = pairs.filter(|(set, _)| wanted(set)).fold(0, |events, (_, event)| events | event);
        if events != 0 {
            *into.get_mut(count)? = pollfd { fd: fd as c_int, events, revents: 0 };
            count += 1;
        }
    }
    Some(count)
}

#[cfg(test)]
mod tests {
    use super::*;
    use core::ffi::c_void;
    use raddle_core::Rng;

    fn empty() -> ClosedDescriptors {
        ClosedDescriptors { bits: [0; MOST / 64] }
    }

    #[test]
    fn bits_follow_the_descriptors() {
        let mut closed = empty();
        closed.set(5, true);
        closed.set(64, true);
        assert!(closed.contains(5) && closed.contains(64) && !closed.contains(6));
        closed.copy(5, 100);
        closed.copy(6, 64);
        assert!(closed.contains(100) && !closed.contains(64));
        closed.forget(6, u32::MAX);
        assert!(closed.contains(5) && !closed.contains(100));
    }

    #[test]
    fn numbers_out_of_range_are_never_closed() {
        let mut closed = empty();
        for fd in [-1, c_int::MIN, MOST as c_int, c_int::MAX] {
            closed.set(fd, true);
            assert!(!closed.contains(fd));
            closed.copy(3, fd);
        }
        closed.forget(MOST as u32 + 7, u32::MAX);
        closed.forget(9, 3);
    }

    #[test]
    fn keys_differ() {
        assert_ne!(key(-1), key(0));
        assert!(key(0) > 0xffff);
    }

    #[test]
    fn pieces_put_together_are_the_whole() {
        let mut rng = Rng::new(3);
        for _ in 0..2000 {
            let mut address = 0x1000;
            let buffers: Vec<iovec> = (0..rng.below(24))
                .map(|_| {
                    let buffer = iovec { iov_base: address as *mut c_void, iov_len: rng.below(50) as usize };
                    address += buffer.iov_len;
                    buffer
                })
                .collect();
            let mut pieces = Pieces::new(&buffers);
            let mut at = 0x1000;
            while pieces.left() > 0 {
                let mut now = [iovec { iov_base: core::ptr::null_mut(), iov_len: 0 }; MOST_BUFFERS];
                let limit = 1 + rng.below(60) as usize;
                let count = pieces.next(limit, &mut now);
                assert!(count > 0 && length(&now[..count]) <= limit);
                let taken = 1 + rng.below(length(&now[..count]) as u64) as usize;
                // The buffers lie side by side, so each starts where the last one ends.
                let mut expected = at;
                for buffer in &now[..count] {
                    assert_eq!(buffer.iov_base as usize, expected);
                    expected += buffer.iov_len;
                }
                pieces.advance(taken);
                at += taken;
            }
            assert_eq!((at, pieces.done), (address, length(&buffers)));
        }
    }

    #[test]
    fn sets_become_entries() {
        let mut sets = [[0; WORDS]; 3];
        sets[0][0] = 1 << 3;
        sets[1][0] = 1 << 3;
        sets[2][1] = 1 << 1;
        let mut entries = [pollfd { fd: -1, events: 0, revents: 0 }; 2];
        assert_eq!(entries_of(&sets, 66, &mut entries), Some(2));
        assert_eq!((entries[0].fd, entries[0].events), (3, libc::POLLIN | libc::POLLOUT));
        assert_eq!((entries[1].fd, entries[1].events), (65, libc::POLLPRI));
        assert_eq!(entries_of(&sets, 65, &mut entries), Some(1));
        assert_eq!(entries_of(&sets, 66, &mut entries[..1]), None);
        assert_eq!(entries_of(&sets, 0, &mut []), Some(0));
    }

    #[test]
    fn no_more_than_the_kernel_takes() {
        let huge = [iovec { iov_base: core::ptr::null_mut(), iov_len: usize::MAX }; 2];
        assert_eq!(length(&huge), LARGEST_TRANSFER);
    }
}
