//! Gives new threads their identities on fibers: pooled ones, or ones that libc really makes now.

use core::ffi::{c_int, c_void};
use core::sync::atomic::{AtomicBool, Ordering};

use raddle_core::ThreadId;
use raddle_protocol::Stacks;

use crate::control::{call_real, scheduler};
use crate::real;
use crate::switch::{fiber, identity};

/// The stack that the program asks for, if it asks for nothing else (except detaching).
unsafe fn plain_stacks(attributes: *const c_void) -> Option<Stacks> {
    /// glibc's `struct pthread_attr`, as far as it is the same in all versions.
    #[repr(C)]
    struct Attributes {
        scheduling: [c_int; 2],
        flags: c_int,
        guard: usize,
        stack: usize,
        size: usize,
        extension: usize,
    }
    const DETACHED: c_int = 1;
    let default_is_known = !DEFAULTS_CHANGED.load(Ordering::Relaxed);
    if attributes.is_null() {
        return default_is_known.then_some(Stacks { size: 0, guard: 4096, count: 1 });
    }
    // SAFETY: the caller's attributes.
    let wanted = unsafe { &*attributes.cast::<Attributes>() };
    let known = default_is_known || wanted.size != 0;
    let plain = known && wanted.flags & !DETACHED == 0 && wanted.stack == 0 && wanted.extension == 0;
    plain.then_some(Stacks { size: wanted.size as u64, guard: wanted.guard as u32, count: 1 })
}

/// The program has chosen other defaults for new threads, which pooled identities do not have.
static DEFAULTS_CHANGED: AtomicBool = AtomicBool::new(false);

#[cfg_attr(not(test), no_mangle)]
pub unsafe extern "C-unwind" fn pthread_setattr_default_np(attributes: *const c_void) -> c_int {
    // SAFETY: the caller's attributes.
    let error = unsafe { real!(pthread_setattr_default_np: fn(*const c_void) -> c_int)(attributes) };
    if error == 0 {
        DEFAULTS_CHANGED.store(true, Ordering::Relaxed);
    }
    error
}

/// Counts the stacks of the run's threads, for the next runs.
fn count_stacks(stacks: Stacks) {
    // SAFETY: the caller holds the baton.
    let counted = &mut unsafe { scheduler() }.results().stacks;
    let free_or_same = |s: &&mut Stacks| s.count == 0 || s.one() == stacks;
    if let Some(entry) = counted.iter_mut().find(free_or_same) {
        *entry = Stacks { count: entry.count + 1, ..stacks };
    }
}

/// Gives a new thread its identity: a pooled one, or one that is really made now. Sets the handle.
pub(super) unsafe fn give_identity(
    me: ThreadId,
    child: ThreadId,
    handle: *mut usize,
    attributes: *const c_void,
    really_create: impl FnOnce(*mut usize, *const c_void, usize, *mut c_void) -> c_int,
) -> c_int {
    // SAFETY: `me` holds the baton.
    unsafe {
        let stacks = plain_stacks(attributes);
        if let Some(stacks) = stacks {
            count_stacks(stacks);
        }
        let taken = match stacks.and_then(|stacks| identity::take(stacks)) {
            Some(taken) => taken,
            None => {
                let null = core::ptr::null_mut();
                // A thread that will be used again must stay joinable for libc.
                let pooled = stacks.is_some() && identity::reuses();
                let attributes = if pooled { joinable(attributes) } else { attributes };
                let made = call_real(me, || fiber::make(|routine| really_create(handle, attributes, routine, null)));
                match made {
                    Ok(context) => stacks
                        .filter(|_| pooled)
                        .and_then(|stacks| identity::adopt(stacks, *handle, context))
                        .unwrap_or(identity::TakenIdentity { place: 0, fs: *handle, context }),
                    Err(error) => return error,
                }
            }
        };
        *handle = taken.fs;
        let thread = scheduler().thread(child);
        thread.identity = taken.place;
        thread.fs = taken.fs;
        thread.context = taken.context;
        thread.name = scheduler().threads[me.index()].name;
        #[cfg(feature = "verify")]
        crate::verify::identity_given(child, stacks.is_some());
        0
    }
}

/// The same attributes without the detached state.
unsafe fn joinable(attributes: *const c_void) -> *const c_void {
    static COPY: Copied = Copied(core::cell::UnsafeCell::new([0; 7]));
    struct Copied(core::cell::UnsafeCell<[usize; 7]>);
    // SAFETY: used by the holder of the baton only, until the thread is created.
    unsafe impl Sync for Copied {}
    if attributes.is_null() {
        return attributes;
    }
    // SAFETY: a pthread_attr_t has 56 bytes; the flags are its third int.
    unsafe {
        let copy = COPY.0.get();
        *copy = *attributes.cast();
        *copy.cast::<c_int>().add(2) &= !1;
        copy.cast()
    }
}

/// Makes identities ready for the threads that earlier runs made.
///
/// # Safety
/// There is one thread, and the run has not started.
pub unsafe fn provide_identities(wanted: &[Stacks]) {
    // SAFETY: the caller's promise; plain calls of libc.
    unsafe {
        identity::provide(wanted, &mut |stacks, routine| {
            let mut attributes: libc::pthread_attr_t = core::mem::zeroed();
            let mut handle = 0usize;
            libc::pthread_attr_init(&mut attributes);
            if stacks.size != 0 {
                libc::pthread_attr_setstacksize(&mut attributes, stacks.size as usize);
            }
            libc::pthread_attr_setguardsize(&mut attributes, stacks.guard as usize);
            let create = real!(pthread_create: fn(*mut usize, *const c_void, usize, *mut c_void) -> c_int);
            let error = create(&mut handle, (&raw const attributes).cast(), routine, core::ptr::null_mut());
            libc::pthread_attr_destroy(&mut attributes);
            (error == 0).then_some(handle)
        });
    }
}
