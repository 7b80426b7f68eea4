//! The heap: the functions that allocate and free, in the place of libc's, which do the work.
//!
//! In half of the runs, chosen by their seeds, a block that is freed is held back for a while: it is filled, so that a
//! pointer read from it faults, and looked at again when it is given to the allocator, or at the end of the run, so
//! that a write to it shows. The other runs give it to the allocator at once, so that its address can come again, as
//! bugs of the kind ABA need. In both, freed blocks have a mark by which a second `free` is known.
//!
//! This is for glibc's allocator. Others keep their blocks in their own ways, and are left alone.
//!
//! Instrumented programs: while races are looked for, newly allocated memory has no past, and freeing a block
//! touches it.

pub mod block;
pub mod freed;
pub mod report;

use core::arch::naked_asm;
use core::ffi::{c_int, c_void};
use core::ptr::null_mut;
use core::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use raddle_core::ThreadId;
use raddle_protocol::{Escape, Heap};

use crate::control::{current, parallel, scheduler, state};
use crate::os::objects::Object;
use crate::points::{real_address, set_errno};
use crate::process::failure;
use crate::{interpose, race, real};
use block::{HeapBlock, Kind};
use freed::FreedBlock;
use report::Fault;

/// What tells freed blocks of this run from others; 0: the heap is left alone.
static KEY: AtomicU64 = AtomicU64::new(0);

/// Blocks of fewer bytes are moved whenever they grow.
const MOVES: usize = 64 << 10;

#[inline(always)]
fn key() -> u64 {
    KEY.load(Ordering::Relaxed)
}

/// Whose allocator the program uses.
#[derive(Clone, Copy, PartialEq, Eq)]
#[repr(u32)]
enum Allocator {
    Libc,
    /// A sanitizer's, which looks for misuse itself.
    Sanitizer,
    Other,
}

impl Allocator {
    fn of_program() -> Allocator {
        let used = [real_address!(malloc), real_address!(calloc), real_address!(realloc), real_address!(free)];
        // Others define libc's second names (`__libc_malloc`) as well.
        let libc = || Object::own()?.behind().find(|object| object.definition(c"gnu_get_libc_version").is_some());
        let libcs = libc().map(|libc| [c"malloc", c"calloc", c"realloc", c"free"].map(|name| libc.definition(name)));
        // What the loader finds before this library never calls it.
        let before = || {
            let own = Object::own().map(core::ptr::from_ref)?;
            let mut objects = Object::first()?.and_those_behind().take_while(|object| !core::ptr::eq(*object, own));
            objects.find(|object| object.definition(c"malloc").is_some())
        };
        if crate::points::thread::sanitized() {
            Allocator::Sanitizer
        } else if libcs == Some(used.map(Some)) && before().is_none() {
            Allocator::Libc
        } else {
            Allocator::Other
        }
    }
}

/// Finds out whose allocator the program uses: a fork copies the answer.
pub fn prepare() {
    ALLOCATOR.store(Allocator::of_program() as u32, Ordering::Relaxed);
}

static ALLOCATOR: AtomicU32 = AtomicU32::new(Allocator::Libc as u32);

/// A run starts.
pub fn start_run(seed: u64) {
    // SAFETY: there is one thread.
    let (s, freed) = unsafe { (scheduler(), &mut state().freed) };
    let heap = s.settings().run.heap;
    KEY.store(0, Ordering::Relaxed);
    freed.start(false);
    let parallel = s.settings().flags & raddle_protocol::settings::flag::PARALLEL != 0;
    if heap == Heap::Off || parallel {
        return;
    }
    let allocator = ALLOCATOR.load(Ordering::Relaxed);
    if allocator == Allocator::Libc as u32 {
        freed.start(heap.holds(seed));
        KEY.store(Heap::key(seed), Ordering::Relaxed);
    } else if allocator == Allocator::Other as u32 {
        s.escaped(Escape::Allocator);
    }
}

