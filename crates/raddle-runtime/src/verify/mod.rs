//! Self-checks, in builds with the feature `verify`: the runtime's books are compared with each other after every
//! decision, and a contradiction ends the run as an internal error that says what is wrong.
//!
//! Most of what the scheduler knows is kept twice, for speed: which threads are enabled follows from what the model
//! says, which stand in a queue from what they wait for, which have a deadline from their records. A point that
//! forgets to tell the scheduler of a change makes the two differ, and shows up much later, as a false deadlock or as
//! a schedule that was never tried. Here the second copy is computed again:
//!
//! - threads: the enabled set, the living, the current one, what is polled, which thread joins which;
//! - queues: chains of waiters are sound, and every thread stands where its wait says;
//! - deadlines: the heap is a heap, and every thread that waits until a time is in it;
//! - the table of thread pointers, and the objects that threads wait for;
//! - fibers: saved registers lie on the thread's own stack and lead back into the runtime, no two stacks overlap, no
//!   pooled identity is two threads at once;
//! - memory: a pattern at the low end of every stack, the runtime's own alternate stacks included, is still there. A
//!   thread that writes below its stack, or is given a stack that libc has taken back, breaks it;
//! - counters only grow.
//!
//! Nothing is allocated and nothing of the target's is written except the patterns. A run of few threads is checked
//! whole at each decision, one of many threads from time to time.

use core::cell::UnsafeCell;
use core::fmt;

use raddle_core::{EventKind, ThreadId, MAX_THREADS};

use crate::control::state;
use crate::dispatch;
use crate::model::waiters::{bucket, Waiters};
use crate::os::sys;
use crate::process::failure;
use crate::scheduler::clock::NEVER;
use crate::scheduler::thread::{Life, Wait, Wake};
use crate::scheduler::thread_pointers::ThreadPointers;
use crate::scheduler::timers::Timers;
use crate::scheduler::Scheduler;
use crate::switch::own_stack;

/// Up to this many threads, every decision is checked whole.
const FEW: usize = 64;
/// With more threads, one decision in this many is.
const NOW_AND_THEN: u64 = 64;
/// One decision in this many checks all patterns.
const PATTERNS: u64 = 16;

/// What stands at the low end of a stack, together with its address.
const PATTERN: u64 = 0x7261_6464_6c65_c0de;
/// The length of the pattern, in words.
const PATTERN_WORDS: usize = 8;
/// Where `raddle_swap` and `raddle_identity` leave the address at which a fiber goes on, in words.
const RETURN_WORD: usize = 7;
/// Bits of mxcsr that must be zero, or loading it faults.
const MXCSR_RESERVED: u64 = 0xffff_0000;

/// A contradiction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Broken {
    what: &'static str,
    thread: Option<ThreadId>,
    seen: u64,
    against: u64,
}

impl fmt::Display for Broken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(thread) = self.thread {
            write!(f, "t{}: ", thread.0)?;
        }
        write!(f, "{}: {:#x} against {:#x}", self.what, self.seen, self.against)
    }
}

type Verified = Result<(), Broken>;

fn wrong(what: &'static str, seen: u64, against: u64) -> Verified {
    Err(Broken { what, thread: None, seen, against })
}

/// Compares what is stored with what follows from elsewhere.
fn same(what: &'static str, seen: impl Into<u64>, expected: impl Into<u64>) -> Verified {
    let (seen, expected) = (seen.into(), expected.into());
    if seen == expected {
        return Ok(());
    }
    wrong(what, seen, expected)
}

/// Adds the thread to the message.
fn of(t: ThreadId, result: Verified) -> Verified {
    result.map_err(|broken| Broken { thread: Some(t), ..broken })
}

/// A stack of a thread: empty when it is not known.
#[derive(Clone, Copy)]
struct Stack {
    low: usize,
    high: usize,
    /// The pattern is at its low end.
    marked: bool,
}

impl Stack {
    fn contains(&self, address: usize) -> bool {
        (self.low..self.high).contains(&address)
    }

    fn overlaps(&self, other: &Stack) -> bool {
        self.low < other.high && other.low < self.high
    }
}

