//! How the program is told that something has happened, as sigevent(7) describes it: by a signal, or by a call of a
//! function in a thread of its own.
//!
//! libc makes such threads by a call that cannot be interposed. Here they are made like any thread of the program's, so
//! they are under control from their start. So are the helpers that wait for something and make them.

use core::ffi::{c_char, c_int, c_void, CStr};
use core::mem::MaybeUninit;

use raddle_core::{ThreadId, MAX_THREADS};

use super::signal::{mask_of, set_mask};
use super::{signal_send, thread, thread_attributes};
use crate::control::{self, state};
use crate::model::signal_event::SignalEvent;
use crate::signals::{deliver, LIBCS};

extern "C" {
    fn pthread_attr_init(attributes: *mut libc::pthread_attr_t) -> c_int;
    fn pthread_attr_setdetachstate(attributes: *mut libc::pthread_attr_t, state: c_int) -> c_int;
    fn pthread_attr_setstacksize(attributes: *mut libc::pthread_attr_t, size: usize) -> c_int;
    fn pthread_attr_setguardsize(attributes: *mut libc::pthread_attr_t, size: usize) -> c_int;
    fn pthread_attr_getstacksize(attributes: *const c_void, size: *mut usize) -> c_int;
    fn pthread_attr_getguardsize(attributes: *const c_void, size: *mut usize) -> c_int;
}

type Function = unsafe extern "C-unwind" fn(usize);

/// What a helper thread runs.
pub(super) type Helper = unsafe extern "C-unwind" fn(*mut c_void) -> *mut c_void;

/// Which signals the thread of a call blocks.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum CallMask {
    /// Those that its creator blocks.
    #[default]
    Inherited,
    /// None.
    Empty,
}

/// A call that is to be made.
#[derive(Clone, Copy)]
pub(super) struct Call {
    /// 0: the entry is free.
    pub function: usize,
    pub value: usize,
    pub mask: CallMask,
}

/// Calls whose threads have been created and have not started. Valid when zeroed.
pub struct Calls {
    waiting: [Call; MAX_THREADS],
}

/// Stack and guard of the threads that attributes describe; zeros for libc's own choice.
pub(super) unsafe fn stack_in(attributes: *const c_void) -> (usize, usize) {
    if attributes.is_null() {
        return (0, 0);
    }
    let (mut size, mut guard) = (0, 0);
    // SAFETY: the caller's attributes.
    unsafe {
        pthread_attr_getstacksize(attributes, &mut size);
        pthread_attr_getguardsize(attributes, &mut guard);
    }
    (size, guard)
}

/// Attributes of a detached thread with this stack and guard.
pub(super) unsafe fn detached((stack, guard): (usize, usize)) -> libc::pthread_attr_t {
    let mut attributes = MaybeUninit::uninit();
    // SAFETY: libc initialises them; a size that it refuses is left as it was.
    unsafe {
        pthread_attr_init(attributes.as_mut_ptr());
        pthread_attr_setdetachstate(attributes.as_mut_ptr(), libc::PTHREAD_CREATE_DETACHED);
        if stack != 0 {
            pthread_attr_setstacksize(attributes.as_mut_ptr(), stack);
            pthread_attr_setguardsize(attributes.as_mut_ptr(), guard);
        }
        attributes.assume_init()
    }
}

/// Creates a thread that makes a call. The call is lost if there can be no thread.
pub(super) unsafe fn call_in_thread(call: Call, attributes: *const c_void) {
    // SAFETY: the caller holds the baton.
    let waiting = unsafe { &mut state().calls.waiting };
    // One for each thread that can be there, so there is always room.
    let Some(entry) = waiting.iter_mut().find(|entry| entry.function == 0) else { return };
    *entry = call;
    let entry: *mut Call = entry;
    let mut handle = 0;
    // SAFETY: as for any thread; the entry is the new thread's until it has started.
    unsafe {
        let error = thread::pthread_create(&mut handle, attributes, make_call as *const () as usize, entry.cast());
        if error != 0 {
            (*entry).function = 0;
        }
    }
}

