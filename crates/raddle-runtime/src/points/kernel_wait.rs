//! Calls that wait for what only the kernel knows: descriptors, children, locks on files.
//!
//! Each is a schedule point and is then tried without blocking. If it would block, the thread waits
//! until a test says that it may succeed, and tries again, because another thread may have been
//! faster. Tests are made after operations of this process that can change their answer
//! (`outside_touched`) and when no thread can run.

use core::ffi::{c_int, c_void};

use libc::{pollfd, EAGAIN, EINTR};
use raddle_core::{Event, EventKind, ThreadId};

use super::cancel::cancel_is_due;
use super::time::from_now;
use crate::control::{self, point, scheduler, state};
use crate::dispatch::Request;
use crate::model::descriptor::key;
use crate::scheduler::clock::NEVER;
use crate::scheduler::thread::{Polled, Thread, Wait, Wake};
use crate::signals::lend::lent;
use crate::syscall;

/// The thread is to be cancelled. Only the interposed function itself may act on it, since nothing
/// below it can be unwound.
pub(super) struct Cancelled;

/// What a call returns, by the kernel's convention.
pub(super) type CallResult = Result<isize, Cancelled>;

/// The call would block.
pub(super) const AGAIN: isize = -(EAGAIN as isize);
/// A signal handler has run.
pub(super) const INTERRUPTED: isize = -(EINTR as isize);

/// The thread that makes a call, and how it makes it.
#[derive(Clone, Copy)]
pub(super) struct Caller {
    pub me: ThreadId,
    /// The call is a cancellation point.
    cancellable: bool,
    /// The call was made past the interposed functions.
    trapped: bool,
    /// How many signal handlers had run in the thread when the call started.
    handled: u32,
}

/// What a call does after a signal handler that was installed with SA_RESTART.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum AfterHandler {
    /// It continues to wait.
    Restart,
    /// It fails with EINTR all the same: see signal(7).
    Fail,
}

impl Caller {
    /// A function of libc that is a cancellation point.
    pub fn function(me: ThreadId) -> Caller {
        Caller { me, cancellable: true, trapped: false, handled: 0 }
    }

    /// A function of libc that is not a cancellation point.
    pub fn plain(me: ThreadId) -> Caller {
        Caller { me, cancellable: false, trapped: false, handled: 0 }
    }

    /// A trapped system call.
    pub fn trap(me: ThreadId) -> Caller {
        Caller { me, cancellable: false, trapped: true, handled: 0 }
    }

    fn thread(&self) -> &'static mut Thread {
        // SAFETY: the caller holds the baton.
        unsafe { scheduler() }.thread(self.me)
    }

    /// `Err` if the thread is to be cancelled here. In a trapped call libc decides that: where it
    /// lets a call of its own be cancelled, it sends a signal, which the handler of traps holds back.
    fn err_if_cancelled(self) -> Result<(), Cancelled> {
        if cancel_is_due(self.me) && (self.cancellable || self.trapped && cancel_signal_is_pending()) {
            return Err(Cancelled);
        }
        Ok(())
    }

    /// The schedule point before an operation. The returned caller makes the call.
    ///
    /// A trapped call stops only when it must wait: ld.so reads libraries and exit writes streams with
    /// a lock of libc's own held, and others would wait for that lock where we do not see it, in
    /// calls of the real library.
    pub fn point(self, kind: EventKind, object: usize) -> Result<Caller, Cancelled> {
        if !self.trapped {
            point(self.me, kind, object);
        }
        self.begin()
    }

    /// The start of a call without a point. The returned caller makes the call.
    pub fn begin(self) -> Result<Caller, Cancelled> {
        self.err_if_cancelled()?;
        Ok(Caller { handled: self.thread().handled, ..self })
    }

    /// Whether a signal handler has run since the call started, so that it must not wait (again).
    pub fn is_interrupted(self, after: AfterHandler) -> bool {
        let thread = self.thread();
        thread.handled != self.handled && !(after == AfterHandler::Restart && thread.restarts)
    }

    /// Waits. Returns what ended the wait, unless it was a cancellation.
    pub fn wait(self, event: Event, until: Wait, deadline: u64, after: AfterHandler) -> Result<Wake, Cancelled> {
        loop {
            self.err_if_cancelled()?;
            if self.is_interrupted(after) {
                return Ok(Wake::Interrupted);
            }
            self.thread().cancellable = self.cancellable || self.trapped;
            self.thread().interruptible = true;
            let wake = control::wait(self.me, event, until, deadline);
            self.thread().cancellable = false;
            self.thread().interruptible = false;
            match wake {
                Wake::Cancelled => {}
                Wake::Interrupted if !self.is_interrupted(after) => {}
                wake => return Ok(wake),
            }
        }
    }

    /// The call did not wait and made no progress.
    pub fn made_no_progress(self) {
        // SAFETY: the caller holds the baton.
        unsafe { scheduler() }.made_no_progress(self.me);
    }
}

