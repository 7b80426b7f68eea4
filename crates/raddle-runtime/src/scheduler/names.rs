//! Names of objects, for policies that know objects from run to run.
//!
//! An address is not such a name: stacks, thread-local storage and mapped memory lie elsewhere on OS threads than on
//! fibers, and on another machine. A name is a function of the schedule, and the same in every run where it can be:
//!
//! - in a loaded file: which one, and where in it;
//! - on the heap that grows by brk: where on it, except in checks, whose runs share one heap;
//! - on the stack of a thread, or in its thread-local storage: the thread's path, and how far from where its start
//!   routine, or main, was called; how far from the thread pointer;
//! - small numbers, which stand for descriptors and threads, are names already;
//! - anything else, such as other arenas and mapped memory: which thread was the first to touch it at a schedule point,
//!   and how many such objects that thread had named before.
//!
//! The heap is laid out in the same way in all runs because no identities are made ready for such
//! policies: these have their allocations before all others. An object that was freed has the same name as what lies
//! in its place after it. Files that are loaded during the run are not known as files: to ask the loader may wait for
//! a lock that a parked thread holds.

use core::ffi::{c_int, c_void};
use core::ops::Range;

use raddle_core::lessons::ThreadPaths;
use raddle_core::policy::{Descriptor, Learns};
use raddle_core::rng::splitmix64;
use raddle_core::{ThreadId, MAX_THREADS};

use super::thread::{Life, Thread};
use super::Scheduler;
use crate::control::{scheduler, state_pointer};
use crate::os::memory;
use crate::os::sys;

/// Loaded files that are known; objects in others are named after the first thread that touches them.
const FILES: usize = 128;
/// Slots of the table of objects that are named after a thread: never more than half full.
const SLOTS: usize = 1 << 15;
/// Numbers below this are not addresses.
const SMALL: usize = 1 << 20;
/// Descriptors and the like are numbers below this, where programs that are linked to fixed addresses may lie too.
const NUMBERS: usize = 1 << 33;
/// Names are above all numbers.
const NAME: u64 = 1 << 63;
/// The heap ends at most this far from its start: nothing else lies so close above it.
const LARGEST_HEAP: usize = 1 << 40;
/// The main stack reaches at most this far below the frame of main: the kernel puts nothing else there.
const MAIN_STACK: usize = 64 << 20;
/// Static thread-local storage lies at most this far below the thread pointer, in bytes.
const NEAR: usize = 1 << 20;

/// What kind of place an object lies in.
#[derive(Clone, Copy)]
enum Place {
    File = 1,
    Heap,
    Stack,
    Local,
    Touched,
}

#[derive(Clone)]
struct File {
    base: usize,
    range: Range<usize>,
}

/// Where a thread has its own memory. Empty when zeroed.
#[derive(Clone, Default)]
struct Own {
    /// What its functions have put on its stack; ends where the first of them was called.
    stack: Range<usize>,
    local: Range<usize>,
    pointer: usize,
}

/// An object that was named after the first thread that touched it.
struct Slot {
    /// The run that this belongs to.
    run: u64,
    address: usize,
    name: u64,
}

/// The names of a run. Valid when zeroed.
#[repr(C)]
pub struct Names {
    surveyed: bool,
    files_known: usize,
    files: [File; FILES],
    /// The heap. It starts at 0 if nothing on it is named by its place.
    heap: Range<usize>,
    /// How far below its thread pointer the main thread's storage starts.
    local_below: usize,
    /// Runs so far: what the table has of earlier ones does not count.
    run: u64,
    used: usize,
    paths: ThreadPaths,
    /// How many objects each thread was the first to touch.
    touched: [u32; MAX_THREADS],
    own: [Own; MAX_THREADS],
    /// The objects of the threads' next operations, as the program knows them.
    addresses: [usize; MAX_THREADS],
    slot: [Slot; SLOTS],
}

fn mix(a: u64, b: u64) -> u64 {
    splitmix64(&mut (splitmix64(&mut a.clone()) ^ b))
}

fn name(place: Place, whose: u64, which: u64) -> u64 {
    mix(mix(place as u64, whose), which) | NAME
}

impl Names {
    pub fn start(&mut self) {
        self.run += 1;
        self.used = 0;
        self.paths.start();
        (self.touched[0], self.addresses[0]) = (0, 0);
    }

    /// A thread has been created.
    pub fn created(&mut self, parent: ThreadId, child: ThreadId) {
        self.paths.created(parent, child);
        self.touched[child.index()] = 0;
        self.own[child.index()] = Own::default();
    }

