//! What earlier runs showed of threads and objects, for the policies of later runs.
//!
//! A thread is known from run to run by the path of its creation, not by its id: the second thread that the third
//! thread of main creates is the same thread in every run, whatever other threads were created in between. An object is
//! known by a name that the runtime gives it: where it lies in a loaded file, on the heap or on a thread's stack, or
//! which thread was the first to touch it. A name is a function of the schedule, not of addresses, so that the same
//! seed gives the same runs however threads are switched.
//!
//! Runs are made in rounds that end at fixed numbers (`raddle_engine::plan::rounds`). Lessons come from completed
//! rounds only, so they do not depend on how many runs go on at once.

use crate::event::EventKind;
use crate::rng::splitmix64;
use crate::thread::{ThreadId, MAX_THREADS};

/// The most threads.
pub const THREADS: usize = MAX_THREADS;
/// The most uses of objects.
pub const OBJECT_USES: usize = 4096;
/// The most pairs of operations.
pub const PAIRS: usize = 1024;
/// The most policies in a portfolio.
pub const SHARES: usize = 24;

/// The path of the main thread.
pub const MAIN_PATH: u64 = 1;

/// The path of the `number`-th thread, counted from 0, that the thread of this path creates.
pub fn path_of_child(parent: u64, number: u32) -> u64 {
    // Mixed twice: the first child of a second child is not the second child of a first one.
    splitmix64(&mut (splitmix64(&mut parent.clone()) ^ u64::from(number)))
}

/// What is known of one thread.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[repr(C)]
pub struct ThreadLesson {
    pub path: u64,
    /// Where the thread that created it stands in [`Lessons::threads`], before this one; main has itself.
    pub parent: u32,
    /// The most steps that it took in one run.
    pub steps: u32,
}

/// How often a thread touches an object.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[repr(C)]
pub struct ObjectUse {
    pub object: u64,
    /// Where the thread stands in [`Lessons::threads`].
    pub thread: u32,
    /// The most steps of the thread on the object in one run.
    pub events: u32,
}

/// Operations of one kind that one thread performs on one object.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Hash, PartialOrd, Ord)]
#[repr(C)]
pub struct OperationClass {
    /// The thread's path.
    pub path: u64,
    pub object: u64,
    /// The kind: see [`EventKind`].
    pub kind: u64,
}

impl OperationClass {
    /// Operations of this kind on this object by the thread of this path.
    pub fn new(path: u64, kind: EventKind, object: usize) -> OperationClass {
        OperationClass { path, object: object as u64, kind: kind as u64 }
    }
}

/// Two operations in an order.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Hash, PartialOrd, Ord)]
#[repr(C)]
pub struct OperationPair {
    /// The operation that is to come first.
    pub first: OperationClass,
    /// The operation that is to follow at once, as far as their object is concerned.
    pub second: OperationClass,
}

/// All lessons, as they lie in shared memory. Valid when zeroed: nothing is known.
#[repr(C)]
pub struct Lessons {
    threads_known: u32,
    object_uses_known: u32,
    untested_pairs_known: u32,
    /// What part of its share each policy of a portfolio is worth, in hundredths; all 0: nothing is known.
    pub shares: [u32; SHARES],
    threads: [ThreadLesson; THREADS],
    object_uses: [ObjectUse; OBJECT_USES],
    untested_pairs: [OperationPair; PAIRS],
}

fn put<T: Copy>(place: &mut [T], known: &mut u32, lessons: &[T]) {
    let fits = lessons.len().min(place.len());
    place[..fits].copy_from_slice(&lessons[..fits]);
    *known = fits as u32;
}

impl Lessons {
    /// The threads, each after the one that creates it; main is the first.
    pub fn threads(&self) -> &[ThreadLesson] {
        &self.threads[..(self.threads_known as usize).min(THREADS)]
    }

    /// The shared objects: all threads of an object stand together.
    pub fn object_uses(&self) -> &[ObjectUse] {
        &self.object_uses[..(self.object_uses_known as usize).min(OBJECT_USES)]
    }

    /// Pairs in an order that no run has shown.
    pub fn untested_pairs(&self) -> &[OperationPair] {
        &self.untested_pairs[..(self.untested_pairs_known as usize).min(PAIRS)]
    }

    /// Sets the threads; of too many, the first.
    pub fn set_threads(&mut self, threads: &[ThreadLesson]) {
        put(&mut self.threads, &mut self.threads_known, threads);
    }

