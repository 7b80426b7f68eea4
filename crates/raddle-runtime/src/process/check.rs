//! Checks: tests in the program that run again and again in one process.
//!
//! A program with checks carries an ELF note (`include/raddle.h`, the crate `raddle`), and runs
//! uncontrolled except for the bodies of its checks. The thread that calls a check is the main thread of
//! each run. The command line asks for series of runs by their numbers; a run's seed depends on the campaign's
//! seed and its number only. Before the first run of a process the body is run once without
//! preemptions, so that what it sets up once for all is there in every run that counts, also in a
//! replay. Runs whose number is a power of two are made twice, the second time with the decisions of
//! the first: what then differs is state that leaks between iterations.

use core::ffi::{c_char, c_int, c_void, CStr};
use core::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use raddle_core::{Event, EventKind, ThreadId};
use raddle_protocol::check::CHECKS;
use raddle_protocol::control::{command, event};
use raddle_protocol::results::SUMMARIES;
use raddle_protocol::settings::flag;
use raddle_protocol::{text, Block, CheckRequest, Escape, Outcome, Points, Summary};

use crate::access::lease::Lease;
use crate::control::{self, scheduler, wait_through, Mode};
use crate::os::sys;
use crate::process::failure;
use crate::scheduler::clock::NEVER;
use crate::scheduler::names;
use crate::scheduler::thread::{join_key, Life, Wait};
use crate::scheduler::RunKind;
use crate::switch::thread_storage;
use crate::switch::{self, identity};
use crate::{dispatch, points, race, real};

type Body = unsafe extern "C-unwind" fn(*mut c_void) -> c_int;

/// `struct raddle_options` of `include/raddle.h`.
#[repr(C)]
pub struct Options {
    size: usize,
    name: *const c_char,
    runs: u64,
    policy: *const c_char,
    seed: u64,
    has_seed: c_int,
    max_steps: u64,
}

/// The program carries the note.
static HAS_CHECKS: AtomicBool = AtomicBool::new(false);
/// Checks that were reached.
static REACHED: AtomicU32 = AtomicU32::new(0);
/// 1 while a check is in progress, 2 if others wait for its end.
static BUSY: AtomicU32 = AtomicU32::new(0);
/// The run is made for the second time.
static REPEATED: AtomicBool = AtomicBool::new(false);
/// The body has been run once.
static WARMED_UP: AtomicBool = AtomicBool::new(false);
/// What the first check sets up is done.
static SET_UP: AtomicBool = AtomicBool::new(false);

/// Whether the program has checks; found out once, before main.
pub fn find_note() -> bool {
    unsafe extern "C" fn visit(info: *mut libc::dl_phdr_info, _size: usize, found: *mut c_void) -> c_int {
        // SAFETY: libc gives valid program headers; the program comes first.
        unsafe {
            for i in 0..(*info).dlpi_phnum as usize {
                let header = &*(*info).dlpi_phdr.add(i);
                if header.p_type == libc::PT_NOTE {
                    let start = (*info).dlpi_addr as usize + header.p_vaddr as usize;
                    *found.cast::<bool>() |= has_note(start, header.p_memsz as usize);
                }
            }
        }
        1
    }
    let mut found = false;
    // SAFETY: the visitor writes the flag only.
    unsafe { libc::dl_iterate_phdr(Some(visit), (&raw mut found).cast()) };
    HAS_CHECKS.store(found, Ordering::Relaxed);
    found
}

/// Whether notes contain ours.
unsafe fn has_note(start: usize, size: usize) -> bool {
    const NAME: &[u8] = b"raddle\0";
    let round = |n: usize| n.next_multiple_of(4);
    let mut at = 0;
    // SAFETY: the notes of a loaded object; every step stays inside them.
    unsafe {
        while at + 12 <= size {
            let [name, value, kind] = *((start + at) as *const [u32; 3]);
            let (name, value) = (name as usize, value as usize);
            if at + 12 + round(name) + round(value) > size {
                return false;
            }
            let owner = core::slice::from_raw_parts((start + at + 12) as *const u8, name);
            if owner == NAME && kind == CHECKS {
                return true;
            }
            at += 12 + round(name) + round(value);
        }
    }
    false
}

