//! pthread_create and what follows from it: joining, detaching, ending.
//!
//! Every thread is really created. It starts in `trampoline` (as a fiber: in `fiber_main`), waits
//! for its first turn, and ends in a destructor of thread-specific data that is armed again until it
//! runs last, so that the program's own destructors run under control.
//!
//! A fiber with an identity of its own goes on from there through the rest of libc's thread exit, and
//! its last system call is trapped; a pooled one is left standing there, to be wound back.

use core::arch::global_asm;
use core::ffi::{c_int, c_void};
use core::mem::transmute;
use core::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering};

use libc::{timespec, EBUSY, EDEADLK, EINVAL, ETIMEDOUT};
use raddle_core::{Event, EventKind, ThreadId};
use raddle_protocol::{OsReason, Outcome};

use super::cancel::{self, act_on_cancel};
use super::mutex::abandon_robust;
use super::thread_attributes::abandon_robust_lists;
use super::time::{deadline, valid};
use super::{new_identity, thread_keys};
use crate::control::{self, call_real, current, point, scheduler, wait_through, LeaveOnDrop, Mode};
use crate::dispatch::Request;
use crate::os::sys;
use crate::process::failure;
use crate::scheduler::clock::NEVER;
use crate::scheduler::names;
use crate::scheduler::thread::{join_key, Life, Wait, Wake};
use crate::switch::os_threads::DYING;
use crate::switch::{fiber, fibers, gate, identity};
use crate::{dispatch, interpose, race, real};

type Routine = unsafe extern "C-unwind" fn(*mut c_void) -> *mut c_void;

extern "C" {
    fn pthread_setspecific(key: u32, value: *const c_void) -> c_int;
    fn pthread_attr_getdetachstate(attributes: *const c_void, state: *mut c_int) -> c_int;
    fn uselocale(locale: isize) -> isize;
}

/// LC_GLOBAL_LOCALE.
const GLOBAL_LOCALE: isize = -1;

// Whether a sanitizer is there, by weak references: asking dlsym for what is not there allocates. Programs
// with our own hooks have a __tsan_init too.
global_asm!(
    ".weak __asan_init",
    ".weak __tsan_get_report_data",
    ".globl raddle_sanitizer",
    ".hidden raddle_sanitizer",
    ".type raddle_sanitizer,@function",
    "raddle_sanitizer:",
    "mov rax, qword ptr [rip + __asan_init@GOTPCREL]",
    "or rax, qword ptr [rip + __tsan_get_report_data@GOTPCREL]",
    "ret",
);

extern "C" {
    fn raddle_sanitizer() -> usize;
}

/// The key of our destructor, plus one.
static KEY: AtomicU32 = AtomicU32::new(0);
/// Where glibc keeps a thread's kernel id, in bytes from its thread pointer; 0 when unknown.
static TID_OFFSET: AtomicUsize = AtomicUsize::new(0);
/// A sanitizer's pthread_create holds a lock with all signals blocked around ours: no point may stand
/// there after the thread exists.
static SANITIZED: AtomicBool = AtomicBool::new(false);
/// Rounds of destructors that glibc makes.
const ROUNDS: u8 = 4;

/// Prepares for threads; called once, before there is one.
pub fn prepare() {
    let mut key = 0;
    // SAFETY: plain calls; the key is created before the program's own, so it comes first in each
    // round and the last round ends with us.
    // Past our own interposition, which keeps the program's keys.
    let create = unsafe { real!(pthread_key_create: fn(*mut u32, usize) -> c_int) };
    // SAFETY: as above.
    if unsafe { create(&mut key, destructor as *const () as usize) } == 0 {
        KEY.store(key + 1, Ordering::Relaxed);
    }
    find_tid_offset();
    cancel::find_cancel_type();
    // SAFETY: reads two words that the loader has filled in.
    let sanitized = unsafe { raddle_sanitizer() } != 0;
    SANITIZED.store(sanitized, Ordering::Relaxed);
}

/// The main thread leaves through our destructor too when it calls pthread_exit.
pub fn adopt_main() {
    arm_destructor(ThreadId::MAIN);
    // SAFETY: the main thread holds the baton.
    let main = unsafe { scheduler() }.thread(ThreadId::MAIN);
    main.tid_word = tid_word(sys::thread_pointer());
}

fn arm_destructor(me: ThreadId) {
    if let Some(key) = KEY.load(Ordering::Relaxed).checked_sub(1) {
        // SAFETY: low keys live in the thread's control block: nothing is allocated.
        unsafe { pthread_setspecific(key, (me.index() + 1) as *const c_void) };
    }
}