    /// Sets the shared objects; of too many, the first.
    pub fn set_object_uses(&mut self, uses: &[ObjectUse]) {
        put(&mut self.object_uses, &mut self.object_uses_known, uses);
    }

    /// Sets the pairs; of too many, the first.
    pub fn set_untested_pairs(&mut self, pairs: &[OperationPair]) {
        put(&mut self.untested_pairs, &mut self.untested_pairs_known, pairs);
    }

    /// Nothing is known.
    pub fn none() -> &'static Lessons {
        struct Nothing(Lessons);
        // SAFETY: valid when zeroed, and never written to.
        static NOTHING: Nothing = unsafe { core::mem::zeroed() };
        &NOTHING.0
    }
}

/// The paths of the threads of a run, kept up to date by their creations. Valid when zeroed.
#[repr(C)]
pub struct ThreadPaths {
    known: usize,
    path: [u64; MAX_THREADS],
    children: [u32; MAX_THREADS],
}

impl ThreadPaths {
    /// A run starts.
    pub fn start(&mut self) {
        self.path[..self.known].fill(0);
        self.children[..self.known].fill(0);
        self.path[0] = MAIN_PATH;
        self.known = 1;
    }

    /// A thread has been created.
    pub fn created(&mut self, parent: ThreadId, child: ThreadId) {
        let (parent, child) = (parent.index(), child.index());
        self.path[child] = path_of_child(self.path[parent], self.children[parent]);
        self.children[parent] += 1;
        // The slot of a thread that is gone may be used again.
        self.children[child] = 0;
        self.known = self.known.max(child + 1);
    }

    /// The path of a thread.
    pub fn of(&self, t: ThreadId) -> u64 {
        self.path[t.index()]
    }
}

/// The threads of a run and what is known of them. Valid when zeroed.
#[repr(C)]
pub struct KnownThreads {
    paths: ThreadPaths,
    lessons: Option<&'static Lessons>,
}

impl KnownThreads {
    /// A run starts.
    pub fn start(&mut self, lessons: &Lessons) {
        self.paths.start();
        // SAFETY: lessons live in the shared block or, in tests, longer than the run, and do not move during it;
        // they are not used after it, because `start` comes before anything else of the next one.
        self.lessons = Some(unsafe { &*core::ptr::from_ref(lessons) });
    }

    /// A thread has been created.
    pub fn created(&mut self, parent: ThreadId, child: ThreadId) {
        self.paths.created(parent, child);
    }

    /// What is known of a thread, and where that stands in [`Lessons::threads`].
    pub fn lesson(&self, t: ThreadId) -> Option<(usize, &ThreadLesson)> {
        let path = self.paths.of(t);
        self.lessons?.threads().iter().enumerate().find(|(_, thread)| thread.path == path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_does_not_depend_on_who_else_was_created() {
        // SAFETY: documented as valid when zeroed.
        let (mut one, mut other): (Box<ThreadPaths>, Box<ThreadPaths>) =
            unsafe { (Box::new(core::mem::zeroed()), Box::new(core::mem::zeroed())) };
        let t = ThreadId;
        one.start();
        [(0, 1), (0, 2), (1, 3), (2, 4)].into_iter().for_each(|(parent, child)| one.created(t(parent), t(child)));
        other.start();
        [(0, 1), (1, 2), (0, 3), (3, 4)].into_iter().for_each(|(parent, child)| other.created(t(parent), t(child)));
        let pairs = [(1, 1), (2, 3), (3, 2), (4, 4)];
        assert!(pairs.iter().all(|&(a, b)| one.of(t(a)) == other.of(t(b))));
        let mut all: Vec<_> = (0..5).map(|i| one.of(t(i))).collect();
        all.sort();
        all.dedup();
        assert_eq!(all.len(), 5, "threads are told apart");
    }

    #[test]
    fn what_does_not_fit_is_left_out() {
        // SAFETY: documented as valid when zeroed.
        let mut lessons: Box<Lessons> = unsafe { Box::new(core::mem::zeroed()) };
        assert!(Lessons::none().threads().is_empty() && lessons.object_uses().is_empty());
        let many: Vec<_> =
            (0..OBJECT_USES as u64 + 9).map(|object| ObjectUse { object, thread: 0, events: 1 }).collect();
        lessons.set_object_uses(&many);
        assert_eq!(lessons.object_uses(), &many[..OBJECT_USES]);
        lessons.set_object_uses(&many[..2]);
        assert_eq!(lessons.object_uses(), &many[..2]);
    }
}
