//! The parallel gate: OS threads run freely, on all cores, and pass schedule points one at a time.
//!
//! One lock guards all of the runtime's state. A thread takes it when it enters the runtime and gives it back when it
//! returns to the program's own code. At a point it waits until what it needs is there and the policy lets it go. The
//! operation itself follows under the same lock, so the order in which threads pass is the order in which operations
//! take effect. A thread that waits at a point gives the lock back and rests on a word of its own; a thread that
//! leaves the runtime lets go the threads that may go by then.
//!
//! Waiting threads poll the running ones if they have a reason to: the policy holds them back, or they wait for a
//! time or for something outside. While a running thread computes without reaching a point, virtual time keeps pace
//! with real time. When it sleeps in the kernel, in something that is not modelled, it counts as blocked after N
//! polls, until it comes back (NeedlePoint section 3.1.2).

use core::sync::atomic::{AtomicU32, AtomicUsize, Ordering};

use raddle_core::decorators::guard::SPINNING;
use raddle_core::policy::ParallelPoint;
use raddle_core::{EnabledSet, Event, Rng, ThreadId};
use raddle_protocol::Escape;

use crate::access::spin_loop;
use crate::control::{self, baton, scheduler, state, State};
use crate::dispatch;
use crate::os::sys;
use crate::scheduler::thread::{Life, Packed, Wake};
use crate::signals::deliver::deliver;
use crate::switch::placement::Placement;

/// The lock: free, taken, or taken while others wait for it.
static LOCK: AtomicU32 = AtomicU32::new(FREE);
const FREE: u32 = 0;
const TAKEN: u32 = 1;
const WANTED: u32 = 2;

/// The thread pointer of the lock's owner; 0 for none. Only the owner can find its own pointer here.
static OWNER: AtomicUsize = AtomicUsize::new(0);

/// How often the lock is tried before the kernel is asked. Most are held for a tenth of a microsecond.
const LOCK_SPINS: u32 = 200;

/// Threads that are woken after the lock was given back, so that they do not run into it.
const MOST_WOKEN: usize = 32;

/// Nanoseconds between two polls of the running threads, at first and at most.
const FIRST_POLL: u64 = 200_000;
const LONGEST_POLL: u64 = 10_000_000;

/// The shortest time, in nanoseconds, between two steps of a thread that starves.
const SHORTEST_PATIENCE: u64 = 1_000_000;

/// The threads at the gate. Valid when zeroed.
#[repr(C)]
pub struct Gate {
    /// How deep the owner of the lock is inside the runtime.
    depth: u32,
    /// The run has failed: no thread passes from now on.
    shut: bool,
    /// How many threads wait at a point.
    parked: usize,
    /// How many threads count as blocked, in something that is not modelled.
    blocked_outside: usize,
    /// The waiting threads that could go on and may not.
    held: EnabledSet,
    /// The starvation guard's own choices.
    rng: Rng,
    /// The points at the last poll, and when that was.
    points_at_last_poll: u64,
    last_poll_at: u64,
    /// When a point was last seen to have been passed.
    last_point_at: u64,
    /// How long no point has to be passed before a held thread may go; 0: as long as the policy says.
    patience: u64,
    /// Polls in a row that found all running threads asleep.
    polls_all_asleep: u32,
    /// How often in a row a thread that spins had to wait for one that computes.
    yields_to_computing: u32,
    to_wake: [ThreadId; MOST_WOKEN],
    to_wake_count: usize,
    placement: Placement,
}

/// A parallel run starts.
pub fn start_run() {
    // SAFETY: there is one thread.
    let State { scheduler: s, gate, .. } = unsafe { state() };
    gate.rng = Rng::for_purpose(s.settings().seed, 1);
    s.escaped(Escape::Parallel);
    if s.parallel_policy().spreads_over_cores() {
        gate.placement.start();
    }
}

fn take() {
    if LOCK.compare_exchange(FREE, TAKEN, Ordering::Acquire, Ordering::Relaxed).is_err() {
        take_slowly();
    }
    OWNER.store(sys::thread_pointer(), Ordering::Relaxed);
}

#[cold]
fn take_slowly() {
    for _ in 0..LOCK_SPINS {
        core::hint::spin_loop();
        let free = LOCK.load(Ordering::Relaxed) == FREE;
        if free && LOCK.compare_exchange(FREE, TAKEN, Ordering::Acquire, Ordering::Relaxed).is_ok() {
            return;
        }
    }
    while LOCK.swap(WANTED, Ordering::Acquire) != FREE {
        sys::futex_wait(&LOCK, WANTED);
    }
}