/// How many blocks are held back.
pub fn held() -> u64 {
    // SAFETY: a number; the caller has a run.
    unsafe { state() }.freed.held()
}

/// The run is over, and another one may follow in the same process: nothing is held back any longer.
pub fn end_run() {
    // SAFETY: there is one thread, which holds the baton.
    unsafe { release_all(ThreadId::MAIN) };
    KEY.store(0, Ordering::Relaxed);
}

/// Looks at all blocks that are held back; ends the run if one was written to.
pub fn check_all() {
    // SAFETY: the caller holds the baton.
    let (me, freed) = unsafe { (scheduler().current, &state().freed) };
    for block in freed.all_held() {
        // SAFETY: as above; the block is held back.
        unsafe { check(me, block) };
    }
}

/// Looks at a block that is held back.
unsafe fn check(me: ThreadId, freed: FreedBlock) {
    // SAFETY: the caller's promise.
    unsafe {
        if let Some(byte) = freed.block.damage(freed.size, freed.number, key()) {
            report::end(me, freed.block, Fault::Written { byte });
        }
    }
}

/// Gives the block to the allocator that was held back for the longest time. Returns whether there was one.
unsafe fn release_oldest(me: ThreadId) -> bool {
    // SAFETY: the caller holds the baton.
    unsafe {
        let Some(freed) = state().freed.pop() else { return false };
        check(me, freed);
        if scheduler().detects {
            race::let_go(freed.block.0, freed.size);
        }
        real!(free: fn(usize))(freed.block.0);
        true
    }
}

unsafe fn release_all(me: ThreadId) {
    // SAFETY: the caller holds the baton.
    while unsafe { release_oldest(me) } {}
}

/// There is no memory. Returns whether there may be some now.
#[cold]
fn made_room() -> bool {
    let some = key() != 0 && held() != 0;
    match current().filter(|_| some) {
        // SAFETY: `me` holds the baton.
        Some(me) => unsafe {
            release_oldest(me) && {
                release_all(me);
                true
            }
        },
        None => false,
    }
}

/// The thread, if the heap is looked after and it is under control.
#[inline(always)]
fn looked_after() -> Option<ThreadId> {
    // The lock of parallel runs would cost more than the allocation, and they have no key.
    if key() == 0 || parallel() {
        return None;
    }
    current()
}

/// The bytes of a block that the program is about to give back, by a call that returns to `place`. `None`: it is the
/// allocator's alone.
#[inline]
unsafe fn given_back(me: ThreadId, block: HeapBlock) -> Option<usize> {
    // SAFETY: the program's own call; `me` holds the baton.
    unsafe {
        match block.kind() {
            Kind::Block(size) => {
                if block.is_marked(key()) {
                    report::end(me, block, Fault::FreedTwice);
                }
                Some(size)
            }
            Kind::Mapped => None,
            Kind::Invalid => report::end_at_invalid(me, block),
        }
    }
}

/// Marks a block as freed. Returns whether it is held back.
#[inline]
unsafe fn hold(me: ThreadId, block: HeapBlock, place: usize) -> bool {
    // SAFETY: the program's own call; `me` holds the baton, and references end before the allocator is called.
    unsafe {
        let Some(size) = given_back(me, block) else { return false };
        let number = state().freed.next_number();
        if number == scheduler().settings().look_at_free {
            failure::look(scheduler(), me);
        }
        // From here on a second call is noticed.
        block.set_mark(key());
        let freed = &mut state().freed;
        // Under a fair schedule, memory that moves on would hide that a state comes back.
        let holds = freed.takes(size) && !scheduler().is_fair;
        if holds {
            block.fill(size, number);
            if scheduler().detects {
                race::held_back(block.0, size);
            }
        }
        freed.push(FreedBlock { number, block, size, by: me, place }, holds);
        while state().freed.is_too_much() {
            release_oldest(me);
        }
        holds
    }
}