/// Where the thread of a call starts.
unsafe extern "C-unwind" fn make_call(entry: *mut c_void) -> *mut c_void {
    // SAFETY: the entry is this thread's; the program's own function and value.
    unsafe {
        let call = entry.cast::<Call>();
        let Call { function, value, mask } = *call;
        (*call).function = 0;
        if mask == CallMask::Empty {
            super::signal::pthread_sigmask(libc::SIG_SETMASK, &0, core::ptr::null_mut());
        }
        core::mem::transmute::<usize, Function>(function)(value);
    }
    core::ptr::null_mut()
}

/// Tells the program what has happened. Signals are sent before another thread can run, calls are threads to be created.
pub(super) unsafe fn tell(me: ThreadId, events: &[SignalEvent], code: c_int) {
    // SAFETY: the program's own signals, functions and attributes; the caller holds the baton.
    unsafe {
        for event in events.iter().filter(|event| event.kind == libc::SIGEV_SIGNAL) {
            // As in libc, nobody is told that a signal cannot be sent.
            let _ = signal_send::queue_at_once(me, event.signal, code, event.value);
        }
        for event in events.iter().filter(|event| event.calls()) {
            let call = Call { function: event.function, value: event.value, mask: CallMask::Empty };
            let own = detached((0, 0));
            let asked = event.attributes;
            call_in_thread(call, if asked.is_null() { (&raw const own).cast() } else { asked });
        }
    }
}

/// Creates a detached thread that blocks all signals, as libc's helpers do. Returns its handle, or an error number.
pub(super) unsafe fn start_helper(me: ThreadId, routine: Helper) -> Result<usize, c_int> {
    let mut handle = 0;
    // SAFETY: as for any thread; the caller holds the baton.
    let error = unsafe {
        let attributes = detached((0, 0));
        // The thread inherits the mask: until it could set its own a signal might reach it.
        let before = mask_of(me);
        deliver::change_mask(me, !LIBCS);
        let routine = routine as *const () as usize;
        let attributes = (&raw const attributes).cast();
        let error = thread::pthread_create(&mut handle, attributes, routine, core::ptr::null_mut());
        set_mask(me, before);
        error
    };
    if error == 0 {
        Ok(handle)
    } else {
        Err(error)
    }
}

/// The name of a helper while it works on its own account. Threads that it creates get the name that it inherited, as
/// they do in libc, where helpers have no names.
pub(super) struct HelperName {
    own: &'static CStr,
    inherited: [c_char; 16],
}

impl HelperName {
    /// Names the calling thread.
    pub unsafe fn set(own: &'static CStr) -> HelperName {
        let mut inherited = [0; 16];
        // SAFETY: sixteen bytes, and a text ended by a zero.
        unsafe {
            thread_attributes::prctl(libc::PR_GET_NAME, inherited.as_mut_ptr() as usize, 0, 0, 0);
            thread_attributes::prctl(libc::PR_SET_NAME, own.as_ptr() as usize, 0, 0, 0);
        }
        HelperName { own, inherited }
    }

    /// Does something under the inherited name.
    pub unsafe fn put_aside<R>(&self, action: impl FnOnce() -> R) -> R {
        // SAFETY: texts ended by a zero.
        unsafe {
            thread_attributes::prctl(libc::PR_SET_NAME, self.inherited.as_ptr() as usize, 0, 0, 0);
            let result = action();
            thread_attributes::prctl(libc::PR_SET_NAME, self.own.as_ptr() as usize, 0, 0, 0);
            result
        }
    }
}

/// Runs a helper's steps until one says that there is nothing left to do.
pub(super) unsafe fn repeat(mut step: impl FnMut(ThreadId) -> bool) {
    // SAFETY: a thread of the program's, under control; nothing is borrowed across a switch.
    while let Some(me) = control::current() {
        let _leave = control::LeaveOnDrop::armed();
        if !step(me) {
            break;
        }
    }
}