/// Gives the lock back, and wakes the threads that were let go.
fn give() {
    // SAFETY: the caller has the lock.
    let gate = unsafe { &mut state().gate };
    let (woken, wakes) = (gate.to_wake, core::mem::take(&mut gate.to_wake_count));
    OWNER.store(0, Ordering::Relaxed);
    if LOCK.swap(FREE, Ordering::Release) == WANTED {
        sys::futex_wake(&LOCK);
    }
    // The first may have been given the core of the thread that wakes it, and take that at once.
    woken[..wakes].iter().rev().for_each(|t| baton(*t).give());
}

/// Whether the calling thread has the lock.
fn is_mine() -> bool {
    OWNER.load(Ordering::Relaxed) == sys::thread_pointer()
}

/// The way into the runtime: the calling thread, with the lock, if it is one of ours and not in a call of the real
/// library.
pub fn enter() -> Option<ThreadId> {
    let pointer = sys::thread_pointer();
    // SAFETY: a word that is set once, before a foreign thread exists. Such a thread may have the thread pointer of
    // one of ours.
    let foreign = unsafe { scheduler() }.foreign_threads;
    if is_mine() {
        // SAFETY: the thread has the lock already.
        let State { scheduler: s, gate, .. } = unsafe { state() };
        let thread = &s.threads[s.current.index()];
        if thread.inside != 0 || foreign && thread.tid != sys::gettid() {
            return None;
        }
        gate.depth += 1;
        return Some(s.current);
    }
    take();
    // SAFETY: the lock is ours.
    let it = unsafe { state() };
    let s = &mut it.scheduler;
    let known = s.pointers.get(pointer).filter(|me| {
        let thread = &s.threads[me.index()];
        let ours = thread.life == Life::Alive && thread.pointer == pointer && thread.inside == 0;
        ours && (!foreign || thread.tid == sys::gettid())
    });
    match known {
        Some(me) => entered(it, me, 1),
        None => give(),
    }
    known
}

/// The calling thread is in the runtime.
fn entered(it: &mut State, me: ThreadId, depth: u32) {
    let State { scheduler: s, gate, .. } = it;
    s.current = me;
    gate.depth = depth;
    if core::mem::take(&mut s.thread(me).blocked_outside) {
        gate.blocked_outside -= 1;
        s.enabled.set(me, true);
    }
}

/// The way out of the runtime.
pub fn leave() {
    if !is_mine() {
        return;
    }
    // SAFETY: the lock is ours.
    let it = unsafe { state() };
    it.gate.depth -= 1;
    if it.gate.depth == 0 {
        admit_ready(it);
        give();
    }
}

/// Leaves the runtime from however deep inside; 0 for a thread that is not inside.
pub fn leave_fully() -> u32 {
    if !is_mine() {
        return 0;
    }
    // SAFETY: the lock is ours.
    let it = unsafe { state() };
    let depth = core::mem::take(&mut it.gate.depth);
    admit_ready(it);
    give();
    depth
}

/// Comes back as deep inside as it was.
pub fn reenter(me: ThreadId, depth: u32) {
    if depth == 0 || !control::parallel() {
        return;
    }
    take();
    // SAFETY: the lock is ours.
    entered(unsafe { state() }, me, depth);
}

/// Takes the lock for a thread, whatever it is, that has something to note at the end of the run.
pub fn seize() {
    if !control::parallel() || is_mine() {
        return;
    }
    take();
    // SAFETY: the lock is ours.
    let it = unsafe { state() };
    it.gate.depth = 1;
    if let Some(me) = it.scheduler.pointers.get(sys::thread_pointer()) {
        it.scheduler.current = me;
    }
}

/// A schedule point: the thread is about to do `event`, for which it needs `wait` before `deadline`.
pub fn wait(me: ThreadId, event: Event, wait: Packed, deadline: u64) -> Wake {
    loop {
        // SAFETY (all below): `me` has the lock; references end before it is given back.
        let s = unsafe { scheduler() };
        if core::mem::take(&mut s.thread(me).trap_again) {
            dispatch::selector(me).store(1, Ordering::Relaxed);
        }
        if s.instrumented {
            unsafe { control::arrives_instrumented(me, event.kind) };
        }
        // A thread that waits on a condition has left its mutex: no other must come in between before this is noted.
        s.arrive_in_parallel(me, event, wait, deadline);
        let pause = if s.alive > 1 { s.parallel_policy().sleep_nanoseconds() } else { 0 };
        if pause > 0 {
            sleep_at_point(me, pause);
        }
        give_way_to_computing(me);
        wait_at_point(me);
        let s = unsafe { scheduler() };
        let wake = s.depart(me);
        if s.threads[me.index()].signals != 0 {
            deliver(me);
            // While the handler ran, others may have taken what was there.
            if wake == Wake::Go && wait.get().key() != 0 {
                continue;
            }
        }
        return wake;
    }
}

