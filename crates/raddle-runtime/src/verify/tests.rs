//! States that cannot be: each must be found, and named.

use super::*;
use crate::model::mutex::Mutex;
use crate::scheduler::thread::owner;
use raddle_core::Event;

const MAIN: ThreadId = ThreadId::MAIN;
const FIRST: ThreadId = ThreadId(1);
const SECOND: ThreadId = ThreadId(2);

fn zeroed<T>() -> Box<T> {
    // SAFETY: used for types that are documented as valid when zeroed, and too large for a test's stack.
    unsafe { Box::from_raw(std::alloc::alloc_zeroed(std::alloc::Layout::new::<T>()).cast()) }
}

fn empty_book() -> Box<Book> {
    zeroed()
}

/// A run of three threads: main runs and holds the mutex, the first waits for it, the second sleeps.
struct Sample {
    s: Box<Scheduler>,
    mutex: Box<Mutex>,
}

impl Sample {
    fn new() -> Sample {
        let (mut s, mut mutex) = (zeroed::<Scheduler>(), Box::new(Mutex::default()));
        mutex.lock(owner(MAIN));
        (s.created, s.alive) = (3, 3);
        for i in 0..3 {
            s.threads[i].life = Life::Alive;
            s.threads[i].deadline = NEVER;
        }
        s.enabled.set(MAIN, true);
        s.threads[1].wait = Wait::Mutex(&raw mut *mutex).pack();
        s.waiters.insert(FIRST, &raw mut *mutex as usize);
        s.threads[2].wait = Wait::Event.pack();
        s.threads[2].deadline = 100;
        s.pending[2] = Event::new(EventKind::Sleep, 0);
        s.timers.insert(SECOND, 100);
        Sample { s, mutex }
    }

    fn check(&self) -> Verified {
        let s = &*self.s;
        [threads(s), queues(s), deadlines(s), expired(s), objects(s)].into_iter().collect()
    }

    /// What is found after a change; the thread first.
    fn after(change: impl FnOnce(&mut Scheduler, &mut Mutex)) -> (Option<ThreadId>, &'static str) {
        let mut sample = Sample::new();
        assert_eq!(sample.check(), Ok(()));
        change(&mut sample.s, &mut sample.mutex);
        let broken = sample.check().expect_err("a state that cannot be");
        (broken.thread, broken.what)
    }
}

#[test]
fn a_change_that_the_scheduler_was_not_told_of() {
    let mut sample = Sample::new();
    sample.mutex.unlock(owner(MAIN));
    let broken = sample.check().expect_err("nobody looked again");
    assert_eq!(broken.to_string(), "t1: waits for a mutex; enabled: 0x0 against 0x1");
    sample.s.changed(&raw mut *sample.mutex as usize);
    assert_eq!(sample.check(), Ok(()));
}

#[test]
fn wrong_sets_of_threads() {
    let found = Sample::after(|s, _| s.alive = 2);
    assert_eq!(found, (None, "living threads"));
    let found = Sample::after(|s, _| (s.alive, s.threads[0].life) = (2, Life::Ended));
    assert_eq!(found, (Some(MAIN), "has ended and is enabled"));
    let found = Sample::after(|s, _| s.threads[1].wake = Wake::Interrupted);
    assert_eq!(found, (Some(FIRST), "was disturbed and is not enabled"));
    let found = Sample::after(|s, _| _ = s.enabled.set(SECOND, true));
    assert_eq!(found, (Some(SECOND), "waits for an event; enabled"));
    let found = Sample::after(|s, _| _ = s.enabled.set(ThreadId(70), true));
    assert_eq!(found, (Some(ThreadId(70)), "is enabled or polled before it was created"));
    let found = Sample::after(|s, _| _ = s.polled.set(SECOND, true));
    assert_eq!(found, (Some(SECOND), "is polled or not, against its wait"));
    let found = Sample::after(|s, _| s.threads[2].joining = 2);
    assert_eq!(found, (Some(SECOND), "joins a thread that does not know of it"));
}

#[test]
fn wrong_choices() {
    let mut s = Sample::new().s;
    assert_eq!(choice(&s, MAIN, MAIN), Ok(()));
    assert!(choice(&s, MAIN, FIRST).is_err(), "it is not enabled");
    assert!(choice(&s, FIRST, MAIN).is_err(), "it has not the baton");
    assert_eq!(running(&s, MAIN), Ok(()));
    assert!(running(&s, FIRST).is_err(), "it has not the baton");
    s.waiters.insert(MAIN, 8);
    assert!(running(&s, MAIN).is_err(), "it stands in a queue");
}