/// glibc stores the kernel id in its `struct pthread`, where the kernel clears it on exit.
fn find_tid_offset() {
    let (pointer, tid) = (sys::thread_pointer(), sys::gettid());
    // The field is aligned to eight bytes; a pointer's upper half might look like an id.
    for offset in (0x2c0..0x400).step_by(8) {
        // SAFETY: inside glibc's `struct pthread`, which is more than 0x800 bytes long.
        if unsafe { *((pointer + offset) as *const i32) } == tid {
            return TID_OFFSET.store(offset, Ordering::Relaxed);
        }
    }
}

/// Whether enough is known of libc's control block for fibers.
pub fn knows_libc() -> bool {
    TID_OFFSET.load(Ordering::Relaxed) != 0 && cancel::knows_libc()
}

/// Whether the program is built with a sanitizer.
pub fn sanitized() -> bool {
    SANITIZED.load(Ordering::Relaxed)
}

/// The ids of fibers start above all ids that the kernel gives (PID_MAX_LIMIT), so that no system call
/// with one can reach a stranger.
const FIRST_ID: c_int = 1 << 22;

/// Where glibc keeps a thread's kernel id; null when that is not known.
pub fn tid_word(pointer: usize) -> *mut AtomicU32 {
    match TID_OFFSET.load(Ordering::Relaxed) {
        0 => core::ptr::null_mut(),
        offset => (pointer + offset) as *mut AtomicU32,
    }
}

/// Where every thread starts.
unsafe extern "C-unwind" fn trampoline(id: *mut c_void) -> *mut c_void {
    let me = ThreadId(id as usize as u16);
    // Nothing else is touched before the first turn.
    if control::parallel() {
        gate::first_step(me);
    } else {
        control::baton(me).take();
    }
    // SAFETY: `me` holds the baton from here on.
    let (start, argument) = unsafe { begin(me) };
    // SAFETY: as above.
    unsafe { names::begin(me) };
    control::leave();
    // SAFETY: the program's own routine and argument.
    unsafe { start(argument) }
}

/// The first turn of a thread.
#[link_section = "raddle_run"]
unsafe fn begin(me: ThreadId) -> (Routine, *mut c_void) {
    // SAFETY: `me` holds the baton.
    unsafe {
        let pointer = sys::thread_pointer();
        scheduler().depart(me);
        scheduler().pointers.insert(pointer, me);
        let thread = scheduler().thread(me);
        thread.pointer = pointer;
        thread.tid_word = tid_word(pointer);
        if fibers() {
            // libc's own recursive locks go by the id in the control block.
            thread.tid = FIRST_ID + me.index() as c_int;
            (*thread.tid_word).store(thread.tid as u32, Ordering::Relaxed);
        } else {
            thread.tid = sys::gettid();
        }
        super::restartable::adopt(me);
        let thread = scheduler().thread(me);
        let routine = (transmute::<usize, Routine>(thread.start), thread.argument);
        arm_destructor(me);
        if !fibers() {
            dispatch::arm(me);
            crate::signals::kernel::adopt(me);
        }
        routine
    }
}

/// Where every fiber starts, called by the frame that its identity was born with.
#[link_section = "raddle_run"]
pub unsafe extern "C-unwind" fn fiber_main() -> *mut c_void {
    // SAFETY: the new thread has just been given its first turn.
    unsafe {
        let Some(me) = scheduler().pointers.get(sys::thread_pointer()) else {
            failure::internal(format_args!("a fiber without a thread was started"));
        };
        let (start, argument) = begin(me);
        names::begin(me);
        let result = start(argument);
        // In a forked child the thread goes on as an ordinary one.
        if control::mode() == Mode::Controlled {
            let thread = scheduler().thread(me);
            thread.result = result;
            thread.returned = true;
        }
        result
    }
}

/// Runs among the destructors of thread-specific data, in every round; in the last one the thread
/// ends.
#[link_section = "raddle_run"]
unsafe extern "C-unwind" fn destructor(id: *mut c_void) {
    let me = ThreadId((id as usize - 1) as u16);
    if control::mode() != Mode::Controlled {
        return;
    }
    let Some(current) = current() else { return };
    let _leave = LeaveOnDrop::armed();
    if current != me {
        return;
    }
    // SAFETY: `me` holds the baton.
    let thread = unsafe { scheduler() }.thread(me);
    thread.destructor_rounds += 1;
    if thread_keys::any_value() {
        if thread.destructor_rounds < ROUNDS {
            return arm_destructor(me);
        }
        // libc would call these after us.
        let ours = KEY.load(Ordering::Relaxed) - 1;
        thread_keys::call_destructors_after(me, ours);
    }
    // SAFETY: as above.
    unsafe { end(me) };
}