/// Notes a new block.
#[inline(always)]
unsafe fn note(block: *mut c_void, size: usize, pc: usize) {
    let key = key();
    if key != 0 && !block.is_null() {
        // SAFETY: the allocator's block, which nothing else uses.
        unsafe { HeapBlock(block as usize).unmark(key) };
    }
    // Parallel runs do not look for races, and the lock would cost more than the allocation.
    if parallel() {
        return;
    }
    if let Some(me) = current() {
        // SAFETY: `me` holds the baton.
        unsafe {
            if scheduler().detects && !block.is_null() {
                race::allocated(me, block as usize, size, pc);
            }
        }
    }
}

/// Notes a block that is about to be freed.
#[inline(always)]
unsafe fn forget(block: *mut c_void, pc: usize) {
    if parallel() {
        return;
    }
    if let Some(me) = current() {
        // SAFETY: as above.
        unsafe {
            if scheduler().detects && !block.is_null() {
                race::freed(me, block as usize, pc);
            }
        }
    }
}

/// What the allocator gives; once more if there may be memory then.
#[inline(always)]
fn allocated(mut allocate: impl FnMut() -> *mut c_void) -> *mut c_void {
    let block = allocate();
    match block.is_null() && made_room() {
        true => allocate(),
        false => block,
    }
}

