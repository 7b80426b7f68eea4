//! Keys of thread-specific data: which have destructors. libc's own list cannot be asked, and a thread
//! ends for the scheduler only when no destructor of the program's is left.

use core::ffi::{c_int, c_void};
use core::sync::atomic::{AtomicUsize, Ordering};

use raddle_core::ThreadId;

use crate::control;
use crate::real;

type Destructor = unsafe extern "C-unwind" fn(*mut c_void);

/// PTHREAD_KEYS_MAX.
const KEYS: usize = 1024;

/// The destructors by key; 0 for none.
pub type Destructors = [AtomicUsize; KEYS];

/// No key from here on has one.
static END: AtomicUsize = AtomicUsize::new(0);
/// No key from here on has been made, with a destructor or without.
static MADE: AtomicUsize = AtomicUsize::new(0);

extern "C" {
    fn pthread_getspecific(key: u32) -> *mut c_void;
    fn pthread_setspecific(key: u32, value: *const c_void) -> c_int;
}

fn note(key: u32, destructor: usize) {
    // Keys may be made before our constructor runs.
    crate::process::attach::attach();
    let Some(destructors) = control::destructors() else { return };
    if let Some(entry) = destructors.get(key as usize) {
        MADE.fetch_max(key as usize + 1, Ordering::Relaxed);
        entry.store(destructor, Ordering::Relaxed);
        if destructor != 0 {
            END.fetch_max(key as usize + 1, Ordering::Relaxed);
        }
    }
}

/// The keys from `first` on that have a destructor and, in the calling thread, a value.
fn with_values(first: usize) -> impl Iterator<Item = (u32, Destructor, *mut c_void)> {
    (first..END.load(Ordering::Relaxed)).filter_map(|key| {
        let destructor = control::destructors()?[key].load(Ordering::Relaxed);
        if destructor == 0 {
            return None;
        }
        // SAFETY: a key that the program has made.
        let value = unsafe { pthread_getspecific(key as u32) };
        // SAFETY: what the program gave as a destructor.
        let destructor = unsafe { core::mem::transmute::<usize, Destructor>(destructor) };
        (!value.is_null()).then_some((key as u32, destructor, value))
    })
}

/// Whether a destructor of the program's would still be called for the calling thread.
pub(super) fn any_value() -> bool {
    with_values(0).next().is_some()
}

/// Calls the destructors of the keys after `key`, once each.
pub(super) fn call_destructors_after(me: ThreadId, key: u32) {
    for (key, destructor, value) in with_values(key as usize + 1) {
        // SAFETY: as libc does it.
        unsafe {
            pthread_setspecific(key, core::ptr::null());
            control::unlocked(me, || destructor(value));
        }
    }
    // What they set again is lost, as after libc's last round, which goes on when we return.
    for (key, ..) in with_values(key as usize + 1) {
        // SAFETY: as above.
        unsafe { pthread_setspecific(key, core::ptr::null()) };
    }
}

/// Takes away the calling thread's values: its identity is going to be another thread's.
pub(super) fn forget_values() {
    for key in 0..MADE.load(Ordering::Relaxed) as u32 {
        // SAFETY: plain numbers; a deleted key has no value.
        unsafe {
            if !pthread_getspecific(key).is_null() {
                pthread_setspecific(key, core::ptr::null());
            }
        }
    }
}

#[cfg_attr(not(test), no_mangle)]
pub unsafe extern "C-unwind" fn pthread_key_create(key: *mut u32, destructor: usize) -> c_int {
    // SAFETY: the caller's pointer.
    unsafe {
        let error = real!(pthread_key_create: fn(*mut u32, usize) -> c_int)(key, destructor);
        if error == 0 {
            note(*key, destructor);
        }
        error
    }
}

#[cfg_attr(not(test), no_mangle)]
pub unsafe extern "C-unwind" fn __pthread_key_create(key: *mut u32, destructor: usize) -> c_int {
    // SAFETY: the caller's pointer.
    unsafe { pthread_key_create(key, destructor) }
}

#[cfg_attr(not(test), no_mangle)]
pub unsafe extern "C-unwind" fn tss_create(key: *mut u32, destructor: usize) -> c_int {
    // SAFETY: the caller's pointer.
    unsafe {
        let error = real!(tss_create: fn(*mut u32, usize) -> c_int)(key, destructor);
        if error == 0 {
            note(*key, destructor);
        }
        error
    }
}

#[cfg_attr(not(test), no_mangle)]
pub unsafe extern "C-unwind" fn pthread_key_delete(key: u32) -> c_int {
    note(key, 0);
    // SAFETY: a plain number.
    unsafe { real!(pthread_key_delete: fn(u32) -> c_int)(key) }
}

#[cfg_attr(not(test), no_mangle)]
pub unsafe extern "C-unwind" fn tss_delete(key: u32) {
    note(key, 0);
    // SAFETY: a plain number.
    unsafe { real!(tss_delete: fn(u32))(key) }
}