/// Whether the program has checks.
pub fn program_has_checks() -> bool {
    HAS_CHECKS.load(Ordering::Relaxed)
}

/// Whether the current run is a repetition.
pub fn is_repeated() -> bool {
    REPEATED.load(Ordering::Relaxed)
}

/// Runs `body` under control, as often as the command line says. See `include/raddle.h`.
#[cfg_attr(not(test), no_mangle)]
pub unsafe extern "C-unwind" fn raddle_runtime_check(
    options: *const Options,
    body: Body,
    argument: *mut c_void,
) -> c_int {
    // SAFETY: the caller's options and body.
    unsafe {
        let Some(block) = control::block().filter(|_| program_has_checks()) else {
            return c_int::from(body(argument) != 0);
        };
        if control::current().is_some() {
            let _leave = control::LeaveOnDrop::armed();
            write_report(block, format_args!("a check inside the body of another one cannot be run"));
            return 2;
        }
        enter();
        let number = REACHED.fetch_add(1, Ordering::Relaxed) + 1;
        // The campaign is of another check: a body that is not under control might hang or end the process.
        let result = if number == block.settings.check_number { serve(block, options, body, argument) } else { 0 };
        leave();
        result
    }
}

/// Notes why the body failed.
#[cfg_attr(not(test), no_mangle)]
pub unsafe extern "C-unwind" fn raddle_runtime_failed(text: *const c_char, length: usize) {
    // SAFETY: the caller's text.
    unsafe {
        if control::current().is_some() {
            let _leave = control::LeaveOnDrop::armed();
            let text = core::slice::from_raw_parts(text.cast::<u8>(), length);
            let text = core::str::from_utf8(text).unwrap_or("(a message that is no text)");
            failure::write_message(scheduler().results(), format_args!("{text}"));
        }
    }
}

/// Copies the report on the last check that did not pass. Returns its length.
#[cfg_attr(not(test), no_mangle)]
pub unsafe extern "C-unwind" fn raddle_runtime_report(buffer: *mut c_char, size: usize) -> usize {
    let Some(block) = control::block() else { return 0 };
    let text = text(&block.check_report);
    if size > 0 {
        let n = text.len().min(size - 1);
        // SAFETY: the caller's buffer.
        unsafe {
            core::ptr::copy_nonoverlapping(text.as_ptr(), buffer.cast(), n);
            buffer.add(n).write(0);
        }
    }
    text.len()
}

fn write_report(block: &Block, text: core::fmt::Arguments<'_>) {
    use core::fmt::Write;
    struct Into<'a>(&'a mut [u8; 1024], usize);
    impl Write for Into<'_> {
        fn write_str(&mut self, text: &str) -> core::fmt::Result {
            let n = text.len().min(self.0.len() - 1 - self.1);
            self.0[self.1..self.1 + n].copy_from_slice(&text.as_bytes()[..n]);
            self.1 += n;
            Ok(())
        }
    }
    let block = block as *const Block as *mut Block;
    // SAFETY: the command line reads it after the check.
    let report = unsafe { &mut (*block).check_report };
    report.fill(0);
    // Cannot fail: what does not fit is cut.
    let _ = Into(report, 0).write_fmt(text);
}

/// One check at a time: libtest runs tests in parallel.
fn enter() {
    while BUSY.compare_exchange(0, 1, Ordering::Acquire, Ordering::Relaxed).is_err() {
        if BUSY.compare_exchange(1, 2, Ordering::Relaxed, Ordering::Relaxed) != Err(0) {
            sys::futex_wait(&BUSY, 2);
        }
    }
}

fn leave() {
    if BUSY.swap(0, Ordering::Release) == 2 {
        sys::futex_wake(&BUSY);
    }
}