/// An allocator's function that adds where it was called as another argument.
macro_rules! with_caller {
    ($($(#[$doc:meta])* $name:ident, $register:literal => $function:ident;)*) => {
        $(
            $(#[$doc])*
            #[cfg_attr(not(test), unsafe(no_mangle))]
            #[unsafe(naked)]
            pub unsafe extern "C-unwind" fn $name() {
                naked_asm!(concat!("mov ", $register, ", [rsp]"), "jmp {}", sym $function)
            }
        )*
    };
}

with_caller! {
    malloc, "rsi" => allocate;
    /// Allocates an array of zeros.
    calloc, "rdx" => allocate_zeroed;
    /// Changes the size of a block.
    realloc, "rdx" => resize;
    /// Changes the size of an array.
    reallocarray, "rcx" => resize_array;
    /// Allocates with an alignment.
    memalign, "rdx" => allocate_aligned;
    /// Allocates with an alignment.
    aligned_alloc, "rdx" => allocate_aligned_c11;
    /// Allocates with an alignment.
    posix_memalign, "rcx" => allocate_aligned_posix;
    /// Allocates pages.
    valloc, "rsi" => allocate_page;
    /// Allocates whole pages.
    pvalloc, "rsi" => allocate_pages;
    free, "rsi" => release;
}

unsafe extern "C-unwind" fn allocate(size: usize, pc: usize) -> *mut c_void {
    // SAFETY (all below): the program's own call, passed on.
    unsafe {
        let block = allocated(|| real!(malloc: fn(usize) -> *mut c_void)(size));
        note(block, size, pc);
        block
    }
}

unsafe extern "C-unwind" fn allocate_zeroed(count: usize, size: usize, pc: usize) -> *mut c_void {
    // SAFETY: as above.
    unsafe {
        let block = allocated(|| real!(calloc: fn(usize, usize) -> *mut c_void)(count, size));
        note(block, count.wrapping_mul(size), pc);
        block
    }
}

unsafe extern "C-unwind" fn resize(block: *mut c_void, size: usize, pc: usize) -> *mut c_void {
    // SAFETY: as above.
    unsafe {
        if let Some(me) = looked_after().filter(|_| !block.is_null()) {
            if size == 0 {
                release(block, pc);
                return null_mut();
            }
            let old = given_back(me, HeapBlock(block as usize));
            if let Some(old) = old.filter(|&old| old < MOVES && old < size && state().freed.holds) {
                let moved = allocate(size, pc);
                if !moved.is_null() {
                    moved.copy_from_nonoverlapping(block, old);
                    release(block, pc);
                }
                return moved;
            }
        }
        forget(block, pc);
        let moved = allocated(|| real!(realloc: fn(*mut c_void, usize) -> *mut c_void)(block, size));
        note(moved, size, pc);
        moved
    }
}

unsafe extern "C-unwind" fn resize_array(block: *mut c_void, count: usize, size: usize, pc: usize) -> *mut c_void {
    let Some(size) = count.checked_mul(size) else {
        set_errno(libc::ENOMEM);
        return null_mut();
    };
    // SAFETY: as above.
    unsafe { resize(block, size, pc) }
}

unsafe extern "C-unwind" fn allocate_aligned(alignment: usize, size: usize, pc: usize) -> *mut c_void {
    // SAFETY: as above.
    unsafe {
        let block = allocated(|| real!(memalign: fn(usize, usize) -> *mut c_void)(alignment, size));
        note(block, size, pc);
        block
    }
}

unsafe extern "C-unwind" fn allocate_aligned_c11(alignment: usize, size: usize, pc: usize) -> *mut c_void {
    // SAFETY: as above.
    unsafe {
        let block = allocated(|| real!(aligned_alloc: fn(usize, usize) -> *mut c_void)(alignment, size));
        note(block, size, pc);
        block
    }
}

unsafe extern "C-unwind" fn allocate_aligned_posix(
    result: *mut *mut c_void,
    alignment: usize,
    size: usize,
    pc: usize,
) -> c_int {
    // SAFETY: as above.
    unsafe {
        let allocate = || real!(posix_memalign: fn(*mut *mut c_void, usize, usize) -> c_int)(result, alignment, size);
        let error = match allocate() {
            libc::ENOMEM if made_room() => allocate(),
            error => error,
        };
        if error == 0 {
            note(*result, size, pc);
        }
        error
    }
}

unsafe extern "C-unwind" fn allocate_page(size: usize, pc: usize) -> *mut c_void {
    // SAFETY: as above.
    unsafe {
        let block = allocated(|| real!(valloc: fn(usize) -> *mut c_void)(size));
        note(block, size, pc);
        block
    }
}

unsafe extern "C-unwind" fn allocate_pages(size: usize, pc: usize) -> *mut c_void {
    // SAFETY: as above.
    unsafe {
        let block = allocated(|| real!(pvalloc: fn(usize) -> *mut c_void)(size));
        note(block, size, pc);
        block
    }
}

unsafe extern "C-unwind" fn release(block: *mut c_void, pc: usize) {
    // SAFETY: as above.
    unsafe {
        forget(block, pc);
        if let Some(me) = looked_after().filter(|_| !block.is_null()) {
            if hold(me, HeapBlock(block as usize), pc) {
                return;
            }
        }
        real!(free: fn(*mut c_void))(block);
    }
}

interpose! {
    /// What the heap is like, without what is held back.
    fn mallinfo(result: *mut c_void) -> *mut c_void |me| {
        release_all(me);
        real!(mallinfo: fn(*mut c_void) -> *mut c_void)(result)
    }

    /// The same with larger numbers.
    fn mallinfo2(result: *mut c_void) -> *mut c_void |me| {
        release_all(me);
        real!(mallinfo2: fn(*mut c_void) -> *mut c_void)(result)
    }

    /// The same as XML.
    fn malloc_info(options: c_int, stream: *mut c_void) -> c_int |me| {
        release_all(me);
        real!(malloc_info: fn(c_int, *mut c_void) -> c_int)(options, stream)
    }

    /// The same on standard error.
    fn malloc_stats() |me| {
        release_all(me);
        real!(malloc_stats: fn())()
    }

    /// Gives memory back to the kernel.
    fn malloc_trim(pad: usize) -> c_int |me| {
        release_all(me);
        real!(malloc_trim: fn(usize) -> c_int)(pad)
    }
}