    /// The name of an object that `me` is about to touch; 0 when there is none.
    fn of(&mut self, object: usize, me: ThreadId, threads: &[Thread]) -> u64 {
        if object < SMALL {
            return object as u64;
        }
        let files = &self.files[..self.files_known];
        if let Some(number) = files.iter().position(|file| file.range.contains(&object)) {
            return name(Place::File, number as u64, object.wrapping_sub(files[number].base) as u64);
        }
        if self.on_heap(object) {
            return name(Place::Heap, 0, (object - self.heap.start) as u64);
        }
        if object < NUMBERS {
            return object as u64;
        }
        let others = (0..threads.len()).filter(|&i| threads[i].life == Life::Alive);
        let owner = core::iter::once(me.index()).chain(others).find_map(|i| Some((i, self.own[i].place(object)?)));
        if let Some((i, (place, distance))) = owner {
            return name(place, self.paths.of(ThreadId(i as u16)), distance as u64);
        }
        self.touch(object, me)
    }

    fn on_heap(&mut self, object: usize) -> bool {
        let Range { start, end } = self.heap;
        if start == 0 || object < start {
            return false;
        }
        if object >= end && object - start < LARGEST_HEAP {
            // It may have grown.
            self.heap.end = memory::heap_end();
        }
        self.heap.contains(&object)
    }

    /// The name of an object that nothing else is known of: the first one to touch it gives it.
    fn touch(&mut self, object: usize, me: ThreadId) -> u64 {
        let mut at = (object >> 3).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32;
        loop {
            at %= SLOTS;
            let slot = &self.slot[at];
            if slot.run != self.run {
                break;
            }
            if slot.address == object {
                return slot.name;
            }
            at += 1;
        }
        if self.used >= SLOTS / 2 {
            // No object: a name that is forgotten at once would be another one for each thread and each touch, and
            // one learns nothing except that there are many.
            return 0;
        }
        let count = &mut self.touched[me.index()];
        let name = name(Place::Touched, self.paths.of(me), u64::from(*count));
        *count += 1;
        self.used += 1;
        self.slot[at] = Slot { run: self.run, address: object, name };
        name
    }

    fn add(&mut self, base: usize, range: Range<usize>) {
        if self.files_known < FILES {
            self.files[self.files_known] = File { base, range };
            self.files_known += 1;
        }
    }
}

impl Own {
    fn place(&self, address: usize) -> Option<(Place, usize)> {
        if self.stack.contains(&address) {
            return Some((Place::Stack, self.stack.end - address));
        }
        self.local.contains(&address).then(|| (Place::Local, self.pointer.wrapping_sub(address)))
    }
}

extern "C" {
    fn dl_iterate_phdr(
        visit: unsafe extern "C" fn(*mut libc::dl_phdr_info, usize, *mut c_void) -> c_int,
        data: *mut c_void,
    ) -> c_int;
}

/// Looks at the loaded files and at the heap, if the policy uses names of objects. Before a fork, where there is
/// one: it costs a walk over both.
pub fn survey(policy: &Descriptor) {
    if policy.learns < Learns::Objects {
        return;
    }
    // SAFETY: there is no run yet, so no other thread uses the names; reserved together with the block.
    let names = unsafe { &mut (*state_pointer()).names };
    if core::mem::replace(&mut names.surveyed, true) {
        return;
    }
    // What is free on the heap of a check, and in which order, is what the runs before it in this process have left.
    names.heap = if crate::process::check::program_has_checks() { 0..0 } else { memory::heap() };
    // SAFETY: the walk calls us back during the call only.
    unsafe { dl_iterate_phdr(visit, (names as *mut Names).cast()) };
}

/// The files of a program in the order in which they were loaded, the program itself first.
unsafe extern "C" fn visit(file: *mut libc::dl_phdr_info, _size: usize, names: *mut c_void) -> c_int {
    // SAFETY: the loader's description, with valid program headers; the caller's names.
    let (file, names) = unsafe { (&*file, &mut *names.cast::<Names>()) };
    // SAFETY: as above.
    let headers = unsafe { core::slice::from_raw_parts(file.dlpi_phdr, file.dlpi_phnum.into()) };
    let base = file.dlpi_addr as usize;
    let (mut low, mut high) = (usize::MAX, 0);
    for header in headers.iter().filter(|header| header.p_type == libc::PT_LOAD) {
        let start = base.wrapping_add(header.p_vaddr as usize);
        (low, high) = (low.min(start), high.max(start.wrapping_add(header.p_memsz as usize)));
    }
    names.add(base, low..high);
    let below = sys::thread_pointer().wrapping_sub(file.dlpi_tls_data as usize);
    if file.dlpi_tls_modid != 0 && below <= NEAR {
        names.local_below = names.local_below.max(below);
    }
    0
}