/// If the threads that pass points only spin while another one computes, they wait for that one, with pauses.
fn give_way_to_computing(me: ThreadId) {
    // SAFETY: `me` has the lock.
    let State { scheduler: s, gate, .. } = unsafe { state() };
    match s.only_spinning(me) {
        None => gate.yields_to_computing = 0,
        Some(true) => s.nothing_progresses(),
        Some(false) => {
            let moment = 20_000 << gate.yields_to_computing.min(6);
            gate.yields_to_computing += 1;
            s.progressed();
            sleep_at_point(me, moment);
        }
    }
}

/// Sleeps in real time, at a point.
fn sleep_at_point(me: ThreadId, nanoseconds: u64) {
    // SAFETY: `me` has the lock, before and after.
    unsafe { scheduler() }.thread(me).sleeps_at_point = true;
    control::unlocked(me, || sys::sleep(nanoseconds));
    // SAFETY: as above.
    unsafe { scheduler() }.thread(me).sleeps_at_point = false;
}

/// Waits at a point until the thread can go on and may.
fn wait_at_point(me: ThreadId) {
    // SAFETY: `me` has the lock.
    let depth = unsafe { state() }.gate.depth;
    loop {
        // SAFETY: as above; the reference ends before the lock is given back.
        let it = unsafe { state() };
        if it.scheduler.enabled.contains(me) && may_go(it, me) {
            break;
        }
        park(it, me);
        admit_ready(it);
        while_none_runs(me);
        rest(me);
    }
    // SAFETY: as above.
    let it = unsafe { state() };
    it.gate.depth = depth;
    let forced = core::mem::take(&mut it.scheduler.thread(me).forced);
    if !forced {
        it.gate.patience = 0;
    }
    it.scheduler.take_step(me);
    starvation_guard(it, me);
}

/// The first step of a thread, whose creator has parked it.
pub fn first_step(me: ThreadId) {
    take();
    rest(me);
    // SAFETY: the lock is ours.
    unsafe { state() }.gate.depth = 1;
    wait_at_point(me);
}

/// A thread is about to be created: it waits until its creator says that it exists.
pub fn park_until_created(t: ThreadId) {
    // SAFETY: the caller has the lock.
    unsafe { scheduler() }.thread(t).parked = true;
    baton(t).shut();
}

/// A thread exists, and waits before its first step.
pub fn launched(t: ThreadId) {
    // SAFETY: the caller has the lock.
    park(unsafe { state() }, t);
}

/// The run has failed and is about to end: no thread passes the gate from now on.
pub fn shut() {
    // SAFETY: the caller has the lock.
    unsafe { state() }.gate.shut = true;
}

/// The thread has taken its last step. The lock is given back.
pub fn ended(me: ThreadId) {
    // SAFETY: `me` has the lock.
    admit_ready(unsafe { state() });
    while_none_runs(me);
    // SAFETY: as above.
    unsafe { state() }.gate.depth = 0;
    give();
}

fn park(it: &mut State, me: ThreadId) {
    let State { scheduler: s, gate, .. } = it;
    s.thread(me).parked = true;
    baton(me).shut();
    gate.parked += 1;
    gate.held.set(me, s.enabled.contains(me));
}

fn may_go(it: &mut State, t: ThreadId) -> bool {
    let others = running(it) - usize::from(!it.scheduler.threads[t.index()].parked);
    let s = &mut it.scheduler;
    let policy = s.parallel_policy();
    !it.gate.shut
        && (s.threads[t.index()].forced
            || policy.may_run(t, &ParallelPoint { enabled: &s.enabled, others_run: others > 0 }))
}