#[test]
fn wrong_queues() {
    let found = Sample::after(|s, _| s.waiters.remove(FIRST));
    assert_eq!(found, (Some(FIRST), "stands in the wrong queue"));
    let found = Sample::after(|s, _| s.waiters.insert(FIRST, 8));
    assert_eq!(found, (Some(FIRST), "stands in the wrong queue"));
    let found = Sample::after(|s, _| s.waiters.insert(SECOND, 8));
    assert_eq!(found, (Some(SECOND), "stands in a queue or not, against what it does next"));
    let found = Sample::after(|s, _| s.pending[2] = Event::new(EventKind::FutexResume, 8));
    assert_eq!(found, (Some(SECOND), "stands in a queue or not, against what it does next"));
    let woken = |s: &mut Scheduler| {
        s.wake(SECOND);
        s.waiters.insert(SECOND, 8);
    };
    assert_eq!(Sample::after(|s, _| woken(s)), (Some(SECOND), "was woken and stands in a queue"));
    let found = Sample::after(|s, _| s.waiters.links[1].next = 2);
    assert_eq!(found, (Some(FIRST), "has the wrong predecessor in its queue"));
    let found = Sample::after(|s, _| (s.waiters.links[1].next, s.waiters.links[1].previous) = (2, 2));
    assert_eq!(found.0, Some(FIRST));
    let found = Sample::after(|s, _| s.waiters.links[1].key += 8);
    assert_eq!(found, (Some(FIRST), "stands in the wrong bucket"));
    let found = Sample::after(|s, _| s.waiters.links[0].key = 8);
    assert_eq!(found, (None, "members of queues"));
}

#[test]
fn a_queue_that_goes_in_a_circle() {
    let mut waiters = zeroed::<Waiters>();
    for t in 0..3 {
        waiters.insert(ThreadId(t), 64);
    }
    assert_eq!(chains(&waiters, 3), Ok(()));
    // From the last one back to the first.
    (waiters.links[0].next, waiters.links[2].previous) = (3, 1);
    assert!(chains(&waiters, 3).is_err());
}

#[test]
fn wrong_deadlines() {
    let found = Sample::after(|s, _| s.timers.remove(SECOND));
    assert_eq!(found, (Some(SECOND), "waits until a time and has no timer"));
    let found = Sample::after(|s, _| s.threads[2].deadline = 200);
    assert_eq!(found, (Some(SECOND), "has another deadline than its timer"));
    let found = Sample::after(|s, _| s.clock.jump(100));
    assert_eq!(found, (Some(SECOND), "sleeps beyond its deadline"));
    let found = Sample::after(|s, _| s.timers.place[2] = 2);
    assert_eq!(found, (Some(SECOND), "has its timer in another place"));
    let found = Sample::after(|s, _| s.timers.place[1] = 1);
    assert_eq!(found, (None, "timers"));
}

#[test]
fn a_heap_that_is_none() {
    let mut timers = zeroed::<Timers>();
    for t in 0..5 {
        timers.insert(ThreadId(t), 10 + u64::from(t));
    }
    assert_eq!(heap(&timers, 5), Ok(()));
    timers.heap[4].deadline = 1;
    assert_eq!(
        heap(&timers, 5).map_err(|b| b.what),
        Err("has an earlier deadline than its parent in the heap"),
        "the first of them is the earliest no more"
    );
}

#[test]
fn mutexes_without_an_owner() {
    let found = Sample::after(|_, mutex| {
        mutex.unlock(owner(MAIN));
        mutex.lock(0);
    });
    assert_eq!(found, (Some(FIRST), "waits for a mutex that nobody holds"));
}

#[test]
fn a_thread_that_is_not_in_the_table() {
    let (mut s, mut table) = (Sample::new().s, zeroed::<ThreadPointers>());
    (s.threads[0].pointer, s.threads[1].fs) = (0x1000, 0x2000);
    table.insert(0x1000, MAIN);
    assert_eq!(pointers(&s, &table).map_err(|b| b.thread), Err(Some(FIRST)));
    table.insert(0x2000, SECOND);
    assert_eq!(pointers(&s, &table).map_err(|b| b.thread), Err(Some(FIRST)));
    table.insert(0x2000, FIRST);
    assert_eq!(pointers(&s, &table), Ok(()));
}

#[test]
fn identities_that_are_two_threads() {
    let (mut s, mut book) = (Sample::new().s, empty_book());
    book.decisions = 7;
    book.taken[3] = true;
    (s.threads[1].identity, s.threads[2].identity) = (4, 5);
    let found = identities(&s, &mut book).map_err(|b| (b.thread, b.what));
    assert_eq!(found, Err((Some(SECOND), "has an identity that is in the pool")));
    (book.decisions, s.threads[2].identity) = (8, 4);
    let found = identities(&s, &mut book).map_err(|b| (b.thread, b.what));
    assert_eq!(found, Err((Some(SECOND), "has another thread's identity")));
    (book.decisions, s.threads[2].identity) = (9, 0);
    assert_eq!(identities(&s, &mut book), Ok(()));
}