/// Tells the command line what the check asks for, and makes the series of runs that it is asked for.
unsafe fn serve(block: &'static Block, options: *const Options, body: Body, argument: *mut c_void) -> c_int {
    // SAFETY: the caller's options; the request are read after the event.
    unsafe {
        let request = &raw mut (*(block as *const Block as *mut Block)).check_request;
        request.write(request_of(options));
        set_up(block);
        let control = &block.control;
        control.event.fetch_or(event::CHECK, Ordering::AcqRel);
        sys::futex_wake_shared(&control.event);
        let mut result = 0;
        loop {
            match control.command.load(Ordering::Acquire) {
                command::RUN => control.command.store(command::IDLE, Ordering::Release),
                command::QUIT => return result,
                _ => {
                    sys::futex_wait_shared(&control.command, command::IDLE, None);
                    continue;
                }
            }
            result |= make_series(block, body, argument);
            control.event.fetch_or(event::DONE, Ordering::AcqRel);
            sys::futex_wake_shared(&control.event);
        }
    }
}

unsafe fn request_of(options: *const Options) -> CheckRequest {
    // SAFETY: plain numbers and bytes; the caller's options and texts.
    unsafe {
        let mut request: CheckRequest = core::mem::zeroed();
        let Some(options) = options.as_ref().filter(|o| o.size >= size_of::<Options>()) else { return request };
        let copy = |to: &mut [u8; 128], text: *const c_char| {
            if !text.is_null() {
                let text = CStr::from_ptr(text).to_bytes();
                let n = text.len().min(to.len() - 1);
                to[..n].copy_from_slice(&text[..n]);
            }
        };
        copy(&mut request.name, options.name);
        copy(&mut request.policy, options.policy);
        request.runs = options.runs;
        request.seed = options.seed;
        request.has_seed = (options.has_seed != 0).into();
        request.max_steps = options.max_steps;
        request
    }
}

/// What the first check needs: the calling thread becomes the main thread of all runs.
unsafe fn set_up(block: &'static Block) {
    // SAFETY: the caller is outside control, and one check runs at a time.
    unsafe {
        crate::signals::kernel::take_over();
        if SET_UP.swap(true, Ordering::Relaxed) {
            control::change_main();
        } else {
            control::start_run(block, control::policy(block));
        }
        crate::signals::kernel::adopt_main();
        points::thread::adopt_main();
        points::thread_attributes::adopt_main();
        dispatch::arm(ThreadId::MAIN);
        points::sync_function::start_run();
        // An object that allocates its thread-local storage on first use cannot be put back.
        if switch::fibers() && thread_storage::survey() {
            identity::allow_reuse();
        }
        scheduler().foreign_threads = false;
        stop_control();
    }
}

/// Leaves control until the next run.
unsafe fn stop_control() {
    dispatch::selector(ThreadId::MAIN).store(0, Ordering::Relaxed);
    control::set_mode(Mode::PassThrough);
}

/// Makes a series of runs. Returns whether one failed.
unsafe fn make_series(block: &Block, body: Body, argument: *mut c_void) -> c_int {
    let (first, last) = (block.settings.first_run, block.settings.last_run);
    let summaries = &raw const block.summaries as *mut [Summary; SUMMARIES];
    crate::access::racy_places::load(&block.racy_places);
    if !WARMED_UP.swap(true, Ordering::Relaxed) {
        // Every process makes one such run. It is not counted, so its failure says nothing about the campaign.
        // SAFETY: the caller's body.
        unsafe { iterate(0, RunKind::WarmUp, body, argument) };
    }
    for (run, i) in (first..=last).zip(0..SUMMARIES) {
        let seed = block.settings.run_seed(run);
        let replays = block.settings.flags & flag::REPLAY != 0;
        let seed = if replays { block.settings.seed } else { seed };
        // SAFETY: the caller's body; the command line reads the summaries, and writes settings, after the series.
        unsafe {
            (*(block as *const Block).cast_mut()).settings.number = run;
            let Some(failed) = iterate(seed, RunKind::Counted, body, argument) else {
                // No schedule is left.
                return 0;
            };
            (*summaries)[i] = summary();
            if failed {
                return 1;
            }
            if race::has_reportable(block) {
                // The command line looks at it, and continues with the next run.
                return 0;
            }
            let repeats = block.settings.flags & (flag::REPLAY | flag::NO_REPEAT) == 0;
            if run.is_power_of_two() && repeats && can_be_repeated() {
                let before = (*summaries)[i];
                let failed = iterate(seed, RunKind::Repeated, body, argument) != Some(false);
                if failed || summary().hash != before.hash {
                    report_leak(&before, failed);
                    return 1;
                }
            }
        }
        block.control.completed.store(i as u32 + 1, Ordering::Release);
    }
    0
}