/// Numbers that only grow during a run.
#[derive(Clone, Copy, Default)]
struct Counters {
    clock: u64,
    points: u64,
    steps: u64,
    shared_points: u64,
    switches: u64,
    log_len: u64,
}

/// What this module remembers between checks. Valid when zeroed.
struct Book {
    decisions: u64,
    counters: Counters,
    /// Stacks of fibers, by thread.
    stacks: [Stack; MAX_THREADS],
    /// The low ends of the runtime's own alternate stacks, by thread; 0 for one that is not in use.
    alternate: [usize; MAX_THREADS],
    /// Pooled identities that are in use.
    taken: [bool; MAX_THREADS],
    /// The last whole check that met a pooled identity.
    met: [u64; MAX_THREADS],
}

impl Book {
    const EMPTY: Book = Book {
        decisions: 0,
        counters: Counters { clock: 0, points: 0, steps: 0, shared_points: 0, switches: 0, log_len: 0 },
        stacks: [Stack { low: 0, high: 0, marked: false }; MAX_THREADS],
        alternate: [0; MAX_THREADS],
        taken: [false; MAX_THREADS],
        met: [0; MAX_THREADS],
    };
}

struct Cell(UnsafeCell<Book>);

// SAFETY: touched by the holder of the baton only.
unsafe impl Sync for Cell {}

static BOOK: Cell = Cell(UnsafeCell::new(Book::EMPTY));

/// The book. The reference must not be kept beyond the current check.
fn book() -> &'static mut Book {
    // SAFETY: the callers of this module hold the baton, or there is one thread.
    unsafe { &mut *BOOK.0.get() }
}

/// Ends the run if something is wrong.
fn insist(result: Verified) {
    if let Err(broken) = result {
        let counters = &book().counters;
        failure::internal(format_args!("{broken} (at point {}, step {})", counters.points, counters.steps));
    }
}

/// A decision has been made: `next` goes on after `me`.
pub fn decided(s: &mut Scheduler, me: ThreadId, next: ThreadId) {
    let book = book();
    book.decisions += 1;
    insist(count(s, book));
    insist(choice(s, me, next));
    let whole = s.created <= FEW || book.decisions.is_multiple_of(NOW_AND_THEN);
    if whole {
        insist(threads(s));
        insist(queues(s));
        insist(deadlines(s));
        insist(expired(s));
        insist(pointers(s, &s.pointers));
        insist(objects(s));
        insist(identities(s, book));
    } else {
        insist(thread(s, me));
        insist(thread(s, next));
    }
    if whole && crate::switch::fibers() {
        insist(contexts(s, &book.stacks, me, dispatch::text::own_contains));
    }
    if whole && book.decisions.is_multiple_of(PATTERNS) {
        insist(patterns(s, book));
    } else if s.threads[me.index()].life != Life::Alive {
        insist(pattern(book, me));
    }
}

/// A thread goes on.
pub fn departed(s: &mut Scheduler, me: ThreadId) {
    let book = book();
    insist(count(s, book));
    insist(running(s, me));
    if crate::switch::fibers() {
        let here = 0u8;
        let mut sp = &raw const here as usize;
        if own_stack::contains(sp) {
            // SAFETY: `me` holds the baton, and this field is nobody else's at present.
            sp = unsafe { state() }.fair.stack_pointers[me.index()];
        }
        insist(standing(s, &book.stacks, me, sys::thread_pointer(), sp));
    }
}

/// Another run starts in this process.
pub fn restarted() {
    book().counters = Counters::default();
}

/// A fiber has been given its identity; `plain` when its stack is libc's own.
///
/// # Safety
/// The caller holds the baton; the thread is parked where it was born.
pub unsafe fn identity_given(t: ThreadId, plain: bool) {
    // SAFETY: the caller's promise.
    let s = unsafe { &state().scheduler };
    let (book, thread) = (book(), &s.threads[t.index()]);
    // SAFETY: the caller's promise.
    let stack = unsafe { stack_of(thread.fs, thread.context) };
    book.stacks[t.index()] = Stack { marked: plain && stack.low != 0, ..stack };
    insist(apart(s, &book.stacks, t));
    if book.stacks[t.index()].marked {
        // SAFETY: the lowest words of a stack on which nothing stands but the frame of its birth.
        unsafe { mark(stack.low) };
    }
}

