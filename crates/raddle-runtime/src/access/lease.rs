//! Leases: how a hook at which nothing is decided costs next to nothing.
//!
//! At a point the policy may know that it will choose the same thread for the next N points, whatever accesses they
//! are before; or only one thread can run at all. Then the thread gets a lease for N accesses, and each of them only
//! counts itself, and enters its decision into the log as the scheduler would. Anything else that enters the runtime
//! ends the lease first. So a lease changes nothing but time: the run is the same as without it.

use raddle_core::{Decision, EventKind, ThreadId};

use crate::os::sys;
use crate::scheduler::Scheduler;

/// The accesses that a thread may make without asking. Valid when zeroed: there are none.
#[repr(C)]
pub struct Lease {
    /// The thread pointer of its thread; 0 when there is no lease.
    pointer: usize,
    left: u64,
    granted: u64,
    /// Whether the accesses are counted as steps.
    counted: bool,
    /// The thread's decision, except for the kind.
    decision: u32,
    hash: u64,
    log: *mut u32,
}

/// Reads in a row that are checked for a spin loop. Between two such stretches others pass unchecked,
/// and more and more of them as long as the thread does nothing but go on.
const SAMPLED: u32 = 16;
const FIRST_SKIP: u32 = 32;
const LONGEST_SKIP: u32 = 1024;

/// Chooses the accesses that are checked for spin loops. It depends on the accesses alone and not on leases. Valid
/// when zeroed.
#[repr(C)]
pub struct SpinSampler {
    left: u32,
    skip_length: u32,
    skipping: bool,
}

/// Whether an access is checked for a spin loop.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Sample {
    /// It is, like the one before.
    Continue,
    /// It is, after others that were not: what was known of loops is out of date.
    Restart,
    /// It is not.
    Skip,
}

impl SpinSampler {
    /// The thread has changed, or has done something else.
    #[inline]
    pub fn reset(&mut self) {
        *self = SpinSampler { left: SAMPLED, skip_length: FIRST_SKIP, skipping: false };
    }

    /// An access: is it checked?
    #[inline]
    pub fn sample(&mut self) -> Sample {
        let turned = self.left == 0 && self.turn();
        self.left -= 1;
        match (self.skipping, turned) {
            (true, _) => Sample::Skip,
            (false, true) => Sample::Restart,
            (false, false) => Sample::Continue,
        }
    }

    /// Starts the other kind of stretch; always true.
    #[cold]
    fn turn(&mut self) -> bool {
        if self.skip_length == 0 {
            self.reset();
            return true;
        }
        self.skipping = !self.skipping;
        if self.skipping {
            self.left = self.skip_length;
            self.skip_length = (2 * self.skip_length).min(LONGEST_SKIP);
        } else {
            self.left = SAMPLED;
        }
        true
    }

    /// The thread is in a loop: its next reads are checked.
    #[inline]
    pub fn keep_sampling(&mut self) {
        self.left = SAMPLED;
    }

    /// How many of the next accesses are skipped.
    fn skippable(&self) -> u64 {
        if self.skipping {
            self.left.into()
        } else {
            0
        }
    }
}

impl Lease {
    /// Makes an access on the lease. Returns whether there is one.
    ///
    /// # Safety
    /// Nothing of the scheduler's is borrowed.
    #[inline(always)]
    pub unsafe fn spend(s: &mut Scheduler, kind: EventKind) -> bool {
        let lease = &mut s.lease;
        if lease.pointer != sys::thread_pointer() {
            return false;
        }
        if lease.counted {
            let decision = lease.decision | (kind as u32) << 16;
            lease.hash = Scheduler::hash(lease.hash, decision);
            // SAFETY: the lease is not longer than the room in the log.
            unsafe {
                lease.log.write(decision);
                lease.log = lease.log.add(1);
            }
        }
        lease.left -= 1;
        if lease.left == 0 {
            lease.pointer = 0;
        }
        true
    }

    /// Whether there is a lease, or one that is used up but not yet accounted for.
    #[inline(always)]
    pub fn is_on(&self) -> bool {
        self.granted != 0
    }

    /// Ends the lease, if there is one, and accounts for its accesses.
    #[cold]
    #[inline(never)]
    pub fn end(s: &mut Scheduler) {
        let used = s.lease.granted - s.lease.left;
        s.spin_sampler.left += s.lease.left as u32;
        (s.lease.pointer, s.lease.granted, s.lease.left) = (0, 0, 0);
        if used > 0 {
            s.account_lease(used, s.lease.counted.then_some(s.lease.hash));
        }
    }

    /// Gives thread `me`, which has just passed a point, a lease if that is possible.
    #[inline]
    pub fn grant(s: &mut Scheduler, me: ThreadId) {
        let free = s.spin_sampler.skippable();
        if free < 4 || cfg!(feature = "verify") {
            return;
        }
        let Some((allowed, counted)) = s.leasable_accesses(me) else { return };
        let granted = allowed.min(free);
        if granted < 4 {
            return;
        }
        s.spin_sampler.left -= granted as u32;
        let hash = s.results().hash;
        let log = s.log_end();
        s.lease = Lease {
            pointer: sys::thread_pointer(),
            left: granted,
            granted,
            counted,
            decision: Decision::new(me, EventKind::default()).0,
            hash,
            log,
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn looks_away_ever_longer_and_starts_again() {
        let mut spin_sampler = SpinSampler { left: 0, skip_length: 0, skipping: false };
        let mut stretches = Vec::new();
        for _ in 0..200 {
            let looked = spin_sampler.sample() != Sample::Skip;
            match stretches.last_mut() {
                Some((last, length)) if *last == looked => *length += 1,
                _ => stretches.push((looked, 1)),
            }
        }
        assert_eq!(stretches[..4], [(true, 16), (false, 32), (true, 16), (false, 64)]);
        spin_sampler.reset();
        assert!((0..16).all(|_| spin_sampler.sample() == Sample::Continue));
        assert_eq!(spin_sampler.sample(), Sample::Skip);
    }

    #[test]
    fn a_loop_is_not_left_out_of_sight() {
        let mut spin_sampler = SpinSampler { left: 0, skip_length: 0, skipping: false };
        for _ in 0..1000 {
            assert_ne!(spin_sampler.sample(), Sample::Skip);
            spin_sampler.keep_sampling();
        }
    }
}
