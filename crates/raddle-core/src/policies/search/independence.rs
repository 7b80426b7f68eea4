//! Which operations of two threads are independent: in whatever order they come, both are possible and lead to
//! the same state, and neither makes the other possible or impossible.
//!
//! A reduction leaves out schedules on the strength of this, so every doubt counts as a dependence. Known are the
//! operations that touch one object and nothing else. What is not known here depends on everything. Left aside are
//! what the operations cannot show: time, which the runtime notes (`block::note`), and accesses to memory that are
//! no points. [`crate::event::Event::conflicts`] is another thing: a hint for sampling, which may be wrong.

use crate::event::{Event, EventKind};

/// What an operation touches.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Touches {
    /// Nothing that another thread can see.
    Nothing,
    /// One object of synchronisation.
    Object,
    /// A condition and the mutex that is waited with.
    Condition,
    /// The list of threads.
    Threads,
    /// Memory, which is read only.
    Reads,
    /// Memory.
    Writes,
    /// Whatever there is.
    Everything,
}

fn touches(kind: EventKind) -> Touches {
    use EventKind::*;
    match kind {
        // The new thread was there before its first step, and the creator goes on alone. Fences do nothing where
        // threads take turns. A thread that goes on after a futex was woken by an operation that came before.
        Start | Created | Fence | FutexResume => Touches::Nothing,
        Lock | TryLock | Unlock | Relock | ReadLock | WriteLock | TryRwLock | RwUnlock | SemWait | SemTry | SemPost
        | Barrier | BarrierLeave | SpinLock | SpinTry | SpinUnlock | Once | CondSignal | CondBroadcast | Destroy => {
            Touches::Object
        }
        // The thread that ends or is waited for.
        Exit | Join => Touches::Object,
        CondWait => Touches::Condition,
        // Ids are given in the order of creation.
        Create => Touches::Threads,
        AtomicLoad | VolatileLoad | Load => Touches::Reads,
        // The word is compared, and the thread queues up at it.
        AtomicStore | AtomicModify | VolatileStore | Store | FutexWait => Touches::Writes,
        Detach | Cancel | Yield | Sleep | Clock | FutexWake | FutexRequeue | Read | Write | Accept | Connect | Poll
        | WaitChild | Kill | SigWait | Handler | Fork | ProcessExit | Syscall | Call | Outside | Spin | Return
        | Woken | Request | RequestDone | RequestCheck | RequestWait => Touches::Everything,
    }
}

/// Whether an operation is on a mutex: something that waiting on a condition may be about.
fn about_mutexes(kind: EventKind) -> bool {
    use EventKind::*;
    matches!(kind, Lock | TryLock | Unlock | Relock | Destroy)
}

/// Whether the order of two operations of different threads may matter.
pub fn dependent(one: &Event, other: &Event) -> bool {
    use Touches::*;
    match (touches(one.kind), touches(other.kind)) {
        (Everything, _) | (_, Everything) => true,
        (Nothing, _) | (_, Nothing) => false,
        (Object, Object) => one.object == other.object,
        (Threads, Threads) => true,
        (Condition, Object | Condition) => meets(one, other),
        (Object, Condition) => meets(other, one),
        (Reads, Reads) => false,
        (Reads | Writes, Reads | Writes) => overlap(one, other),
        (Threads, _) | (_, Threads) => false,
        // A lock's own memory is not the program's to touch.
        (Reads | Writes, Object | Condition) | (Object | Condition, Reads | Writes) => false,
    }
}

/// Whether a wait on a condition may have to do with another operation on an object.
fn meets(wait: &Event, other: &Event) -> bool {
    let mutex = match other.kind {
        EventKind::CondWait => other.with,
        kind if about_mutexes(kind) => other.object as u32,
        _ => return wait.object == other.object,
    };
    // Where a mutex is not known it may be any.
    let known = wait.with != 0 && (mutex != 0 || other.kind != EventKind::CondWait);
    wait.object == other.object || !known || wait.with == mutex
}

/// Whether two accesses may touch a byte in common.
fn overlap(one: &Event, other: &Event) -> bool {
    let end = |access: &Event| match access.with {
        0 => None,
        bytes => access.object.checked_add(bytes as usize),
    };
    match (end(one), end(other)) {
        (Some(end_of_one), Some(end_of_other)) => one.object < end_of_other && other.object < end_of_one,
        _ => true,
    }
}