/// Rests until another thread lets this one go.
fn rest(me: ThreadId) {
    let mut looks = 0;
    loop {
        // SAFETY: `me` has the lock; the reference ends before it is given back.
        let it = unsafe { state() };
        it.scheduler.current = me;
        if !it.scheduler.threads[me.index()].parked {
            it.scheduler.thread(me).let_go = false;
            if core::mem::take(&mut it.scheduler.thread(me).placed) {
                it.gate.placement.release();
            }
            return;
        }
        let hurries = it.gate.held.contains(me) || it.scheduler.waits_for_time_or_outside(me);
        it.scheduler.thread(me).polls_runners = hurries;
        baton(me).shut();
        let awake = it.gate.polls_all_asleep > 0;
        let look = if awake { FIRST_POLL } else { (FIRST_POLL << looks.min(16)).min(LONGEST_POLL) };
        give();
        baton(me).rest(hurries.then_some(look));
        take();
        // SAFETY: as above.
        let it = unsafe { state() };
        it.scheduler.current = me;
        if it.scheduler.threads[me.index()].parked && hurries {
            looks += 1;
            poll_runners(it);
            while_none_runs(me);
        }
    }
}

/// How many threads run, or are about to.
fn running(it: &State) -> usize {
    it.scheduler.alive - it.gate.parked - it.gate.blocked_outside
}

/// Something may have changed: lets all threads go that can go on and may.
fn admit_ready(it: &mut State) {
    it.scheduler.catch_up();
    let State { scheduler: s, gate, .. } = it;
    let (enabled, threads, held) = (&s.enabled, &s.threads, &mut gate.held);
    for (t, on) in enabled.changes() {
        if threads[t.index()].parked {
            held.set(t, on);
        }
    }
    s.enabled.settle();
    let mut k = 0;
    while let Some(t) = it.gate.held.nth(k) {
        if may_go(it, t) {
            wake(it, t);
            continue;
        }
        // From here on it has a reason to poll the running threads.
        if !core::mem::replace(&mut it.scheduler.thread(t).polls_runners, true) {
            queue_wake(&mut it.gate, t);
        }
        k += 1;
    }
}

/// Lets one thread go, which checks for itself whether it still can.
fn wake(it: &mut State, t: ThreadId) {
    place_on_core(it, t);
    let State { scheduler: s, gate, .. } = it;
    gate.held.set(t, false);
    gate.parked -= 1;
    s.thread(t).parked = false;
    s.thread(t).let_go = true;
    queue_wake(gate, t);
}

/// Has a thread woken on a core where no other runs. It cannot go on before the lock is given back, so the core is its
/// own only until it [checks for itself](rest) whether it can.
fn place_on_core(it: &mut State, t: ThreadId) {
    if running(it) >= it.gate.placement.cores() {
        return;
    }
    let State { scheduler: s, gate, .. } = it;
    let (me, tid) = (s.current, s.threads[t.index()].tid);
    // A new thread has no id yet, and a thread that lets itself go stays where it is.
    if tid == 0 || t == me {
        return;
    }
    let runs = |t: ThreadId| s.threads[t.index()].life == Life::Alive && !s.threads[t.index()].parked;
    if let Some(core) = gate.placement.choose(me, sys::core_here(), t, runs) {
        s.thread(t).placed = true;
        sys::run_on(tid, 1 << core);
    }
}

/// Wakes a thread when the lock is given back.
fn queue_wake(gate: &mut Gate, t: ThreadId) {
    if gate.to_wake_count == MOST_WOKEN {
        baton(t).give();
    } else {
        gate.to_wake[gate.to_wake_count] = t;
        gate.to_wake_count += 1;
    }
}

/// While no thread runs and none can: time passes, something comes from outside, or it is a deadlock.
fn while_none_runs(me: ThreadId) {
    loop {
        // SAFETY: `me` has the lock; the reference ends before it is given back.
        let it = unsafe { state() };
        if running(it) > 0 || it.gate.shut {
            return;
        }
        if let Some(t) = it.gate.held.nth(0) {
            // The policy holds all threads back, which it must not: one goes all the same.
            it.scheduler.thread(t).forced = true;
        } else if !it.scheduler.enabled.is_empty() {
            // A thread that is blocked outside is to handle a signal.
            sleep_outside(me, FIRST_POLL);
        } else if let Some(nap) = it.scheduler.idle_in_parallel(me, it.gate.blocked_outside > 0) {
            sleep_outside(me, nap);
        }
        // SAFETY: as above.
        admit_ready(unsafe { state() });
    }
}

/// Sleeps without the lock until something outside may have happened, or for a while at most.
fn sleep_outside(me: ThreadId, at_most: u64) {
    // SAFETY: `me` has the lock; the reference ends before it is given back.
    let it = unsafe { state() };
    let depth = it.gate.depth;
    let wait = it.scheduler.outside(at_most);
    let before = sys::real_monotonic();
    give();
    wait.sleep();
    take();
    // SAFETY: as above.
    let it = unsafe { state() };
    it.scheduler.current = me;
    it.gate.depth = depth;
    it.scheduler.real_time_passed(sys::real_monotonic() - before);
}