/// The thread's last step.
unsafe fn end(me: ThreadId) {
    point(me, EventKind::Exit, join_key(me));
    // SAFETY: `me` holds the baton until it gives it away below.
    unsafe {
        abandon_robust(me);
        abandon_robust_lists(me);
        if !fibers() {
            dispatch::disarm(me);
        }
        race::ended(me, join_key(me));
        control::state().signals.queue.forget_thread(me);
        let s = scheduler();
        s.alive -= 1;
        s.enabled.set(me, false);
        let thread = s.thread(me);
        let (pointer, word, detached) = (thread.pointer, thread.tid_word, thread.detached);
        thread.pointer = 0;
        thread.life = if detached { Life::None } else { Life::Ended };
        if detached {
            scheduler().pointers.remove(pointer);
        }
        LAST_ENDED.store(u32::from(me.0) + 1, Ordering::Relaxed);
        LAST_POINTER.store(pointer, Ordering::Relaxed);
        s.progressed();
        s.changed(join_key(me));
        if s.alive == 0 {
            // glibc ends the process after the last thread, outside control.
            failure::record(s, Outcome::Exited);
            control::leave_for_good();
            control::pass_through();
            if fibers() {
                dispatch::disarm(me);
                real!(exit: fn(c_int) -> !)(0);
            }
            return;
        }
        if control::parallel() {
            return gate::ended(me);
        }
        let next = s.decide(me);
        if fibers() {
            return leave(me, next);
        }
        DYING.set(word);
        control::baton(next).give();
    }
}

/// The thread that took its last step last, plus one, and its thread pointer.
static LAST_ENDED: AtomicU32 = AtomicU32::new(0);
static LAST_POINTER: AtomicUsize = AtomicUsize::new(0);

/// The thread with this thread pointer that has ended and is still on its way out: of a detached one nothing else
/// is known.
pub fn ended_at(pointer: usize) -> Option<ThreadId> {
    let id = LAST_ENDED.load(Ordering::Relaxed).checked_sub(1)?;
    (LAST_POINTER.load(Ordering::Relaxed) == pointer).then_some(ThreadId(id as u16))
}

/// The thread that goes on when the fiber that leaves through libc has left, plus one.
static SUCCESSOR: AtomicU32 = AtomicU32::new(0);

/// A fiber has taken its last step.
unsafe fn leave(me: ThreadId, next: ThreadId) {
    // SAFETY: `me` runs until it loads `next`.
    unsafe {
        let thread = scheduler().thread(me);
        let marked = thread.cancel_requested || thread.cancel_disabled || thread.cancel_async;
        if thread.identity != 0 && thread.returned && !marked {
            if identity::reuses() {
                thread_keys::forget_values();
                uselocale(GLOBAL_LOCALE);
            }
            if thread.detached {
                identity::release(thread.identity);
            }
            fiber::leave_to(next);
        }
        // Cancellation and pthread_exit leave marks in libc's control block: such an identity is not
        // used again.
        if thread.identity != 0 {
            identity::retire(thread.identity);
            thread.identity = 0;
            if thread.detached {
                detach_in_libc(thread.fs);
            }
        }
        SUCCESSOR.store(u32::from(next.0) + 1, Ordering::Relaxed);
    }
}

/// A pooled identity is joinable as far as libc knows.
unsafe fn detach_in_libc(handle: usize) {
    // SAFETY: the thread has not ended for libc.
    unsafe { real!(pthread_detach: fn(usize) -> c_int)(handle) };
}

/// Whether a fiber is on its way out, in libc's thread exit.
pub fn is_leaving() -> bool {
    SUCCESSOR.load(Ordering::Relaxed) != 0
}

/// The system calls of a fiber on its way out. The last one is the thread's end: another thread takes
/// over.
pub unsafe fn last_calls(request: &Request) -> isize {
    // SAFETY: libc's own calls; the leaving thread holds the baton.
    unsafe {
        match request.number {
            libc::SYS_exit => {
                let next = SUCCESSOR.swap(0, Ordering::Relaxed) - 1;
                // What the kernel does at a thread's end. From here on libc may give the stack away.
                let word = tid_word(sys::thread_pointer());
                (*word).store(0, Ordering::Release);
                fiber::leave_to(ThreadId(next as u16))
            }
            // Blocking all signals would block the trap too.
            libc::SYS_rt_sigprocmask => 0,
            _ => request.pass_to_kernel(),
        }
    }
}