/// Whether an operation that gives something back can come before one that waits for it, at the place of the
/// former: it cannot, since the thread that gives it back holds it.
pub fn frees_for(release: &Event, waiting: &Event) -> bool {
    use EventKind::*;
    let mutex = matches!(release.kind, Unlock) && release.object == waiting.object;
    let by_waiting = release.kind == CondWait && release.with != 0 && release.with == waiting.object as u32;
    (mutex || by_waiting) && matches!(waiting.kind, Lock | Relock)
        || release.kind == RwUnlock && waiting.kind == WriteLock && release.object == waiting.object
        || release.kind == SpinUnlock && waiting.kind == SpinLock && release.object == waiting.object
}

/// Whether a thread that is not enabled is about to do what its event says; else it waits to be woken,
/// and does something else then.
pub fn waits_to_do(kind: EventKind) -> bool {
    use EventKind::*;
    matches!(kind, Lock | Relock | ReadLock | WriteLock | SemWait | SpinLock | Once | Join)
}

#[cfg(test)]
mod tests {
    use super::*;
    use EventKind::*;

    fn event(kind: EventKind, object: usize) -> Event {
        Event::new(kind, object)
    }

    fn access(kind: EventKind, object: usize, bytes: u32) -> Event {
        Event { with: bytes, ..event(kind, object) }
    }

    #[test]
    fn dependence_is_mutual() {
        let objects = [0, 8, 16];
        for &a in EventKind::ALL {
            for &b in EventKind::ALL {
                for x in objects {
                    for y in objects {
                        for with in [0, 4, 8] {
                            let (one, other) = (access(a, x, with), access(b, y, 8));
                            assert_eq!(dependent(&one, &other), dependent(&other, &one), "{one:?} {other:?}");
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn what_conflicts_depends() {
        // The sampling hint knows less, so whatever it sees must be seen here too, except for what goes on alone.
        for &a in EventKind::ALL {
            for &b in EventKind::ALL {
                let (one, other) = (event(a, 8), event(b, 8));
                let known = touches(a) != Touches::Nothing && touches(b) != Touches::Nothing;
                let memory = |kind| matches!(touches(kind), Touches::Reads | Touches::Writes);
                if one.conflicts(&other) && known && memory(a) == memory(b) {
                    let threads = touches(a) == Touches::Threads || touches(b) == Touches::Threads;
                    assert!(dependent(&one, &other) || threads, "{one:?} {other:?}");
                }
            }
        }
    }

    #[test]
    fn one_object_each() {
        assert!(dependent(&event(Lock, 8), &event(Unlock, 8)));
        assert!(!dependent(&event(Lock, 8), &event(Lock, 16)));
        assert!(dependent(&event(Exit, 8), &event(Join, 8)));
        assert!(!dependent(&event(Exit, 8), &event(Lock, 16)));
        assert!(dependent(&event(Create, 0), &event(Create, 0)));
        assert!(!dependent(&event(Create, 0), &event(SemPost, 8)));
        assert!(dependent(&event(ProcessExit, 0), &event(Start, 0)));
    }

    #[test]
    fn waiting_on_a_condition_touches_its_mutex() {
        let wait = access(CondWait, 100, 8);
        assert!(dependent(&wait, &event(Lock, 8)));
        assert!(!dependent(&wait, &event(Lock, 16)));
        assert!(dependent(&wait, &event(CondSignal, 100)));
        assert!(!dependent(&wait, &event(CondSignal, 101)));
        assert!(!dependent(&wait, &event(SemPost, 8)));
        assert!(dependent(&wait, &access(CondWait, 101, 8)));
        assert!(!dependent(&wait, &access(CondWait, 101, 9)));
        // Where the mutex is not known it may be any.
        assert!(dependent(&event(CondWait, 100), &event(Lock, 16)));
        assert!(dependent(&event(CondWait, 100), &access(CondWait, 101, 9)));
    }

    #[test]
    fn accesses_overlap() {
        assert!(dependent(&access(Store, 8, 4), &access(Load, 11, 1)));
        assert!(!dependent(&access(Store, 8, 4), &access(Load, 12, 4)));
        assert!(!dependent(&access(Load, 8, 4), &access(Load, 8, 4)));
        assert!(dependent(&access(AtomicModify, 8, 8), &access(AtomicLoad, 12, 4)));
        // Where the size is not known it may be any.
        assert!(dependent(&event(Store, 8), &access(Load, 800, 1)));
    }
}
