//! mq_notify(3). The kernel keeps the registration and sends signals itself. For a call of a function it sends what was
//! registered to a socket: libc's own thread would read it, here one under control does. It starts the thread that makes
//! the call, and ends when no registration is left.
//!
//! Another process may open the queue at any time, so a registration means that something may come from outside: no
//! deadlock is reported while there is one. Like a wait for a signal it does not slow the clock down.

use core::ffi::{c_int, c_void};

use libc::{ENOSYS, POLLIN};
use raddle_core::{EventKind, ThreadId};

use super::callback::{call_in_thread, detached, repeat, stack_in, start_helper, Call, CallMask, HelperName};
use super::kernel_wait::{is_ready, touched, AfterHandler, Caller, Watched};
use super::{fail, result};
use crate::control::{point, scheduler, state};
use crate::model::descriptor::key;
use crate::model::signal_event::SignalEvent;
use crate::scheduler::clock::NEVER;
use crate::signals::kernel::take_from_kernel;
use crate::{interpose, syscall};

/// What the kernel keeps of a registration (NOTIFY_COOKIE_LEN bytes), and sends with a byte of its own at the end.
#[derive(Clone, Copy, Default)]
#[repr(C)]
struct Cookie {
    function: usize,
    value: usize,
    stack: usize,
    /// In pages.
    guard: u32,
    unused: [u8; 3],
    /// NOTIFY_WOKENUP, or NOTIFY_REMOVED.
    what: u8,
}

const NOTIFY_WOKENUP: u8 = 1;
const PAGE: usize = 4096;

/// The registrations of this process for calls. Valid when zeroed.
pub struct Registrations {
    /// The socket to which the kernel sends them, plus one; 0 when there is none.
    socket: c_int,
    /// How many there are, or are about to be.
    count: u32,
    /// There is a thread that reads the socket.
    has_reader: bool,
}

/// The socket, which the first registration makes.
unsafe fn socket() -> Option<c_int> {
    // SAFETY: the caller holds the baton.
    unsafe {
        let registrations = &mut state().queue_registrations;
        if registrations.socket == 0 {
            let kind = libc::SOCK_RAW | libc::SOCK_CLOEXEC;
            let made = syscall!(libc::SYS_socket, libc::AF_NETLINK, kind, 0);
            registrations.socket = made.max(-1) as c_int + 1;
        }
        registrations.socket.checked_sub(1).filter(|&socket| socket >= 0)
    }
}

/// Registers a call.
unsafe fn register(me: ThreadId, queue: c_int, event: &SignalEvent) -> c_int {
    // SAFETY: the program's event; `me` holds the baton whenever it runs.
    unsafe {
        let Some(socket) = socket() else { return fail(ENOSYS) };
        let (stack, guard) = stack_in(event.attributes);
        let cookie = Cookie {
            function: event.function,
            value: event.value,
            stack,
            guard: (guard / PAGE) as u32,
            ..Cookie::default()
        };
        let asked = SignalEvent { value: (&raw const cookie) as usize, signal: socket, ..*event };
        let error = syscall!(libc::SYS_mq_notify, queue, &asked as *const _);
        let registrations = &mut state().queue_registrations;
        if error == 0 {
            registrations.count += 1;
            if !registrations.has_reader {
                registrations.has_reader = true;
                if let Err(error) = start_helper(me, read_notices) {
                    state().queue_registrations.has_reader = false;
                    syscall!(libc::SYS_mq_notify, queue, 0);
                    close_if_idle();
                    return fail(error);
                }
            }
        }
        close_if_idle();
        result(error) as c_int
    }
}

/// Closes the socket if it is not needed.
unsafe fn close_if_idle() {
    // SAFETY: the caller holds the baton; the socket is the runtime's.
    unsafe {
        let registrations = &mut state().queue_registrations;
        if registrations.count == 0 && registrations.socket != 0 {
            syscall!(libc::SYS_close, registrations.socket - 1);
            registrations.socket = 0;
        }
    }
}

/// Where the thread starts that reads the socket.
unsafe extern "C-unwind" fn read_notices(_: *mut c_void) -> *mut c_void {
    // SAFETY: a thread under control; nothing is borrowed across a switch.
    unsafe {
        let name = HelperName::set(c"mq_notify");
        repeat(|me| {
            let registrations = &mut state().queue_registrations;
            if registrations.count == 0 {
                registrations.has_reader = false;
                close_if_idle();
                return false;
            }
            read_notice(me, registrations.socket - 1, &name);
            true
        });
    }
    core::ptr::null_mut()
}

/// Waits for what the kernel sends when a registration ends, and makes the call if there is something in the queue.
unsafe fn read_notice(me: ThreadId, socket: c_int, name: &HelperName) {
    // SAFETY: the runtime's socket; the program's function.
    unsafe {
        let mut watched = Watched::new(socket, POLLIN);
        while !is_ready(watched.fd(), POLLIN) {
            let Ok(caller) = Caller::plain(me).begin() else { continue };
            // Only a cancellation could fail, and this thread is not known to those who might ask for one.
            let _ = watched.wait_until(caller, EventKind::SigWait, NEVER, AfterHandler::Restart);
        }
        let mut cookie = Cookie::default();
        let size = size_of::<Cookie>();
        let flags = libc::MSG_DONTWAIT | libc::MSG_NOSIGNAL;
        let read = syscall!(libc::SYS_recvfrom, watched.fd(), &mut cookie as *mut _, size, flags, 0, 0);
        state().queue_registrations.count -= 1;
        if read == size as isize && cookie.what == NOTIFY_WOKENUP {
            let attributes = detached((cookie.stack, cookie.guard as usize * PAGE));
            let call = Call { function: cookie.function, value: cookie.value, mask: CallMask::Empty };
            name.put_aside(|| call_in_thread(call, (&raw const attributes).cast()));
        }
    }
}

interpose! {
    /// Asks for a signal or a call when a message comes into an empty queue.
    fn mq_notify(queue: c_int, event: *const SignalEvent) -> c_int |me| {
        point(me, EventKind::Syscall, key(queue));
        match event.as_ref().filter(|event| event.calls()) {
            Some(event) => register(me, queue, event),
            None => {
                touched();
                let error = syscall!(libc::SYS_mq_notify, queue, event);
                take_from_kernel(scheduler());
                result(error) as c_int
            }
        }
    }
}

const _: () = assert!(size_of::<Cookie>() == 32);