/// A thread has a fault that goes to the program's handler. One that has used up its
/// stack has also used the pattern.
pub fn faulted(t: ThreadId, sp: usize) {
    const NEAR: usize = 64 * 1024;
    let stack = &mut book().stacks[t.index()];
    if sp < stack.low + NEAR {
        stack.marked = false;
    }
}

/// An alternate stack of the runtime's own is in use from now on.
pub fn adopted_alternate(t: ThreadId, low: usize) {
    book().alternate[t.index()] = low;
    // SAFETY: the runtime's own memory; nothing has run on it.
    unsafe { mark(low) };
}

/// A pooled identity, counted from 0, has been taken.
pub fn taken(place: usize) {
    insist(same("a pooled identity is taken while it is somebody's", book().taken[place], false));
    book().taken[place] = true;
}

/// A pooled identity, counted from 0, is no longer in use.
pub fn given_back(place: usize) {
    insist(same("a pooled identity is given back while it is nobody's", book().taken[place], true));
    book().taken[place] = false;
}

fn count(s: &mut Scheduler, book: &mut Book) -> Verified {
    let (clock, capacity) = (s.clock.now(), s.settings().log_capacity);
    let results = s.results();
    let now = Counters {
        clock,
        points: results.points,
        steps: results.steps,
        shared_points: results.shared_points,
        switches: results.switches,
        log_len: results.log_len,
    };
    let before = core::mem::replace(&mut book.counters, now);
    grown(&before, &now, capacity)
}

fn grown(before: &Counters, now: &Counters, capacity: u64) -> Verified {
    let grows = |what, now: u64, before: u64| same(what, now, now.max(before));
    grows("the virtual clock goes backwards", now.clock, before.clock)?;
    grows("points are lost", now.points, before.points)?;
    grows("steps are lost", now.steps, before.steps)?;
    grows("switches are lost", now.switches, before.switches)?;
    grows("decisions are lost", now.log_len, before.log_len)?;
    let most = |what, now: u64, most: u64| same(what, now, now.min(most));
    most("more points with others than points", now.shared_points, now.points)?;
    most("more recorded decisions than steps", now.log_len, now.steps)?;
    most("more recorded decisions than there is room for", now.log_len, capacity)
}

/// The thread that had the baton, and the one that gets it.
fn choice(s: &Scheduler, me: ThreadId, next: ThreadId) -> Verified {
    of(me, same("decides without having the baton", s.current.0, me.0))?;
    of(next, same("goes on although it is not enabled", s.enabled.contains(next), true))?;
    of(next, same("goes on although it has ended", s.threads[next.index()].life == Life::Alive, true))
}

/// The sets of threads, and every thread by itself.
fn threads(s: &Scheduler) -> Verified {
    let living = s.threads[..s.created].iter().filter(|t| t.life == Life::Alive).count();
    same("living threads", s.alive as u64, living as u64)?;
    same("size of the enabled set", s.enabled.len() as u64, s.enabled.iter().count() as u64)?;
    for set in [&s.enabled, &s.polled] {
        if let Some(stranger) = set.iter().find(|t| t.index() >= s.created) {
            of(stranger, wrong("is enabled or polled before it was created", stranger.0.into(), s.created as u64))?;
        }
    }
    (0..s.created).try_for_each(|i| thread(s, ThreadId(i as u16)))
}

fn thread(s: &Scheduler, t: ThreadId) -> Verified {
    let thread = &s.threads[t.index()];
    let (enabled, polled) = (s.enabled.contains(t), s.polled.contains(t));
    if thread.life != Life::Alive {
        of(t, same("has ended and is enabled", enabled, false))?;
        return of(t, same("has ended and is polled", polled, false));
    }
    let wait = thread.wait.get();
    of(t, same("is polled or not, against its wait", polled, matches!(wait, Wait::Polled(_))))?;
    if let Some(other) = (thread.joining as usize).checked_sub(1) {
        of(t, same("joins a thread that does not know of it", s.threads[other].joined, true))?;
    }
    if thread.wake != Wake::Go {
        return of(t, same("was disturbed and is not enabled", enabled, true));
    }
    let ready = s.ready(t);
    if ready && !enabled && changes_unseen(s, wait) {
        return Ok(());
    }
    of(t, same(unlike(wait), enabled, ready))
}