/// The calling thread is about to call its start routine, or main: from a frame of this depth its stack is the
/// program's. The depth of what lies above is not the same on fibers and OS threads.
///
/// # Safety
/// The caller holds the baton.
#[inline(always)]
pub unsafe fn begin(me: ThreadId) {
    // SAFETY: the caller's promise.
    if unsafe { scheduler() }.names_objects {
        // The frame does not change its depth between here and the call.
        let frame: usize;
        // SAFETY: reads a register.
        unsafe { core::arch::asm!("mov {}, rsp", out(reg) frame, options(nomem, nostack, preserves_flags)) };
        // SAFETY: the caller's promise.
        unsafe { begin_at(me, frame) };
    }
}

#[cold]
unsafe fn begin_at(me: ThreadId, frame: usize) {
    let pointer = sys::thread_pointer();
    // SAFETY: the caller holds the baton.
    let names = unsafe { &mut (*state_pointer()).names };
    // SAFETY: the thread pointer of the calling thread, which libc has made.
    names.own[me.index()] = match unsafe { memory::stack_of(pointer, frame) } {
        Some(stack) => Own { stack: stack.start..frame, local: frame..stack.end, pointer },
        // The main thread's stack is the kernel's, and its storage lies where the loader has put it.
        None => {
            let stack = frame.saturating_sub(MAIN_STACK)..frame;
            Own { stack, local: pointer - names.local_below..pointer, pointer }
        }
    };
}

impl Scheduler {
    /// Sets whether this run's policy gets names of objects.
    pub(super) fn start_names(&mut self, wanted: bool) {
        self.names_objects = wanted;
        if wanted {
            self.with_names(|names, _| names.start());
        }
    }

    /// A thread has been created.
    #[cold]
    pub(super) fn name_thread(&mut self, parent: ThreadId, child: ThreadId) {
        self.with_names(|names, _| names.created(parent, child));
    }

    /// Replaces the object that a thread touches next by its name.
    #[cold]
    #[inline(never)]
    pub(super) fn name_object(&mut self, t: ThreadId) {
        let object = self.pending[t.index()].object;
        self.pending[t.index()].object = self.with_names(|names, threads| {
            names.addresses[t.index()] = object;
            names.of(object, t, threads) as usize
        });
    }

    /// The object of what a thread does next, as the program knows it.
    pub fn address_of_object(&self, t: ThreadId) -> usize {
        if self.names_objects {
            // SAFETY: the caller holds the baton, and a reference to another part of the state.
            return unsafe { (&raw const (*state_pointer()).names.addresses[t.index()]).read() };
        }
        self.pending[t.index()].object
    }

