//! setuid and its relatives, see nptl(7): to the kernel each thread has credentials of its own, and POSIX wants one set
//! for the process. So libc signals every other thread to make the same system call, and waits until they have.
//! Parked threads take that signal where they stand. The calling thread waits for them in the kernel, not in the
//! scheduler: none of them takes a step of its own. Fibers have one OS thread, and the system call changes that at once;
//! libc would signal the main thread, whose OS thread is the caller's.

use core::ffi::{c_char, c_int};

use libc::{gid_t, uid_t, EINVAL};
use raddle_core::{EventKind, ThreadId};
use raddle_protocol::OsReason;

use super::{fail, result};
use crate::control::{call_real, point};
use crate::process::failure;
use crate::switch::fibers;
use crate::{interpose, real, syscall};

/// Leaves a number as it is, in setresuid(2) and its relatives.
const SAME: u32 = u32::MAX;

/// Makes a call that changes the credentials of all threads: on fibers the system call, otherwise libc's function.
fn change_all(me: ThreadId, number: i64, arguments: [usize; 3], function: impl FnOnce() -> c_int) -> c_int {
    point(me, EventKind::Syscall, 0);
    if fibers() {
        let [a, b, c] = arguments;
        // SAFETY: the program's own system call.
        result(unsafe { syscall!(number, a, b, c) }) as c_int
    } else {
        call_real(me, function)
    }
}

interpose! {
    fn setuid(user: uid_t) -> c_int |me| {
        change_all(me, libc::SYS_setuid, [user as usize, 0, 0], || real!(setuid: fn(uid_t) -> c_int)(user))
    }

    fn setgid(group: gid_t) -> c_int |me| {
        change_all(me, libc::SYS_setgid, [group as usize, 0, 0], || real!(setgid: fn(gid_t) -> c_int)(group))
    }

    fn seteuid(user: uid_t) -> c_int |me| {
        let all = [SAME, user, SAME].map(|number| number as usize);
        if user == SAME {
            return fail(EINVAL);
        }
        change_all(me, libc::SYS_setresuid, all, || real!(seteuid: fn(uid_t) -> c_int)(user))
    }

    fn setegid(group: gid_t) -> c_int |me| {
        let all = [SAME, group, SAME].map(|number| number as usize);
        if group == SAME {
            return fail(EINVAL);
        }
        change_all(me, libc::SYS_setresgid, all, || real!(setegid: fn(gid_t) -> c_int)(group))
    }

    fn setreuid(user: uid_t, effective: uid_t) -> c_int |me| {
        let both = [user as usize, effective as usize, 0];
        change_all(me, libc::SYS_setreuid, both, || real!(setreuid: fn(uid_t, uid_t) -> c_int)(user, effective))
    }

    fn setregid(group: gid_t, effective: gid_t) -> c_int |me| {
        let both = [group as usize, effective as usize, 0];
        change_all(me, libc::SYS_setregid, both, || real!(setregid: fn(gid_t, gid_t) -> c_int)(group, effective))
    }

    fn setresuid(user: uid_t, effective: uid_t, saved: uid_t) -> c_int |me| {
        let all = [user, effective, saved].map(|number| number as usize);
        change_all(me, libc::SYS_setresuid, all, || {
            real!(setresuid: fn(uid_t, uid_t, uid_t) -> c_int)(user, effective, saved)
        })
    }

    fn setresgid(group: gid_t, effective: gid_t, saved: gid_t) -> c_int |me| {
        let all = [group, effective, saved].map(|number| number as usize);
        change_all(me, libc::SYS_setresgid, all, || {
            real!(setresgid: fn(gid_t, gid_t, gid_t) -> c_int)(group, effective, saved)
        })
    }

    /// Sets the supplementary groups.
    fn setgroups(count: usize, groups: *const gid_t) -> c_int |me| {
        let list = [count, groups as usize, 0];
        change_all(me, libc::SYS_setgroups, list, || real!(setgroups: fn(usize, *const gid_t) -> c_int)(count, groups))
    }

    /// Sets the supplementary groups to those of a user, which only libc can tell.
    fn initgroups(user: *const c_char, group: gid_t) -> c_int |me| {
        point(me, EventKind::Syscall, 0);
        if me != ThreadId::MAIN {
            failure::needs_os_threads(OsReason::ThreadState);
        }
        call_real(me, || real!(initgroups: fn(*const c_char, gid_t) -> c_int)(user, group))
    }
}
