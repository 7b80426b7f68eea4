//! The end of a run that failed: what the command line needs to know is written into the block,
//! the process waits until raddle has looked at its stacks, and ends.

use core::fmt::{self, Write};
use core::sync::atomic::Ordering;

use raddle_core::decorators::replay::Divergence;
use raddle_core::{Decision, EventKind, ThreadId};
use raddle_protocol::control::event;
use raddle_protocol::settings::flag;
use raddle_protocol::{Block, OsReason, Outcome, Results, ThreadReport, ThreadState};

use crate::access::lease::Lease;
use crate::model::mutex::Damage;
use crate::os::sys;
use crate::points::{misuse, sync_function};
use crate::scheduler::thread::{Life, Wait};
use crate::scheduler::Scheduler;
use crate::{control, heap, syscall};

/// The status of a process that the runtime ended; the command line goes by the outcome instead.
const STATUS: i32 = 125;
/// How long a frozen run waits for the command line.
const FREEZE_LIMIT: u64 = 60_000_000_000;

/// Ends the run: no thread can ever go on.
pub fn deadlock(scheduler: &mut Scheduler, me: ThreadId) -> ! {
    if scheduler.ending {
        // The body of a check has returned: threads that still wait were left behind.
        stop(scheduler, Outcome::ThreadsLeft);
    }
    if let Some((t, mutex)) = overwritten_mutex(scheduler) {
        misuse::report(t, mutex, "mutex", scheduler.pending[t.index()].kind, Damage::Overwritten);
    }
    scheduler.results().thread = u32::from(me.0);
    scheduler.report_no_choice(me);
    scheduler.policy_run_ended();
    stop(scheduler, Outcome::Deadlock)
}

/// A thread that waits for a mutex that no thread can have locked: its memory holds something else.
fn overwritten_mutex(scheduler: &Scheduler) -> Option<(ThreadId, usize)> {
    (0..scheduler.created).map(|i| ThreadId(i as u16)).find_map(|t| {
        let Wait::Mutex(mutex) = scheduler.threads[t.index()].wait.get() else { return None };
        // SAFETY: the program keeps an object alive while threads wait for it.
        let mutex = unsafe { &*mutex };
        let waits = scheduler.threads[t.index()].life == Life::Alive;
        let unknown = waits && mutex.held_by_none_of(scheduler.created as u32);
        // A thread that locked it outside control left its kernel id; before the fork, its creator's.
        (unknown && !sys::is_own_thread(mutex.real_holder() as i32)).then_some((t, core::ptr::from_ref(mutex) as usize))
    })
}

/// Ends the run with an outcome.
pub fn stop(scheduler: &mut Scheduler, outcome: Outcome) -> ! {
    record(scheduler, outcome);
    freeze(scheduler.shared_block());
    sys::exit_group(STATUS)
}

/// What is wrong with a body that is not the same when it is run again, and what to do.
pub const STATE_LEAKS: &str =
    "state leaks from one iteration to the next; set static variables back at the start of the \
                               body, or explore the test without a check, where each run is a process of its own";

/// What was to come, and what came.
struct Instead<'a>(&'a Divergence);

impl fmt::Display for Instead<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = |decision: Decision| decision.kind().map_or("something unknown", EventKind::name);
        let found = self.0.found;
        match self.0.expected {
            Some(expected) => write!(f, ", where the first time had \"{} {}\"", expected.thread(), kind(expected))?,
            None => write!(f, ", where the first time had its end")?,
        }
        write!(f, " and the second \"{} {}\"", found.thread(), kind(found))
    }
}

/// The replay has left its recording.
pub fn diverged(scheduler: &mut Scheduler, divergence: Divergence) -> ! {
    let results = scheduler.results();
    results.diverged_step = divergence.step;
    results.diverged_expected = divergence.expected.map_or(u32::MAX, |d| d.0);
    results.diverged_found = divergence.found.0;
    results.diverged_enabled = u32::from(divergence.enabled);
    if crate::process::check::is_repeated() {
        // One access more or less before the same call shows as an access here and a call there.
        let is_access = |decision: Decision| decision.kind().is_some_and(EventKind::is_access);
        let below_calls = divergence.expected.is_some_and(is_access) || is_access(divergence.found);
        scheduler.results().leaks_below_calls = below_calls.into();
        write_message(
            scheduler.results(),
            format_args!(
                "the body ran differently when it was run again with the same decisions, from step {} on{}: {STATE_LEAKS}",
                divergence.step,
                Instead(&divergence)
            ),
        );
        stop(scheduler, Outcome::StateLeaks);
    }
    record(scheduler, Outcome::Diverged);
    sys::exit_group(STATUS)
}