/// Whether a thread is to have a scheduling class or a priority of its own.
unsafe fn asks_for_scheduling(attributes: *const c_void) -> bool {
    const INHERIT: c_int = 0;
    let (mut inherits, mut policy) = (INHERIT, libc::SCHED_OTHER);
    // SAFETY: the caller's attributes.
    unsafe {
        libc::pthread_attr_getinheritsched(attributes.cast(), &mut inherits);
        libc::pthread_attr_getschedpolicy(attributes.cast(), &mut policy);
    }
    inherits != INHERIT && policy != libc::SCHED_OTHER
}

/// Creates a thread; shared by pthread_create and thrd_create.
pub(super) unsafe fn create(
    me: ThreadId,
    handle: *mut usize,
    attributes: *const c_void,
    start: usize,
    argument: *mut c_void,
    really_create: impl FnOnce(*mut usize, *const c_void, usize, *mut c_void) -> c_int,
) -> c_int {
    point(me, EventKind::Create, 0);
    // SAFETY: `me` holds the baton.
    unsafe {
        let Some(child) = scheduler().new_thread() else {
            failure::stop(scheduler(), Outcome::TooManyThreads);
        };
        let thread = scheduler().thread(child);
        thread.start = start;
        thread.argument = argument;
        if !attributes.is_null() {
            let mut detached = 0;
            pthread_attr_getdetachstate(attributes, &mut detached);
            thread.detached = detached == libc::PTHREAD_CREATE_DETACHED;
            if asks_for_scheduling(attributes) {
                failure::needs_os_threads(OsReason::Affinity);
            }
        }
        thread.signal_mask = super::signal::mask_in(attributes).unwrap_or(scheduler().threads[me.index()].signal_mask);
        thread.processors = super::processors::of_new_thread(me, attributes);
        if control::parallel() {
            gate::park_until_created(child);
        }
        let id = child.index() as *mut c_void;
        let result = if fibers() {
            new_identity::give_identity(me, child, handle, attributes, really_create)
        } else {
            call_real(me, || really_create(handle, attributes, trampoline as *const () as usize, id))
        };
        if result != 0 {
            scheduler().discard(child);
            return result;
        }
        // Others may name the thread before its first turn.
        scheduler().thread(child).pointer = 0;
        race::created(me, child);
        scheduler().pointers.insert(*handle, child);
        scheduler().launched(child);
        if !SANITIZED.load(Ordering::Relaxed) {
            // What the creator does next may need the new thread to have run, or not to have run.
            point(me, EventKind::Created, 0);
        }
        0
    }
}

/// Whether a time is none that the end of a thread can be waited for. Of a thread that has ended any time will do.
unsafe fn cannot_wait_until(handle: usize, time: *const timespec) -> bool {
    // SAFETY: the caller's time; the baton.
    unsafe {
        let alive = |other: ThreadId| scheduler().threads[other.index()].life == Life::Alive;
        !time.is_null() && !valid(time) && scheduler().pointers.get(handle).is_none_or(alive)
    }
}

/// Waits for a thread's end and really joins it. `Err` means that the caller is to be cancelled.
#[link_section = "raddle_run"]
pub(super) unsafe fn join(me: ThreadId, handle: usize, value: *mut *mut c_void, deadline: u64) -> Result<c_int, ()> {
    // SAFETY: `me` holds the baton whenever it runs.
    unsafe {
        let Some(other) = scheduler().pointers.get(handle) else {
            return Ok(real!(pthread_join: fn(usize, *mut *mut c_void) -> c_int)(handle, value));
        };
        let thread = &scheduler().threads[other.index()];
        if thread.detached {
            return Ok(EINVAL);
        }
        // A request that is pending ends one of the two waits.
        let joins_me = thread.joining == u32::from(me.0) + 1 && !thread.cancel_requested;
        let mine = &scheduler().threads[me.index()];
        let is_ending = mine.cancel_requested && !mine.cancel_disabled;
        if (other == me || joins_me) && !is_ending {
            return Ok(EDEADLK);
        }
        if thread.joined {
            return Ok(EINVAL);
        }
        scheduler().thread(other).joined = true;
        let thread = scheduler().thread(me);
        thread.joining = u32::from(other.0) + 1;
        thread.cancellable = true;
        let request = thread.cancel_requested && !thread.cancel_disabled;
        let wake = if request {
            Wake::Cancelled
        } else {
            wait_through(me, Event::new(EventKind::Join, join_key(other)), Wait::Join(other), deadline)
        };
        scheduler().thread(other).joined = false;
        let thread = scheduler().thread(me);
        thread.joining = 0;
        thread.cancellable = false;
        match wake {
            Wake::Cancelled => Err(()),
            Wake::TimedOut => Ok(ETIMEDOUT),
            _ => Ok(join_ended(me, other, handle, value)),
        }
    }
}