    fn with_names<R>(&mut self, f: impl FnOnce(&mut Names, &[Thread]) -> R) -> R {
        // SAFETY: the caller holds the baton, and a reference to another part of the state.
        f(unsafe { &mut (*state_pointer()).names }, &self.threads[..self.created])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    const MAIN: ThreadId = ThreadId::MAIN;
    const FIRST: ThreadId = ThreadId(1);
    const SECOND: ThreadId = ThreadId(2);

    fn zeroed<T>() -> Box<T> {
        // SAFETY: used for types that are documented as valid when zeroed, and too large for a test's stack.
        unsafe { Box::from_raw(std::alloc::alloc_zeroed(std::alloc::Layout::new::<T>()).cast()) }
    }

    /// A run of three threads, whose memory starts with the heap at the given address; the rest is far from it.
    struct Sample {
        names: Box<Names>,
        threads: Box<[Thread; 3]>,
        at: usize,
    }

    const FILE: usize = 2 * LARGEST_HEAP;
    const STACK: usize = 3 * LARGEST_HEAP;
    const MAPPED: usize = 4 * LARGEST_HEAP;

    impl Sample {
        fn new(at: usize) -> Sample {
            let (mut names, mut threads) = (zeroed::<Names>(), zeroed::<[Thread; 3]>());
            names.add(at + FILE, at + FILE..at + FILE + 0x1000);
            names.add(at + FILE + 0x1000, at + FILE + 0x1000..at + FILE + 0x2000);
            names.heap = at..at + 0x1000;
            threads.iter_mut().for_each(|thread| thread.life = Life::Alive);
            let mut sample = Sample { names, threads, at };
            sample.start();
            sample
        }

        fn start(&mut self) {
            self.names.start();
            for (i, parent) in [(1, MAIN), (2, FIRST)] {
                self.names.created(parent, ThreadId(i as u16));
                let top = self.at + STACK + i * 0x2000;
                let (stack, local) = (top - 0x1000..top, top..top + 0x100);
                self.names.own[i] = Own { stack, local, pointer: top + 0x80 };
            }
        }

        fn of(&mut self, offset: usize, me: ThreadId) -> u64 {
            self.names.of(self.at + offset, me, &self.threads[..])
        }
    }

    #[test]
    fn a_name_does_not_depend_on_where_things_lie() {
        let places = [8, 16, FILE, FILE + 8, FILE + 0x1008, STACK + 0x1ff8, STACK + 0x3ff8, STACK + 0x2008, MAPPED];
        let all = |at: usize| {
            let mut sample = Sample::new(at);
            let mut all: Vec<u64> = places.iter().map(|&place| sample.of(place, FIRST)).collect();
            all.extend([sample.of(MAPPED + 8, FIRST), sample.of(MAPPED + 16, SECOND)]);
            all
        };
        let names = all(0x7fff_0000_0000);
        assert_eq!(names, all(0x5555_5555_0000));
        assert_eq!(names.iter().collect::<HashSet<_>>().len(), names.len(), "objects are told apart");
        assert!(names.iter().all(|name| name & NAME != 0), "and from numbers");
    }

    #[test]
    fn numbers_are_names_already() {
        let mut sample = Sample::new(0x7fff_0000_0000);
        for number in [0, 1, 40, 0x0fff_fffe, 0x1000_0007, 0x2000_0001] {
            assert_eq!(sample.names.of(number, MAIN, &[]), number as u64);
        }
        // But not where a program of fixed addresses lies.
        sample.names.add(0x1000_0000, 0x1000_0000..0x2000_0000);
        assert_ne!(sample.names.of(0x1000_0007, MAIN, &[]), 0x1000_0007);
    }

    #[test]
    fn the_first_one_to_touch_an_object_names_it() {
        let mut one = Sample::new(0x7fff_0000_0000);
        let names = [one.of(MAPPED, FIRST), one.of(MAPPED + 64, FIRST), one.of(MAPPED + 128, SECOND)];
        assert_eq!(names, [one.of(MAPPED, SECOND), one.of(MAPPED + 64, SECOND), one.of(MAPPED + 128, FIRST)]);
        // Other objects elsewhere, and other threads in between, are the same to it.
        let mut other = Sample::new(0x7fff_0000_0000);
        let again = [other.of(MAPPED + 8, SECOND), other.of(MAPPED, FIRST), other.of(MAPPED + 1024, FIRST)];
        assert_eq!(again, [names[2], names[0], names[1]]);
    }

    #[test]
    fn a_run_knows_nothing_of_the_one_before() {
        let mut sample = Sample::new(0x7fff_0000_0000);
        let first = sample.of(MAPPED, FIRST);
        sample.start();
        assert_eq!(sample.of(MAPPED + 8, FIRST), first);
        assert_ne!(sample.of(MAPPED, FIRST), first);
    }

    #[test]
    fn a_stack_is_the_threads_as_long_as_it_lives() {
        let mut sample = Sample::new(0x7fff_0000_0000);
        let on_stack = sample.of(STACK + 0x1ff8, MAIN);
        assert_eq!(sample.of(STACK + 0x1ff8, FIRST), on_stack);
        sample.threads[1].life = Life::Ended;
        assert_ne!(sample.of(STACK + 0x1ff8, MAIN), on_stack);
        // A thread of the same slot has a place of its own.
        sample.threads[1].life = Life::Alive;
        sample.names.created(MAIN, FIRST);
        assert_ne!(sample.of(STACK + 0x1ff8, MAIN), on_stack);
    }

    #[test]
    fn what_does_not_fit_is_no_object() {
        let mut sample = Sample::new(0x7fff_0000_0000);
        let names: HashSet<u64> = (0..SLOTS / 2).map(|i| sample.of(MAPPED + 8 * i, FIRST)).collect();
        assert_eq!(names.len(), SLOTS / 2);
        assert_eq!(sample.of(MAPPED - 8, FIRST), 0);
        assert!(names.contains(&sample.of(MAPPED + 8, SECOND)), "what is known stays known");
        sample.start();
        assert!(names.contains(&sample.of(MAPPED - 8, FIRST)), "and the next run has room");
    }

    #[test]
    fn this_process_has_files_and_a_heap() {
        let mut names = zeroed::<Names>();
        names.heap = memory::heap();
        // SAFETY: the walk calls us back during the call only.
        unsafe { dl_iterate_phdr(visit, (&raw mut *names).cast()) };
        static HERE: u32 = 1;
        let range = &names.files[0].range;
        assert!(range.contains(&(&raw const HERE as usize)) && names.files_known > 1);
        assert!(names.heap.start != 0 && names.heap.end > names.heap.start);
    }
}