/// Fibers cannot do what the program asks for: this run is given up, and repeated with OS
/// threads. Returns when it runs on OS threads already.
pub fn needs_os_threads(reason: OsReason) {
    if !crate::switch::fibers() || control::mode() != control::Mode::Controlled {
        return;
    }
    // SAFETY: the calling thread is under control, so it holds the baton.
    let scheduler = unsafe { control::scheduler() };
    scheduler.shared_block().control.os_reason.store(reason as u32, Ordering::Relaxed);
    scheduler.policy_run_discarded();
    record(scheduler, Outcome::NeedsOsThreads);
    sys::exit_group(STATUS)
}

/// Ends the process because of a defect in the runtime itself.
pub fn internal(message: fmt::Arguments<'_>) -> ! {
    if let Some(block) = control::block() {
        let block = block as *const Block as *mut Block;
        // SAFETY: mapped; another writer cannot make things worse now.
        unsafe {
            (*block).results.outcome = Outcome::Internal as u32;
            write_message(&mut (*block).results, message);
        }
    }
    sys::complain("raddle: internal error in the runtime\n");
    sys::exit_group(STATUS)
}

/// Notes an outcome and the state of all threads.
#[link_section = "raddle_run"]
pub fn record(scheduler: &mut Scheduler, outcome: Outcome) {
    Lease::end(scheduler);
    scheduler.results().held_back = heap::held();
    if outcome == Outcome::Exited {
        heap::check_all();
        scheduler.policy_run_ended();
    }
    scheduler.results().outcome = outcome as u32;
    if outcome != Outcome::Exited {
        let is_failure = matches!(outcome, Outcome::Signal | Outcome::Assert);
        let running = if is_failure { ThreadId(scheduler.results().thread as u16) } else { scheduler.current };
        report_threads(scheduler, running);
    }
}

/// Lets the command line look at the threads of a run that goes on.
#[cold]
pub fn look(scheduler: &mut Scheduler, me: ThreadId) {
    scheduler.results().thread = u32::from(me.0);
    report_threads(scheduler, me);
    let block = scheduler.shared_block();
    freeze(block);
    block.control.release.store(0, Ordering::Release);
}

/// Puts a message into the results.
pub fn write_message(results: &mut Results, message: fmt::Arguments<'_>) {
    struct Into<'a>(&'a mut Results);
    impl Write for Into<'_> {
        fn write_str(&mut self, text: &str) -> fmt::Result {
            let at = self.0.message_len as usize;
            let room = &mut self.0.message[at..];
            let n = text.len().min(room.len());
            room[..n].copy_from_slice(&text.as_bytes()[..n]);
            self.0.message_len += n as u32;
            Ok(())
        }
    }
    results.message_len = 0;
    // Cannot fail: what does not fit is cut.
    let _ = Into(results).write_fmt(message);
}

/// Stops until the command line has looked at the threads.
pub fn freeze(block: &Block) {
    if block.settings.flags & flag::FREEZE == 0 {
        return;
    }
    let control = &block.control;
    control.event.fetch_or(event::FROZEN, Ordering::AcqRel);
    sys::futex_wake_shared(&control.event);
    let start = sys::real_monotonic();
    while control.release.load(Ordering::Acquire) == 0 && sys::real_monotonic() - start < FREEZE_LIMIT {
        sys::futex_wait_shared(&control.release, 0, Some(1_000_000_000));
    }
}

/// `running` is not the current thread when one crashes behind its last step, which has chosen the next one.
fn report_threads(scheduler: &mut Scheduler, running: ThreadId) {
    let block = scheduler.block();
    for i in 0..scheduler.created {
        let t = ThreadId(i as u16);
        let report = report(scheduler, t, running);
        // SAFETY: as many reports as threads.
        unsafe { (*block).threads[i] = report };
    }
}