/// A waiting thread polls the running ones: do they make progress?
fn poll_runners(it: &mut State) {
    let now = sys::real_monotonic();
    let points = it.scheduler.results().points;
    if core::mem::replace(&mut it.gate.points_at_last_poll, points) != points || it.gate.last_poll_at == 0 {
        (it.gate.last_poll_at, it.gate.last_point_at, it.gate.polls_all_asleep) = (now, now, 0);
    } else {
        let passed = now - core::mem::replace(&mut it.gate.last_poll_at, now);
        it.scheduler.real_time_passed(passed);
        it.gate.polls_all_asleep = if all_asleep(it) { it.gate.polls_all_asleep + 1 } else { 0 };
        let patience = it.scheduler.parallel_policy().patience();
        if it.gate.polls_all_asleep > it.scheduler.settings().run.yields {
            it.gate.polls_all_asleep = 0;
            count_runners_as_blocked(it);
        }
        let starving = if it.gate.patience == 0 { patience } else { it.gate.patience };
        if now - it.gate.last_point_at > starving && force_one(it) {
            it.gate.patience = (starving / 2).max(SHORTEST_PATIENCE);
            it.gate.last_point_at = now;
        }
    }
    it.scheduler.poll_kernel();
    admit_ready(it);
}

/// The threads that run, as far as is known.
fn runners(it: &State) -> impl Iterator<Item = ThreadId> + '_ {
    let s = &it.scheduler;
    let runs = |i: &usize| s.threads[*i].life == Life::Alive && !s.threads[*i].parked && !s.threads[*i].blocked_outside;
    (0..s.created).filter(runs).map(|i| ThreadId(i as u16))
}

/// Whether at least one thread runs and all that do sleep in the kernel. A thread that was let go is about to run, however
/// long the kernel takes to schedule it.
fn all_asleep(it: &State) -> bool {
    let mut any = false;
    runners(it).all(|t| {
        any = true;
        let thread = &it.scheduler.threads[t.index()];
        thread.tid != 0 && !thread.let_go && !thread.sleeps_at_point && sys::thread_sleeps(thread.tid)
    }) && any
}

/// All running threads count as blocked until they come back.
fn count_runners_as_blocked(it: &mut State) {
    it.scheduler.escaped(Escape::UncontrolledCall);
    let created = it.scheduler.created;
    for t in (0..created).map(|i| ThreadId(i as u16)) {
        let State { scheduler: s, gate, .. } = it;
        let thread = s.thread(t);
        if thread.life == Life::Alive && !thread.parked && !thread.blocked_outside {
            thread.blocked_outside = true;
            gate.blocked_outside += 1;
            s.enabled.set(t, false);
        }
    }
}

/// NeedlePoint section 5.5: one of the held threads, drawn at random, takes a step. Returns whether there is one.
fn force_one(it: &mut State) -> bool {
    let State { scheduler: s, gate, .. } = it;
    let count = gate.held.len() as u64;
    if count == 0 {
        return false;
    }
    let k = gate.rng.below(count) as usize;
    if let Some(t) = gate.held.nth(k) {
        s.thread(t).forced = true;
        s.results().guard_fired += 1;
    }
    true
}

/// The starvation guard, after a step of `me`.
fn starvation_guard(it: &mut State, me: ThreadId) {
    if it.gate.held.is_empty() {
        return;
    }
    // Some may not be held but on their way.
    admit_ready(it);
    if it.gate.held.is_empty() {
        return;
    }
    let settings = it.scheduler.settings().run.guard;
    let spins = it.scheduler.threads[me.index()].spins >= SPINNING;
    let fires = settings.override_probability > 0.0 && it.gate.rng.chance(settings.override_probability)
        || spins && settings.lower_probability > 0.0 && it.gate.rng.chance(settings.lower_probability);
    if fires {
        force_one(it);
    }
}

/// Wakes the threads that read the same values again and again, where a value has changed; all of them, if no other
/// thread can go on.
pub fn wake_spinning(s: &mut crate::scheduler::Scheduler, alone: bool) {
    if s.any_spinning {
        spin_loop::wake_changed(s);
        if alone && s.enabled.is_empty() {
            spin_loop::wake_all(s);
        }
    }
}