/// Whether the wait may have ended without the scheduler being told: `Scheduler::recheck` finds it.
fn changes_unseen(s: &Scheduler, wait: Wait) -> bool {
    // A routine that is left by an exception is the real pthread_once's business.
    s.foreign_threads || matches!(wait, Wait::Once(_))
}

/// The message when a thread is enabled although its wait is not over, or the other way round.
fn unlike(wait: Wait) -> &'static str {
    match wait {
        Wait::None => "waits for nothing; enabled",
        Wait::Event => "waits for an event; enabled",
        Wait::Mutex(_) => "waits for a mutex; enabled",
        Wait::Read(_) => "waits to read; enabled",
        Wait::Write(_) => "waits to write; enabled",
        Wait::Semaphore(_) => "waits for a semaphore; enabled",
        Wait::SpinLock(_) => "waits for a spin lock; enabled",
        Wait::Once(_) => "waits for a once; enabled",
        Wait::Join(_) => "waits for a thread's end; enabled",
        Wait::Polled(_) => "waits for the outside; enabled",
    }
}

/// The chains of waiters, and whether every thread stands where it should.
fn queues(s: &Scheduler) -> Verified {
    chains(&s.waiters, s.created)?;
    for (i, thread) in s.threads[..s.created].iter().enumerate() {
        let (t, key) = (ThreadId(i as u16), s.waiters.links[i].key as u64);
        if thread.life != Life::Alive {
            of(t, same("has ended and stands in a queue", key, 0u64))?;
            continue;
        }
        let wait = thread.wait.get();
        match wait {
            Wait::Event | Wait::Polled(_) if thread.woken => of(t, same("was woken and stands in a queue", key, 0u64))?,
            Wait::Event | Wait::Polled(_) => {
                use EventKind::{BarrierLeave, CondWait, FutexResume};
                let queues = matches!(s.pending[i].kind, BarrierLeave | CondWait | FutexResume);
                if thread.wake == Wake::Go {
                    of(t, same("stands in a queue or not, against what it does next", key != 0, queues))?;
                }
            }
            _ => of(t, same("stands in the wrong queue", key, wait.key() as u64))?,
        }
    }
    Ok(())
}

fn chains(waiters: &Waiters, created: usize) -> Verified {
    let mut members = 0;
    for (b, &head) in waiters.head.iter().enumerate().filter(|(_, &head)| head != 0) {
        let (mut at, mut previous) = (head, 0);
        while at != 0 {
            let (t, i) = (ThreadId(at - 1), at as usize - 1);
            members += 1;
            of(t, same("stands in a queue that goes in a circle", members as u64, members.min(created) as u64))?;
            of(t, same("has the wrong predecessor in its queue", waiters.links[i].previous, previous))?;
            of(t, same("stands in the wrong bucket", bucket(waiters.links[i].key) as u64, b as u64))?;
            (previous, at) = (at, waiters.links[i].next);
        }
    }
    let standing = waiters.links[..created].iter().filter(|link| link.key != 0).count();
    same("members of queues", members as u64, standing as u64)
}

/// The heap of deadlines, and whether every thread that needs one has one.
fn deadlines(s: &Scheduler) -> Verified {
    heap(&s.timers, s.created)?;
    for (i, thread) in s.threads[..s.created].iter().enumerate() {
        let (t, place) = (ThreadId(i as u16), s.timers.place[i] as usize);
        if place != 0 {
            of(t, same("has ended and has a deadline", thread.life == Life::Alive, true))?;
            of(t, same("has another deadline than its timer", s.timers.heap[place - 1].deadline, thread.deadline))?;
        }
        // A wait on a condition no longer has a deadline when it waits for its mutex.
        let timed = thread.deadline != NEVER && s.pending[i].kind != EventKind::Relock;
        if thread.life == Life::Alive && timed && thread.wake == Wake::Go {
            of(t, same("waits until a time and has no timer", place != 0, true))?;
        }
    }
    Ok(())
}