/// Joins a thread that has ended.
#[link_section = "raddle_run"]
unsafe fn join_ended(me: ThreadId, other: ThreadId, handle: usize, value: *mut *mut c_void) -> c_int {
    // SAFETY: `me` holds the baton.
    unsafe {
        race::acquire(me, join_key(other));
        let thread = scheduler().thread(other);
        let result = if thread.identity != 0 {
            if !value.is_null() {
                *value = thread.result;
            }
            identity::release(thread.identity);
            thread.identity = 0;
            0
        } else {
            call_real(me, || real!(pthread_join: fn(usize, *mut *mut c_void) -> c_int)(handle, value))
        };
        scheduler().pointers.remove(handle);
        scheduler().thread(other).life = Life::None;
        result
    }
}

/// The thread that creates another one. A constructor that starts a thread before main starts the
/// run.
#[link_section = "raddle_run"]
pub(super) fn creator() -> Option<ThreadId> {
    if control::mode() == Mode::Before {
        crate::process::start::begin_early();
    }
    current()
}

#[cfg_attr(not(test), no_mangle)]
#[link_section = "raddle_run"]
pub unsafe extern "C-unwind" fn pthread_create(
    handle: *mut usize,
    attributes: *const c_void,
    start: usize,
    argument: *mut c_void,
) -> c_int {
    // SAFETY: the caller keeps pthread_create's contract.
    unsafe {
        let really = real!(pthread_create: fn(*mut usize, *const c_void, usize, *mut c_void) -> c_int);
        let Some(me) = creator() else { return really(handle, attributes, start, argument) };
        let _leave = LeaveOnDrop::armed();
        create(me, handle, attributes, start, argument, |handle, attributes, start, argument| {
            really(handle, attributes, start, argument)
        })
    }
}

interpose! {

    #[link_section = "raddle_run"]
    fn pthread_join(handle: usize, value: *mut *mut c_void) -> c_int |me| {
        match join(me, handle, value, NEVER) {
            Ok(result) => result,
            Err(()) => { act_on_cancel(me); 0 }
        }
    }

    fn pthread_tryjoin_np(handle: usize, value: *mut *mut c_void) -> c_int |me| {
        point(me, EventKind::Join, handle);
        match scheduler().pointers.get(handle) {
            Some(other) if scheduler().threads[other.index()].life == Life::Alive => {
                scheduler().made_no_progress(me);
                EBUSY
            }
            Some(other) => join_ended(me, other, handle, value),
            None => real!(pthread_tryjoin_np: fn(usize, *mut *mut c_void) -> c_int)(handle, value),
        }
    }

    fn pthread_timedjoin_np(handle: usize, value: *mut *mut c_void, time: *const timespec) -> c_int |me| {
        if cannot_wait_until(handle, time) {
            return EINVAL;
        }
        match join(me, handle, value, deadline(libc::CLOCK_REALTIME, time)) {
            Ok(result) => result,
            Err(()) => { act_on_cancel(me); 0 }
        }
    }

    fn pthread_clockjoin_np(handle: usize, value: *mut *mut c_void, clock: c_int, time: *const timespec) -> c_int |me| {
        if clock != libc::CLOCK_REALTIME && clock != libc::CLOCK_MONOTONIC || cannot_wait_until(handle, time) {
            return EINVAL;
        }
        match join(me, handle, value, deadline(clock, time)) {
            Ok(result) => result,
            Err(()) => { act_on_cancel(me); 0 }
        }
    }

    /// Lets a thread end on its own.
    fn pthread_detach(handle: usize) -> c_int |me| {
        point(me, EventKind::Detach, handle);
        if let Some(other) = scheduler().pointers.get(handle) {
            let thread = scheduler().thread(other);
            if thread.detached {
                return EINVAL;
            }
            thread.detached = true;
            let (ended, pooled) = (thread.life == Life::Ended, thread.identity);
            if ended {
                thread.life = Life::None;
                scheduler().pointers.remove(handle);
            }
            if pooled != 0 {
                if ended {
                    scheduler().thread(other).identity = 0;
                    identity::release(pooled);
                }
                return 0;
            }
        }
        call_real(me, || real!(pthread_detach: fn(usize) -> c_int)(handle))
    }
}
