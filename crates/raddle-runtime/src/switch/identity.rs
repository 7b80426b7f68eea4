//! Pooled identities: pthreads that were created before they were needed, or that have ended and
//! can be borrowed again.
//!
//! An identity is only memory, so one that was made before a fork can be used in the child, without
//! a clone. In one process an identity whose thread returned from its start routine is wound back
//! to where it was born: libc's own frame above stays as it is, and thread-local storage is put
//! back to its initial image.

use raddle_core::MAX_THREADS;
use raddle_protocol::Stacks;

use super::fiber::{self, CONTEXT_WORDS};
use crate::control::POLICY_ADDRESS;
use crate::os::sys;
use crate::switch::thread_storage;

/// A pthread without an OS thread.
struct Identity {
    /// The thread pointer, which is also the pthread_t.
    fs: usize,
    /// Where its registers are saved, and what they were.
    context: usize,
    words: [usize; CONTEXT_WORDS],
    stacks: Stacks,
    state: State,
    /// It has run before.
    stale: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Free,
    Taken,
    /// Given back to libc, or not to be used again.
    Gone,
}

/// All identities. Valid when zeroed.
#[repr(C)]
struct Pool {
    /// The first one comes last, so that a run with few threads touches the end only, where the policy's
    /// memory follows.
    identities: [Identity; MAX_THREADS],
    count: usize,
    /// Identities that ended may be borrowed again.
    reuse: bool,
    /// No identity below this one is free.
    first_free: usize,
}

impl Pool {
    fn identity(&mut self, at: usize) -> &mut Identity {
        &mut self.identities[MAX_THREADS - 1 - at]
    }

    /// The first identity from `start` on that fits.
    fn position(&mut self, start: usize, wanted: impl Fn(&Identity) -> bool) -> Option<usize> {
        (start..self.count).find(|&at| wanted(self.identity(at)))
    }
}

/// The pool.
///
/// # Safety
/// The caller holds the baton, or there is one thread.
unsafe fn pool() -> &'static mut Pool {
    // SAFETY: mapped in `control::reserve`; valid when zeroed; one user at a time.
    unsafe { &mut *((POLICY_ADDRESS - SIZE) as *mut Pool) }
}

/// Bytes of the pool.
pub const SIZE: usize = size_of::<Pool>();

/// Bytes at its end that a run with `threads` threads touches.
pub const fn small(threads: usize) -> usize {
    size_of::<Pool>() - (MAX_THREADS - threads) * size_of::<Identity>()
}

/// An identity that was taken from the pool.
pub struct TakenIdentity {
    /// Its place in the pool, plus one.
    pub place: u32,
    /// The thread pointer, which is also the pthread_t.
    pub fs: usize,
    /// Where its registers are saved.
    pub context: usize,
}

/// Identities that end may be borrowed again from now on.
///
/// # Safety
/// The caller holds the baton.
pub unsafe fn allow_reuse() {
    // SAFETY: the caller's promise.
    unsafe { pool().reuse = true };
}

/// Whether identities that end are borrowed again.
///
/// # Safety
/// The caller holds the baton.
pub unsafe fn reuses() -> bool {
    // SAFETY: the caller's promise.
    unsafe { pool().reuse }
}

/// A free identity with such a stack.
///
/// # Safety
/// The caller holds the baton.
#[link_section = "raddle_run"]
pub unsafe fn take(stacks: Stacks) -> Option<TakenIdentity> {
    // SAFETY: the caller's promise; a free identity's stack is not in use.
    unsafe {
        let pool = pool();
        let fits = |i: &Identity| i.state == State::Free && i.stacks == stacks;
        let free = pool.position(pool.first_free, |i| i.state == State::Free);
        pool.first_free = free.unwrap_or(pool.count);
        let at = pool.position(pool.first_free, fits)?;
        let identity = pool.identity(at);
        identity.state = State::Taken;
        #[cfg(feature = "verify")]
        crate::verify::taken(at);
        if identity.stale {
            (identity.context as *mut [usize; CONTEXT_WORDS]).write(identity.words);
            thread_storage::reset(identity.fs);
        }
        identity.stale = true;
        // A new thread has its creator's rounding modes.
        (identity.context as *mut u64).write(sys::rounding_modes());
        Some(TakenIdentity { place: at as u32 + 1, fs: identity.fs, context: identity.context })
    }
}

/// Adds a new identity, taken at once; `None` when the pool is full.
///
/// # Safety
/// The caller holds the baton; the context is a fresh one.
pub unsafe fn adopt(stacks: Stacks, fs: usize, context: usize) -> Option<TakenIdentity> {
    // SAFETY: the caller's promise.
    unsafe {
        let pool = pool();
        let words = *(context as *const [usize; CONTEXT_WORDS]);
        let gone = pool.position(0, |i| i.state == State::Gone);
        let at = gone.unwrap_or(pool.count);
        if at == pool.identities.len() {
            return None;
        }
        #[cfg(feature = "verify")]
        crate::verify::taken(at);
        pool.count = pool.count.max(at + 1);
        *pool.identity(at) = Identity { fs, context, words, stacks, state: State::Taken, stale: true };
        Some(TakenIdentity { place: at as u32 + 1, fs, context })
    }
}

/// The thread that had this identity has ended, and no thread will ask for it again.
///
/// # Safety
/// The caller holds the baton.
#[link_section = "raddle_run"]
pub unsafe fn release(place: u32) {
    // SAFETY: the caller's promise.
    unsafe {
        let pool = pool();
        let at = place as usize - 1;
        if pool.reuse {
            #[cfg(feature = "verify")]
            crate::verify::given_back(at);
            pool.identity(at).state = State::Free;
            pool.first_free = pool.first_free.min(at);
        }
    }
}

/// The identity leaves the pool: libc takes it back.
///
/// # Safety
/// The caller holds the baton.
pub unsafe fn retire(place: u32) {
    #[cfg(feature = "verify")]
    crate::verify::given_back(place as usize - 1);
    // SAFETY: the caller's promise.
    unsafe { pool().identity(place as usize - 1).state = State::Gone };
}

/// Makes sure that there are identities with such stacks, before the run starts.
///
/// # Safety
/// There is one thread, and the run has not started.
pub unsafe fn provide(wanted: &[Stacks], create: &mut dyn FnMut(Stacks, usize) -> Option<usize>) {
    // SAFETY: the caller's promise.
    unsafe {
        for &stacks in wanted {
            let have = (0..pool().count).filter(|&at| same(pool().identity(at).stacks, stacks)).count();
            for _ in have..stacks.count as usize {
                let mut fs = None;
                let made = fiber::make(|routine| match create(stacks, routine) {
                    Some(handle) => {
                        fs = Some(handle);
                        0
                    }
                    None => libc::EAGAIN,
                });
                let (Ok(context), Some(fs)) = (made, fs) else { return };
                let Some(taken) = adopt(stacks.one(), fs, context) else { return };
                let identity = pool().identity(taken.place as usize - 1);
                #[cfg(feature = "verify")]
                crate::verify::given_back(taken.place as usize - 1);
                identity.state = State::Free;
                identity.stale = false;
            }
        }
    }
}

fn same(a: Stacks, b: Stacks) -> bool {
    a.one() == b.one()
}