fn report(scheduler: &Scheduler, t: ThreadId, running: ThreadId) -> ThreadReport {
    let thread = &scheduler.threads[t.index()];
    let pending = scheduler.pending[t.index()];
    let state = match thread.life {
        Life::None | Life::Ended if t == running => ThreadState::Enabled,
        Life::None | Life::Ended => ThreadState::Exited,
        Life::Alive if scheduler.enabled.contains(t) => ThreadState::Enabled,
        // The threads that perform asynchronous requests are not outside.
        Life::Alive if pending.kind == EventKind::RequestWait => ThreadState::Blocked,
        Life::Alive if matches!(thread.wait.get(), Wait::Polled(_)) => ThreadState::Outside,
        Life::Alive => ThreadState::Blocked,
    };
    // All fibers are seen through the one OS thread; a parked one has its registers saved.
    let fibers = crate::switch::fibers();
    let parked = fibers && t != running;
    ThreadReport {
        state: state as u8,
        kind: pending.kind as u8,
        holder: holder(scheduler, t).map_or(u16::MAX, |t| t.0),
        tid: if thread.tid != 0 && (fibers || t == running) { sys::gettid() } else { thread.tid },
        object: scheduler.address_of_object(t) as u64,
        deadline: thread.deadline,
        name: if fibers { thread.name } else { name(thread.tid) },
        start: thread.start as u64,
        context: if parked { thread.context as u64 } else { 0 },
        takers: takers(scheduler, t),
        call: sync_function::of(t),
        returned: sync_function::returned_to(t),
    }
}

/// The thread that holds what this one waits for.
fn holder(scheduler: &Scheduler, t: ThreadId) -> Option<ThreadId> {
    // SAFETY: the program keeps an object alive while threads wait for it.
    let owner = unsafe {
        match scheduler.threads[t.index()].wait.get() {
            Wait::Mutex(m) if (*m).protected() => {
                let holder = |t: &ThreadId| scheduler.threads[t.index()].tid as u32 == (*m).real_holder();
                return (0..scheduler.created).map(|i| ThreadId(i as u16)).find(holder);
            }
            Wait::Mutex(m) => (*m).holder(),
            Wait::Read(l) | Wait::Write(l) => (*l).holder(),
            Wait::Join(other) => return Some(other),
            _ => 0,
        }
    };
    let index = (owner as usize).checked_sub(1)?;
    (index < scheduler.created).then_some(ThreadId(index as u16))
}

/// The threads that took the word last on which this one waits in a futex, and the word before it.
fn takers(scheduler: &Scheduler, t: ThreadId) -> [u32; 2] {
    let word = scheduler.threads[t.index()].futex_word as usize;
    if word == 0 || !scheduler.notes_lock_words() {
        return [u32::MAX; 2];
    }
    // SAFETY: the calling thread holds the baton.
    let words = unsafe { &control::state().access.lock_words };
    [word, word - 4].map(|word| words.taker(word).map_or(u32::MAX, |t| t.0.into()))
}

/// A thread's name, as the kernel has it.
fn name(tid: i32) -> [u8; 16] {
    let mut path = [0u8; 64];
    struct Cursor<'a>(&'a mut [u8; 64], usize);
    impl Write for Cursor<'_> {
        fn write_str(&mut self, text: &str) -> fmt::Result {
            let end = self.1 + text.len();
            self.0.get_mut(self.1..end).ok_or(fmt::Error)?.copy_from_slice(text.as_bytes());
            self.1 = end;
            Ok(())
        }
    }
    let mut name = [0u8; 16];
    if write!(Cursor(&mut path, 0), "/proc/self/task/{tid}/comm\0").is_err() {
        return name;
    }
    // SAFETY: a path ended by zero, and a buffer of the length given.
    unsafe {
        let fd = syscall!(sys::SYS_open, path.as_ptr(), libc::O_RDONLY | libc::O_CLOEXEC);
        if fd >= 0 {
            let n = syscall!(libc::SYS_read, fd, name.as_mut_ptr(), 15);
            syscall!(libc::SYS_close, fd);
            // The kernel ends the name with a newline.
            if n > 0 {
                name[n as usize - 1] = 0;
            }
        }
    }
    name
}