/// Whether libc's own signal for cancellation waits for the calling thread. It cannot reach a fiber,
/// where libc's own fields show whether it would have an effect.
fn cancel_signal_is_pending() -> bool {
    if crate::switch::fibers() {
        return super::cancel::libc_lets_cancel();
    }
    const SIGCANCEL: u64 = 1 << 31;
    let mut pending = 0u64;
    // SAFETY: the kernel writes one set.
    unsafe { syscall!(libc::SYS_rt_sigpending, &mut pending as *mut _, 8) };
    pending & SIGCANCEL != 0
}

/// Ends an interposed function: gives its result, or acts on cancellation.
macro_rules! conclude {
    ($me:ident, $outcome:expr) => {
        match $outcome {
            Ok(result) => $crate::points::result(result) as _,
            Err($crate::points::kernel_wait::Cancelled) => {
                $crate::points::cancel::act_on_cancel($me);
                $crate::points::fail(libc::EINTR) as _
            }
        }
    };
}

pub(super) use conclude;

/// What this process did may have changed what others wait for.
pub(super) fn touched() {
    // SAFETY: the caller holds the baton.
    unsafe { scheduler() }.outside_touched = true;
}

/// Whether a descriptor is ready, or can never be.
pub(super) fn is_ready(fd: c_int, events: i16) -> bool {
    let mut entry = pollfd { fd, events, revents: 0 };
    // SAFETY: one entry that outlives the call.
    unsafe { syscall!(libc::SYS_poll, &mut entry as *mut _, 1, 0) != 0 }
}

/// Whether calls on the descriptor never block: it is non-blocking, or not open for this direction,
/// or not open at all.
pub(super) fn never_waits(fd: c_int, events: i16) -> bool {
    // SAFETY: no memory is involved.
    let flags = unsafe { syscall!(libc::SYS_fcntl, fd, libc::F_GETFL) };
    let wrong = if events & libc::POLLIN != 0 { libc::O_WRONLY } else { libc::O_RDONLY };
    flags < 0 || flags as c_int & libc::O_NONBLOCK != 0 || flags as c_int & libc::O_ACCMODE == wrong
}

/// The time-out of a socket for this direction, as a deadline.
fn time_out_of(fd: c_int, events: i16) -> u64 {
    let option = if events & libc::POLLIN != 0 { libc::SO_RCVTIMEO } else { libc::SO_SNDTIMEO };
    let mut time = libc::timeval { tv_sec: 0, tv_usec: 0 };
    let mut size = size_of::<libc::timeval>() as u32;
    // SAFETY: the kernel writes at most `size` bytes; it refuses what is not a socket.
    let error = unsafe {
        syscall!(libc::SYS_getsockopt, fd, libc::SOL_SOCKET, option, &mut time as *mut _, &mut size as *mut _)
    };
    if error != 0 || (time.tv_sec, time.tv_usec) == (0, 0) {
        return NEVER;
    }
    from_now((time.tv_sec as u64).saturating_mul(1_000_000_000).saturating_add(time.tv_usec as u64 * 1000))
}

/// One descriptor that a call may have to wait for.
pub(super) struct Watched {
    entry: pollfd,
    /// The descriptor was closed during the wait, and the entry is a copy of it.
    copied: bool,
    /// Polls that do not count, because the descriptor says that it is ready and the call that it is
    /// not: a datagram for a peer whose queue is full, an error queue that is not read.
    ignored_looks: u32,
    deadline: Option<u64>,
}

impl Watched {
    /// A descriptor and what it is to be ready for.
    pub fn new(fd: c_int, events: i16) -> Watched {
        Watched { entry: pollfd { fd, events, revents: 0 }, copied: false, ignored_looks: 0, deadline: None }
    }

    pub fn fd(&self) -> c_int {
        self.entry.fd
    }

    /// Makes a call until it does not return EAGAIN, and waits in between. The attempt gets the
    /// descriptor, and whether to make the call although it may block: it does not.
    pub fn until_done(
        &mut self,
        caller: Caller,
        kind: EventKind,
        mut attempt: impl FnMut(c_int, bool) -> isize,
    ) -> CallResult {
        let mut waited = false;
        loop {
            let mut result = lent(caller.me, || attempt(self.entry.fd, false));
            let done = result != AGAIN;
            if !done && never_waits(self.entry.fd, self.entry.events) {
                result = lent(caller.me, || attempt(self.entry.fd, true));
                if result == AGAIN {
                    caller.made_no_progress();
                    return Ok(AGAIN);
                }
            } else if !done {
                self.ignored_looks =
                    u32::from(waited && lent(caller.me, || is_ready(self.entry.fd, self.entry.events)));
                match self.wait(caller, kind)? {
                    Wake::TimedOut => return Ok(AGAIN),
                    Wake::Interrupted => return Ok(INTERRUPTED),
                    _ => waited = true,
                }
                continue;
            }
            touched();
            return Ok(result);
        }
    }

    /// Waits a little, because the descriptor says that it is ready and the call that it is not.
    pub fn wait_strange(&mut self, caller: Caller, kind: EventKind) -> Result<Wake, Cancelled> {
        self.ignored_looks = 1;
        self.wait(caller, kind)
    }