#[test]
fn fibers_that_stand_in_the_wrong_place() {
    const TEXT: usize = 0x4000;
    let mut memory = Box::new([0usize; 64]);
    memory[RETURN_WORD] = TEXT;
    memory[32 + RETURN_WORD] = TEXT;
    let base = memory.as_ptr() as usize;
    let (mut s, mut book) = (Sample::new().s, empty_book());
    let half = |n: usize| Stack { low: base + n * 256, high: base + (n + 1) * 256, marked: false };
    (book.stacks[1], book.stacks[2]) = (half(0), half(1));
    (s.threads[1].context, s.threads[2].context) = (base, base + 256);
    let check = |s: &Scheduler, book: &Book| {
        contexts(s, &book.stacks, MAIN, |address| address == TEXT).map_err(|b| (b.thread, b.what))
    };
    assert_eq!(check(&s, &book), Ok(()));
    assert_eq!(apart(&s, &book.stacks, SECOND), Ok(()));
    s.threads[2].context = base;
    assert_eq!(check(&s, &book), Err((Some(SECOND), "stands on another thread's stack")));
    s.threads[2].context = base + 257;
    assert_eq!(check(&s, &book), Err((Some(SECOND), "stands at an odd address")));
    s.threads[2].context = base + 264;
    assert_eq!(check(&s, &book), Err((Some(SECOND), "goes on outside the runtime")));
    s.threads[2].context = base + 256;
    memory[32] = 1 << 20;
    assert_eq!(check(&s, &book), Err((Some(SECOND), "has impossible rounding modes")));
    for stack in [Stack { low: base + 248, ..half(1) }, half(0)] {
        book.stacks[2] = stack;
        assert!(apart(&s, &book.stacks, SECOND).is_err(), "the stacks overlap");
    }
    book.stacks[2] = half(1);
    s.threads[1].fs = 0x1000;
    assert_eq!(standing(&s, &book.stacks, FIRST, 0x1000, base + 100), Ok(()));
    assert!(standing(&s, &book.stacks, FIRST, 0x2000, base + 100).is_err(), "another thread pointer");
    assert!(standing(&s, &book.stacks, FIRST, 0x1000, base + 300).is_err(), "another stack");
}

#[test]
fn patterns_that_were_overwritten() {
    let (s, mut book, mut memory) = (Sample::new().s, empty_book(), Box::new([0u64; 2 * PATTERN_WORDS]));
    let low = memory.as_mut_ptr() as usize;
    let alternate = low + 8 * PATTERN_WORDS;
    // SAFETY: the memory above.
    unsafe {
        mark(low);
        mark(alternate);
    }
    book.stacks[1] = Stack { low, high: low + 8, marked: true };
    book.alternate[2] = alternate;
    assert_eq!(patterns(&s, &book), Ok(()));
    memory[2 * PATTERN_WORDS - 1] ^= 1;
    let found = patterns(&s, &book).map_err(|b| (b.thread, b.what));
    assert_eq!(found, Err((Some(SECOND), "the low end of its alternate stack was overwritten")));
    memory[0] = 0;
    let found = pattern(&book, FIRST).map_err(|b| b.what);
    assert_eq!(found, Err("the low end of its stack was overwritten"));
    book.stacks[1].marked = false;
    assert_eq!(pattern(&book, FIRST), Ok(()));
}

#[test]
fn counters_that_shrink() {
    let before = Counters { clock: 10, points: 5, steps: 4, shared_points: 3, switches: 2, log_len: 4 };
    assert_eq!(grown(&before, &before, 4), Ok(()));
    let changes = [
        Counters { clock: 9, ..before },
        Counters { points: 4, ..before },
        Counters { steps: 3, ..before },
        Counters { shared_points: 6, ..before },
        Counters { switches: 1, ..before },
        Counters { log_len: 3, ..before },
        Counters { log_len: 5, ..before },
        Counters { steps: 5, log_len: 5, ..before },
    ];
    for (i, now) in changes.iter().enumerate() {
        assert!(grown(&before, now, 4).is_err(), "change {i}");
    }
}

#[test]
fn the_stack_of_a_real_thread() {
    let look = || {
        let here = 0u64;
        let address = &raw const here as usize;
        // SAFETY: a thread that libc has made; the attributes are its own.
        unsafe {
            let found = stack_of(sys::thread_pointer(), address);
            let mut attributes: libc::pthread_attr_t = core::mem::zeroed();
            let (mut low, mut size) = (core::ptr::null_mut(), 0);
            libc::pthread_getattr_np(libc::pthread_self(), &mut attributes);
            libc::pthread_attr_getstack(&attributes, &mut low, &mut size);
            libc::pthread_attr_destroy(&mut attributes);
            assert_eq!(found.low, low as usize);
            assert!(found.contains(address));
            assert!(found.high <= low as usize + size);
        }
    };
    for size in [64 * 1024, 3 << 20] {
        std::thread::Builder::new().stack_size(size).spawn(look).expect("a thread").join().expect("finds it");
    }
}