fn heap(timers: &Timers, created: usize) -> Verified {
    for (i, entry) in timers.heap[..timers.len].iter().enumerate() {
        let t = ThreadId(entry.thread);
        of(t, same("has its timer in another place", timers.place[t.index()], i as u64 + 1))?;
        let parent = &timers.heap[i.saturating_sub(1) / 2];
        of(t, same("has an earlier deadline than its parent in the heap", parent <= entry, true))?;
    }
    let placed = timers.place[..created].iter().filter(|&&place| place != 0).count();
    same("timers", timers.len as u64, placed as u64)
}

/// No deadline has passed after a decision: threads that waited until then no longer wait.
fn expired(s: &Scheduler) -> Verified {
    let Some((deadline, t)) = s.timers.first() else { return Ok(()) };
    of(t, same("sleeps beyond its deadline", s.clock.now() < deadline, true))
}

/// The table of thread pointers.
fn pointers(s: &Scheduler, table: &ThreadPointers) -> Verified {
    for (i, thread) in s.threads[..s.created].iter().enumerate() {
        // A fiber is known by its pointer before its first turn; an OS thread's is not known here.
        let pointer = if thread.pointer != 0 { thread.pointer } else { thread.fs };
        if thread.life == Life::Alive && pointer != 0 {
            let found = table.get(pointer).map_or(u64::MAX, |t| t.0.into());
            of(ThreadId(i as u16), same("is not found by its thread pointer", found, i as u64))?;
        }
    }
    Ok(())
}

/// What threads wait for. A plain mutex may be held by a thread that has ended: that is the program's
/// mistake. A robust one may not, unless its owner had more of them than are remembered.
fn objects(s: &Scheduler) -> Verified {
    for (i, thread) in s.threads[..s.created].iter().enumerate() {
        let (t, Wait::Mutex(mutex)) = (ThreadId(i as u16), thread.wait.get()) else { continue };
        if thread.life != Life::Alive || thread.wake != Wake::Go || s.ready(t) {
            continue;
        }
        // SAFETY: the program keeps an object alive while threads wait for it.
        let (holder, robust) = unsafe { ((*mutex).holder(), (*mutex).robust()) };
        // SAFETY: as above.
        if unsafe { (*mutex).protected() } {
            continue;
        }
        of(t, same("waits for a mutex that nobody holds", holder != 0, true))?;
        // A thread that locked it before the run, or outside control, left its kernel id.
        let Some(holder) = s.threads[..s.created].get(holder as usize - 1) else { continue };
        let remembered = holder.robust.iter().any(|m| m.is_null());
        let orphan = robust && remembered && holder.life != Life::Alive;
        of(t, same("waits for a robust mutex of a thread that has ended", orphan, false))?;
    }
    Ok(())
}

/// Pooled identities: each is one thread's, and the pool knows.
fn identities(s: &Scheduler, book: &mut Book) -> Verified {
    for (i, thread) in s.threads[..s.created].iter().enumerate() {
        let Some(place) = (thread.identity as usize).checked_sub(1) else { continue };
        if thread.life != Life::None {
            let t = ThreadId(i as u16);
            of(t, same("has an identity that is in the pool", book.taken[place], true))?;
            let last = core::mem::replace(&mut book.met[place], book.decisions);
            of(t, same("has another thread's identity", last == book.decisions, false))?;
        }
    }
    Ok(())
}

/// The saved registers of fibers that do not run.
fn contexts(s: &Scheduler, stacks: &[Stack], me: ThreadId, in_text: impl Fn(usize) -> bool) -> Verified {
    for (i, thread) in s.threads[..s.created].iter().enumerate() {
        let t = ThreadId(i as u16);
        if thread.life != Life::Alive || t == me {
            continue;
        }
        of(t, own_place(s, stacks, t, thread.context))?;
        // SAFETY: where a parked fiber's registers are saved.
        let words = unsafe { *(thread.context as *const [usize; RETURN_WORD + 1]) };
        of(t, same("goes on outside the runtime", in_text(words[RETURN_WORD]), true))?;
        of(t, same("has impossible rounding modes", words[0] as u64 & MXCSR_RESERVED, 0u64))?;
    }
    Ok(())
}