    /// Waits until the descriptor is ready, or the socket's own time-out has passed.
    pub fn wait(&mut self, caller: Caller, kind: EventKind) -> Result<Wake, Cancelled> {
        let (fd, events) = (self.entry.fd, self.entry.events);
        let deadline = *self.deadline.get_or_insert_with(|| time_out_of(fd, events));
        let after = if deadline == NEVER { AfterHandler::Restart } else { AfterHandler::Fail };
        self.wait_until(caller, kind, deadline, after)
    }

    /// Waits until the descriptor is ready, or a deadline has passed.
    pub fn wait_until(
        &mut self,
        caller: Caller,
        kind: EventKind,
        deadline: u64,
        after: AfterHandler,
    ) -> Result<Wake, Cancelled> {
        let fd = self.entry.fd;
        let strange = self.ignored_looks > 0;
        // SAFETY: the caller holds the baton.
        let closed = unsafe { state() }.closed_descriptors.contains(fd) && !strange;
        let polled = Polled {
            test: watched_is_ready,
            context: (self as *mut Watched).cast(),
            descriptors: if strange { core::ptr::null_mut() } else { &raw mut self.entry },
            count: 1,
            closed,
        };
        caller.wait(Event::new(kind, key(fd)), Wait::Polled(&raw const polled), deadline, after)
    }
}

impl Drop for Watched {
    fn drop(&mut self) {
        if self.copied {
            // SAFETY: only this call uses the copy.
            unsafe { syscall!(libc::SYS_close, self.entry.fd) };
        }
    }
}

unsafe fn watched_is_ready(context: *mut c_void) -> bool {
    // SAFETY: the context of this wait.
    let watched = unsafe { &mut *context.cast::<Watched>() };
    if !is_ready(watched.entry.fd, watched.entry.events) {
        return false;
    }
    let ignored = watched.ignored_looks > 0;
    watched.ignored_looks -= u32::from(ignored);
    !ignored
}

/// A descriptor is about to be closed: calls that wait for it keep what it stands for, as they do in
/// the kernel.
pub(super) fn keep_for_waiters(fd: c_int) {
    /// Copies get high numbers, where the program does not look for its own.
    const COPIES: [c_int; 2] = [4096, 700];
    // SAFETY: the caller holds the baton; the contexts are on the stacks of waiting threads.
    unsafe {
        let s = scheduler();
        let mut k = 0;
        while let Some(t) = s.polled.nth(k) {
            k += 1;
            let Wait::Polled(polled) = s.threads[t.index()].wait.get() else { continue };
            let Polled { test, context, .. } = *polled;
            if test as usize != watched_is_ready as *const () as usize {
                continue;
            }
            let watched = &mut *context.cast::<Watched>();
            if watched.entry.fd == fd && !watched.copied {
                let mut copies = COPIES.iter().map(|&from| syscall!(libc::SYS_fcntl, fd, libc::F_DUPFD_CLOEXEC, from));
                if let Some(copy) = copies.find(|&copy| copy >= 0) {
                    watched.entry.fd = copy as c_int;
                    watched.copied = true;
                }
            }
        }
    }
}

/// A call in a form that does not block, made until it succeeds. The kernel grants such things (locks
/// on files, units of semaphores, messages) to a waiting call, so the test makes the call.
pub(super) struct Attempts {
    pub request: Request,
    /// What it returns when it would block.
    pub would_block: isize,
    /// When to give up; 0 after the first attempt.
    pub deadline: u64,
    /// What it does after a signal handler.
    pub after: AfterHandler,
}

struct Attempt {
    request: Request,
    would_block: isize,
    result: isize,
}

unsafe fn attempt(context: *mut c_void) -> bool {
    // SAFETY: the context of this wait; the program's own system call.
    unsafe {
        let attempt = &mut *context.cast::<Attempt>();
        attempt.result = attempt.request.pass_to_kernel();
        attempt.result != attempt.would_block
    }
}

impl Attempts {
    /// Makes the call, after the schedule point, until it no longer says that it would block.
    pub unsafe fn until_done(self, caller: Caller, event: Event) -> CallResult {
        let mut context = Attempt { request: self.request, would_block: self.would_block, result: 0 };
        let pointer: *mut Attempt = &raw mut context;
        // SAFETY (all below): the program's own system call.
        if !unsafe { attempt(pointer.cast()) } {
            if self.deadline == 0 {
                caller.made_no_progress();
                return Ok(self.would_block);
            }
            let polled = Polled {
                test: attempt,
                context: pointer.cast(),
                descriptors: core::ptr::null_mut(),
                count: 0,
                closed: false,
            };
            match caller.wait(event, Wait::Polled(&raw const polled), self.deadline, self.after)? {
                Wake::TimedOut => return Ok(AGAIN),
                Wake::Interrupted => return Ok(INTERRUPTED),
                _ => {}
            }
        }
        touched();
        // The test has written it.
        Ok(unsafe { (*pointer).result })
    }
}
