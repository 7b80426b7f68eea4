//! The fork server: a process that has come as far as main, and makes each run in a child of its own.

use core::ffi::c_int;
use core::sync::atomic::Ordering;

use raddle_core::policy::Descriptor;
use raddle_protocol::control::{command, event};
use raddle_protocol::{Block, Fallback};

use crate::control;
use crate::os::sys;
use crate::process::forkable::{hindrance, number};
use crate::process::{pipes, series};
use crate::signals::action::{action_of, set_action, DEFAULT};
use crate::{points, syscall};

/// Whether the process can serve runs; otherwise the command line is told why not.
pub(super) fn can_serve(block: &Block) -> bool {
    let hindrance = hindrance(block);
    if let Some(reason) = hindrance {
        refuse_fork_server(block, reason);
    }
    hindrance.is_none()
}

pub(super) fn refuse_fork_server(block: &Block, why: Fallback) {
    block.control.fallback.store(why as u32, Ordering::Release);
    block.control.event.fetch_or(event::READY, Ordering::AcqRel);
    sys::futex_wake_shared(&block.control.event);
}

/// Serves runs: returns in the child of each, with its policy, never in the server.
pub(super) unsafe fn serve(block: &Block) -> Option<&'static Descriptor> {
    let control = &block.control;
    // SAFETY: plain system calls; the real fork.
    unsafe {
        syscall!(sys::SYS_prctl, libc::PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
        control.event.fetch_or(event::READY, Ordering::AcqRel);
        sys::futex_wake_shared(&control.event);
        let server = sys::getpid();
        // The kernel would throw away how a run ended.
        let on_end_of_child = action_of(libc::SIGCHLD);
        set_action(libc::SIGCHLD, &DEFAULT);
        let input_flags = syscall!(libc::SYS_fcntl, 0, libc::F_GETFL);
        // A constructor may have read some of it.
        let input_offset = syscall!(libc::SYS_lseek, 0, 0, libc::SEEK_CUR);
        control::prefault();
        loop {
            match control.command.load(Ordering::Acquire) {
                command::RUN => control.command.store(command::IDLE, Ordering::Release),
                command::QUIT => sys::exit_group(0),
                _ => {
                    sys::futex_wait_shared(&control.command, command::IDLE, None);
                    continue;
                }
            }
            if crate::switch::fibers() {
                points::new_identity::provide_identities(&block.settings.stacks);
            }
            crate::access::racy_places::load(&block.racy_places);
            let policy = control::policy(block);
            let (first, last) = (block.settings.first_run, block.settings.last_run);
            let scratch = if first == 0 { -1 } else { series::open_scratch(block) };
            let mut run = first;
            let status = loop {
                if run != 0 {
                    series::prepare(block, run);
                }
                if input_flags >= 0 {
                    // An earlier run may have changed them.
                    syscall!(libc::SYS_fcntl, 0, libc::F_SETFL, input_flags);
                }
                let pid = fork_plainly();
                if pid == 0 {
                    sys::close(scratch);
                    if !on_end_of_child.is_default() {
                        set_action(libc::SIGCHLD, &on_end_of_child);
                    }
                    become_run(block, server, input_offset);
                    return policy;
                }
                let status = if pid < 0 { 0x7f00 } else { wait_for_run(block, pid) };
                // A good run of a series is not reported.
                if run == 0 || !series::count_good_run(block, scratch, run - first, status) || run == last {
                    break status;
                }
                run += 1;
            };
            sys::close(scratch);
            control.wait_status.store(status, Ordering::Release);
            control.event.fetch_or(event::DONE, Ordering::AcqRel);
            sys::futex_wake_shared(&control.event);
        }
    }
}

/// A fork that the program does not see: none of its handlers of `pthread_atfork` runs. It leaves libc's list of threads
/// alone, because the identities in it are to be used in the child. There is one OS thread and it holds no lock, so the
/// rest of what libc does at a fork is not needed.
unsafe fn fork_plainly() -> c_int {
    let flags = libc::SIGCHLD | libc::CLONE_CHILD_SETTID | libc::CLONE_CHILD_CLEARTID;
    let word = points::thread::tid_word(sys::thread_pointer());
    // SAFETY: a fork; the kernel writes the child's id into the child's control block.
    unsafe { syscall!(libc::SYS_clone, flags, 0, 0, word, 0) as c_int }
}

unsafe fn wait_for_run(block: &Block, pid: c_int) -> c_int {
    let mut status: c_int = 0;
    // SAFETY: the kernel writes the status.
    unsafe {
        block.control.run_pid.store(pid, Ordering::Release);
        while syscall!(libc::SYS_wait4, pid, &mut status as *mut _, 0, 0) == -(libc::EINTR as isize) {}
        // Processes that outlived the run are our children now, because we are the subreaper.
        let mut stray: c_int = 0;
        while syscall!(libc::SYS_wait4, -1i32, &mut stray as *mut _, libc::WNOHANG, 0) >= 0 {
            block.control.strays.fetch_add(1, Ordering::Relaxed);
            if !kill_children() {
                break;
            }
        }
    }
    status
}

/// Ends every child of this process; whether it has found any. A function of its own, so that its buffer is not on the
/// stack of the server, which copies what it writes to after each fork.
#[cold]
#[inline(never)]
fn kill_children() -> bool {
    let mut buffer = [0u8; 1024];
    // SAFETY: a path ended by zero and a buffer of the length given.
    unsafe {
        let fd = syscall!(sys::SYS_open, c"/proc/thread-self/children".as_ptr(), libc::O_RDONLY | libc::O_CLOEXEC);
        if fd < 0 {
            return false;
        }
        let n = syscall!(libc::SYS_read, fd, buffer.as_mut_ptr(), buffer.len());
        syscall!(libc::SYS_close, fd);
        if n <= 0 {
            return false;
        }
        let mut killed = false;
        for pid in buffer[..n as usize].split(|&b| b == b' ').filter_map(number) {
            killed |= sys::kill_child(pid);
        }
        if killed {
            let time = sys::timespec(50_000);
            syscall!(libc::SYS_nanosleep, &time as *const _, 0);
        }
        killed
    }
}

/// The child of the fork server gets what a fresh process would have.
unsafe fn become_run(block: &Block, server: c_int, input_offset: isize) {
    // SAFETY: plain system calls on paths ended by zero.
    unsafe {
        syscall!(sys::SYS_prctl, libc::PR_SET_PDEATHSIG, libc::SIGKILL, 0, 0, 0);
        if syscall!(libc::SYS_getppid) as c_int != server {
            sys::exit_group(0);
        }
        // A group of its own: signals to it must not reach the server. The session, without a terminal, is
        // the server's.
        syscall!(libc::SYS_setpgid, 0, 0);
        block.control.run_pid.store(sys::getpid(), Ordering::Release);
        points::thread_attributes::announce_robust_list();
        pipes::renew();
        if block.settings.stdin[0] != 0 {
            let fd = syscall!(sys::SYS_open, block.settings.stdin.as_ptr(), libc::O_RDONLY);
            if fd > 0 {
                syscall!(libc::SYS_dup2, fd, 0);
                syscall!(libc::SYS_close, fd);
            }
            if input_offset > 0 {
                syscall!(libc::SYS_lseek, 0, input_offset, libc::SEEK_SET);
            }
        }
        if block.settings.directory[0] != 0 {
            syscall!(libc::SYS_chdir, block.settings.directory.as_ptr());
        }
    }
}