/// Whether the log holds all decisions of the last run, and nothing came from outside.
unsafe fn can_be_repeated() -> bool {
    // SAFETY: between two runs.
    let s = unsafe { scheduler() };
    let capacity = s.settings().log_capacity;
    let results = s.results();
    results.log_len < capacity && results.escapes & !REPEATABLE == 0
}

/// Escapes after which a run can still be repeated.
const REPEATABLE: u64 = 1 << Escape::Futex as u32;

unsafe fn report_leak(before: &Summary, failed: bool) {
    // SAFETY: between two runs.
    let s = unsafe { scheduler() };
    let steps = s.results().steps;
    if s.results().message_len == 0 {
        failure::write_message(
            s.results(),
            format_args!(
                "the body ran differently when it was run again with the same decisions ({} steps the first time, and {} \
                 the second time): {}",
                before.steps,
                steps,
                failure::STATE_LEAKS
            ),
        );
    }
    // All decisions were the same, so what differs lies where there was none. Without visible accesses it was a call.
    let accesses = s.settings().run.points > Points::Sync;
    let below_calls = accesses && !failed && s.results().threads == before.threads;
    s.results().leaks_below_calls = below_calls.into();
    s.results().outcome = Outcome::StateLeaks as u32;
}

unsafe fn summary() -> Summary {
    // SAFETY: between two runs.
    let results = unsafe { scheduler() }.results();
    Summary::from(&*results)
}

/// Makes one run. Returns whether the body failed. `None`: the policy has no schedule left.
unsafe fn iterate(seed: u64, kind: RunKind, body: Body, argument: *mut c_void) -> Option<bool> {
    // SAFETY: all other threads of the run before have ended.
    unsafe {
        REPEATED.store(kind == RunKind::Repeated, Ordering::Relaxed);
        scheduler().restart(seed, kind);
        if scheduler().is_exhausted() {
            return None;
        }
        race::start_run();
        crate::heap::start_run(seed);
        control::set_mode(Mode::Controlled);
        dispatch::selector(ThreadId::MAIN).store(1, Ordering::Relaxed);
        names::begin(ThreadId::MAIN);
        let failed = body(argument) != 0;
        // What it did last is part of this run, and what follows is not under control.
        Lease::end(scheduler());
        if scheduler().alive > 1 {
            run_leftovers();
        }
        crate::heap::end_run();
        stop_control();
        join_leftovers();
        REPEATED.store(false, Ordering::Relaxed);
        let results = scheduler().results();
        results.outcome = if failed { Outcome::BodyFailed } else { Outcome::Exited } as u32;
        scheduler().policy_run_ended();
        Some(failed)
    }
}

/// The body is over: threads that it did not wait for are run to their ends. One that cannot end is an
/// error (see `failure::deadlock`).
unsafe fn run_leftovers() {
    // SAFETY: the main thread holds the baton.
    unsafe {
        scheduler().ending = true;
        for i in 1..scheduler().created {
            let t = ThreadId(i as u16);
            if scheduler().threads[i].life == Life::Alive {
                wait_through(ThreadId::MAIN, Event::new(EventKind::Join, join_key(t)), Wait::Join(t), NEVER);
            }
        }
        scheduler().ending = false;
    }
}

/// Joins the threads that have ended and that the body did not join.
unsafe fn join_leftovers() {
    // SAFETY: between two runs; the threads have ended, and the program no longer uses them.
    unsafe {
        for i in 1..scheduler().created {
            let thread = scheduler().thread(ThreadId(i as u16));
            if thread.life != Life::Ended {
                continue;
            }
            thread.life = Life::None;
            let place = core::mem::replace(&mut thread.identity, 0);
            // Its thread pointer, which is also the pthread_t: the kernel's id stands at a fixed place above it.
            let handle = (thread.tid_word as usize).wrapping_sub(points::thread::tid_word(0) as usize);
            scheduler().pointers.remove(handle);
            if place != 0 {
                identity::release(place);
            } else {
                real!(pthread_join: fn(usize, *mut *mut c_void) -> c_int)(handle, core::ptr::null_mut());
            }
        }
    }
}
