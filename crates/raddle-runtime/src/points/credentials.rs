//! setuid and its relatives, see nptl(7): to the kernel each thread has credentials of its own, and POSIX wants one set
//! for the process. So libc signals every other thread to make the same system call, and waits until they have.
//! Parked threads take that signal where they stand. The calling thread waits for them in the kernel, not in the
//! scheduler: none of them takes a step of its own. Fibers have one OS thread, which is changed at once.

use core::ffi::{c_char, c_int};

use libc::{gid_t, uid_t};
use raddle_core::{EventKind, ThreadId};

use crate::control::{call_real, point};
use crate::{interpose, real};

/// Makes a call that changes the credentials of all threads.
fn change_all(me: ThreadId, change: impl FnOnce() -> c_int) -> c_int {
    point(me, EventKind::Syscall, 0);
    call_real(me, change)
}

interpose! {
    fn setuid(user: uid_t) -> c_int |me| {
        change_all(me, || real!(setuid: fn(uid_t) -> c_int)(user))
    }

    fn setgid(group: gid_t) -> c_int |me| {
        change_all(me, || real!(setgid: fn(gid_t) -> c_int)(group))
    }

    fn seteuid(user: uid_t) -> c_int |me| {
        change_all(me, || real!(seteuid: fn(uid_t) -> c_int)(user))
    }

    fn setegid(group: gid_t) -> c_int |me| {
        change_all(me, || real!(setegid: fn(gid_t) -> c_int)(group))
    }

    fn setreuid(user: uid_t, effective: uid_t) -> c_int |me| {
        change_all(me, || real!(setreuid: fn(uid_t, uid_t) -> c_int)(user, effective))
    }

    fn setregid(group: gid_t, effective: gid_t) -> c_int |me| {
        change_all(me, || real!(setregid: fn(gid_t, gid_t) -> c_int)(group, effective))
    }

    fn setresuid(user: uid_t, effective: uid_t, saved: uid_t) -> c_int |me| {
        change_all(me, || real!(setresuid: fn(uid_t, uid_t, uid_t) -> c_int)(user, effective, saved))
    }

    fn setresgid(group: gid_t, effective: gid_t, saved: gid_t) -> c_int |me| {
        change_all(me, || real!(setresgid: fn(gid_t, gid_t, gid_t) -> c_int)(group, effective, saved))
    }

    /// Sets the supplementary groups.
    fn setgroups(count: usize, groups: *const gid_t) -> c_int |me| {
        change_all(me, || real!(setgroups: fn(usize, *const gid_t) -> c_int)(count, groups))
    }

    /// Sets the supplementary groups to those of a user.
    fn initgroups(user: *const c_char, group: gid_t) -> c_int |me| {
        change_all(me, || real!(initgroups: fn(*const c_char, gid_t) -> c_int)(user, group))
    }
}
