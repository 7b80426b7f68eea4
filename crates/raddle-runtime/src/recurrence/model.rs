//! What the model and the scheduler know of threads beyond the program's own memory, as far as it decides what the
//! program does next.

use raddle_core::ThreadId;

use super::hash::Hash;
use crate::scheduler::thread::Thread;
use crate::scheduler::Scheduler;

/// More threads are not judged: the order of their queues would take too long.
const MOST: usize = 512;

/// A hash of all threads, whose registers lie on their stacks at `stack_pointers`; `None` when there are too many, or
/// when a signal is on its way to one of them.
pub fn of(s: &Scheduler, next: ThreadId, stack_pointers: &[usize]) -> Option<Hash> {
    if s.created > MOST {
        return None;
    }
    let mut hash = Hash::EMPTY;
    hash.word(u64::from(s.current.0) << 32 | u64::from(next.0));
    for (i, thread) in s.threads[..s.created].iter().enumerate() {
        if thread.signals != 0 || thread.blocked_outside {
            return None;
        }
        let pending = s.pending[i];
        hash.word(stack_pointers[i] as u64);
        hash.word(pending.object as u64);
        hash.word(u64::from(pending.with) << 32 | pending.kind as u64);
        hash.word(s.waiters.rank(ThreadId(i as u16)));
        of_thread(&mut hash, thread);
    }
    Some(hash)
}

fn of_thread(hash: &mut Hash, thread: &Thread) {
    let flags = [
        thread.woken,
        thread.cancellable,
        thread.interruptible,
        thread.detached,
        thread.cancel_disabled,
        thread.cancel_async,
        thread.cancel_requested,
        thread.joined,
        thread.restarts,
    ];
    let flags = flags.iter().fold(0, |bits, &flag| bits << 1 | u64::from(flag));
    let [kind, what] = thread.wait.words();
    let words = [
        flags << 32 | (thread.life as u64) << 16 | (thread.wake as u64) << 8 | thread.relocked as u64,
        kind as u64,
        what as u64,
        u64::from(thread.inside) << 32 | u64::from(thread.joining),
        u64::from(thread.futex_bits) << 32 | u64::from(thread.futex_value),
        thread.futex_word as u64,
        thread.signal_mask,
        thread.barrier as u64,
        thread.relock as u64,
        thread.robust_list as u64,
        thread.alternate_stack.0 as u64,
        thread.alternate_stack.1 as u64,
    ];
    words.into_iter().for_each(|word| hash.word(word));
    thread.robust.iter().for_each(|mutex| hash.word(*mutex as u64));
}