/// Whether a fiber stands on its own stack. A program may also have made stacks of its own, for handlers
/// and coroutines; but never another thread's.
fn own_place(s: &Scheduler, stacks: &[Stack], t: ThreadId, address: usize) -> Verified {
    same("stands at an odd address", address as u64 % 8, 0u64)?;
    if stacks[t.index()].contains(address) {
        return Ok(());
    }
    let others = (0..s.created).filter(|&i| i != t.index() && s.threads[i].life == Life::Alive);
    match others.map(|i| &stacks[i]).find(|stack| stack.contains(address)) {
        Some(stack) => wrong("stands on another thread's stack", address as u64, stack.low as u64),
        None => Ok(()),
    }
}

/// What is stored about the thread that runs.
fn running(s: &Scheduler, me: ThreadId) -> Verified {
    let thread = &s.threads[me.index()];
    of(me, same("runs without having the baton", s.current.0, me.0))?;
    of(me, same("runs although it has ended", thread.life == Life::Alive, true))?;
    of(me, same("runs although it is not enabled", s.enabled.contains(me), true))?;
    of(me, same("runs and is polled", s.polled.contains(me), false))?;
    of(me, same("runs and stands in a queue", s.waiters.links[me.index()].key as u64, 0u64))?;
    of(me, same("runs and has a timer", s.timers.place[me.index()], 0u64))?;
    of(me, same("runs and waits", thread.wake == Wake::Go && matches!(thread.wait.get(), Wait::None), true))
}

/// Whether the fiber that runs is the one that it should be.
fn standing(s: &Scheduler, stacks: &[Stack], me: ThreadId, pointer: usize, sp: usize) -> Verified {
    of(me, same("runs with another thread pointer", pointer as u64, s.threads[me.index()].fs as u64))?;
    of(me, own_place(s, stacks, me, sp & !7))
}

/// Whether no other thread has a new stack.
fn apart(s: &Scheduler, stacks: &[Stack], t: ThreadId) -> Verified {
    let others = (0..s.created).filter(|&i| i != t.index() && s.threads[i].life == Life::Alive);
    match others.map(|i| &stacks[i]).find(|stack| stack.overlaps(&stacks[t.index()])) {
        Some(stack) => of(t, wrong("gets another thread's stack", stacks[t.index()].low as u64, stack.low as u64)),
        None => Ok(()),
    }
}

/// The patterns below all stacks.
fn patterns(s: &Scheduler, book: &Book) -> Verified {
    let living = (0..s.created).filter(|&i| s.threads[i].life == Life::Alive);
    living.map(|i| ThreadId(i as u16)).try_for_each(|t| pattern(book, t))
}

fn pattern(book: &Book, t: ThreadId) -> Verified {
    let stack = &book.stacks[t.index()];
    if stack.marked {
        of(t, intact("the low end of its stack was overwritten", stack.low))?;
    }
    match book.alternate[t.index()] {
        0 => Ok(()),
        low => of(t, intact("the low end of its alternate stack was overwritten", low)),
    }
}

fn intact(what: &'static str, low: usize) -> Verified {
    // SAFETY: written by `mark`; a stack that has been unmapped since deserves the fault.
    let words = unsafe { *(low as *const [u64; PATTERN_WORDS]) };
    let expected = PATTERN ^ low as u64;
    words.into_iter().try_for_each(|word| same(what, word, expected))
}

/// Writes the pattern.
///
/// # Safety
/// The words are not in use.
unsafe fn mark(low: usize) {
    // SAFETY: the caller's promise.
    unsafe { (low as *mut [u64; PATTERN_WORDS]).write([PATTERN ^ low as u64; PATTERN_WORDS]) };
}

/// The stack of a thread that libc has made, as far as the thread's control block. Empty when it is not found.
///
/// # Safety
/// `fs` is the thread pointer of a thread that libc has made.
unsafe fn stack_of(fs: usize, context: usize) -> Stack {
    // SAFETY: the caller's promise.
    let found = unsafe { crate::os::memory::stack_of(fs, context) };
    found.map_or(Stack { low: 0, high: 0, marked: false }, |found| Stack { low: found.start, high: fs, marked: false })
}

#[cfg(test)]
mod tests;
