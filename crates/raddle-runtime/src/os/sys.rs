//! Raw system calls, made from this library's own text.
//!
//! The runtime must not call libc for them: libc's wrappers are interposed (by this library or by a
//! sanitizer), set errno and may be cancellation points. System calls from this text are also the
//! only ones that syscall user dispatch lets through.

use core::arch::asm;
use core::sync::atomic::{AtomicU32, AtomicU64, Ordering};

pub use libc::{
    SYS_clock_gettime, SYS_exit_group, SYS_futex, SYS_getpid, SYS_gettid, SYS_kill, SYS_mmap, SYS_open, SYS_prctl,
    SYS_rt_sigaction, SYS_rt_sigprocmask, SYS_tgkill, SYS_write,
};

/// A system call. Returns what the kernel returns: errors are -4095..=-1.
///
/// # Safety
/// As for the system call itself.
#[inline]
pub unsafe fn syscall6(n: i64, a: usize, b: usize, c: usize, d: usize, e: usize, f: usize) -> isize {
    if !is_about_memory_or_order(n) {
        answered();
    }
    let result;
    // SAFETY: the kernel clobbers rcx and r11 only; memory effects are the caller's business.
    unsafe {
        asm!("syscall", inlateout("rax") n as isize => result, in("rdi") a, in("rsi") b, in("rdx") c,
             in("r10") d, in("r8") e, in("r9") f, lateout("rcx") _, lateout("r11") _, options(nostack));
    }
    result
}

/// Answers that this process got from outside.
static ANSWERS: AtomicU64 = AtomicU64::new(0);

/// How many answers this process got from outside: each is the result of a system call, the program's own or one that is
/// made for it, or the time. Between two equal numbers the kernel's state has not changed by what the program did.
pub fn answers() -> u64 {
    ANSWERS.load(Ordering::Relaxed)
}

/// The program gets an answer from outside.
#[inline(always)]
pub fn answered() {
    // One thread at a time comes here where the number matters; elsewhere some may be lost.
    ANSWERS.store(ANSWERS.load(Ordering::Relaxed).wrapping_add(1), Ordering::Relaxed);
}

/// Makes system calls that the program does not see, so that they are no answers.
pub fn unseen<R>(calls: impl FnOnce() -> R) -> R {
    let before = answers();
    let result = calls();
    ANSWERS.store(before, Ordering::Relaxed);
    result
}

/// Calls whose whole effect is in what memory there is, or in which thread goes next; and names that never change.
#[inline(always)]
const fn is_about_memory_or_order(n: i64) -> bool {
    matches!(
        n,
        libc::SYS_futex
            | libc::SYS_mmap
            | libc::SYS_munmap
            | libc::SYS_mprotect
            | libc::SYS_mremap
            | libc::SYS_madvise
            | libc::SYS_brk
            | libc::SYS_sched_yield
            | libc::SYS_gettid
            | libc::SYS_getpid
    )
}

/// [`syscall6`] with the number of arguments as written.
macro_rules! syscall {
    ($n:expr) => { $crate::os::sys::syscall6($n, 0, 0, 0, 0, 0, 0) };
    ($n:expr, $a:expr) => { $crate::os::sys::syscall6($n, $a as usize, 0, 0, 0, 0, 0) };
    ($n:expr, $a:expr, $b:expr) => { $crate::os::sys::syscall6($n, $a as usize, $b as usize, 0, 0, 0, 0) };
    ($n:expr, $a:expr, $b:expr, $c:expr) => {
        $crate::os::sys::syscall6($n, $a as usize, $b as usize, $c as usize, 0, 0, 0)
    };
    ($n:expr, $a:expr, $b:expr, $c:expr, $d:expr) => {
        $crate::os::sys::syscall6($n, $a as usize, $b as usize, $c as usize, $d as usize, 0, 0)
    };
    ($n:expr, $a:expr, $b:expr, $c:expr, $d:expr, $e:expr) => {
        $crate::os::sys::syscall6($n, $a as usize, $b as usize, $c as usize, $d as usize, $e as usize, 0)
    };
    ($n:expr, $a:expr, $b:expr, $c:expr, $d:expr, $e:expr, $f:expr) => {
        $crate::os::sys::syscall6($n, $a as usize, $b as usize, $c as usize, $d as usize, $e as usize, $f as usize)
    };
}
pub(crate) use syscall;

/// FUTEX_WAIT on a word of this process; returns at once when the word is not `value`.
pub fn futex_wait(word: &AtomicU32, value: u32) {
    // SAFETY: the word outlives the call; the kernel only reads it.
    unsafe { syscall!(SYS_futex, word as *const _, libc::FUTEX_WAIT | libc::FUTEX_PRIVATE_FLAG, value, 0) };
}

/// [`futex_wait`], for at most `nanoseconds`.
pub fn futex_wait_for(word: &AtomicU32, value: u32, nanoseconds: Option<u64>) {
    let time = nanoseconds.map(timespec);
    let pointer = time.as_ref().map_or(core::ptr::null(), |t| t as *const libc::timespec);
    // SAFETY: the word and the time outlive the call.
    unsafe { syscall!(SYS_futex, word as *const _, libc::FUTEX_WAIT | libc::FUTEX_PRIVATE_FLAG, value, pointer) };
}

/// FUTEX_WAIT with a time-out in nanoseconds, on a word that another process may wake.
pub fn futex_wait_shared(word: &AtomicU32, value: u32, nanoseconds: Option<u64>) {
    let time = nanoseconds.map(timespec);
    let pointer = time.as_ref().map_or(core::ptr::null(), |t| t as *const libc::timespec);
    // SAFETY: the word and the time outlive the call.
    unsafe { syscall!(SYS_futex, word as *const _, libc::FUTEX_WAIT, value, pointer) };
}

/// FUTEX_WAKE of one thread of this process.
pub fn futex_wake(word: &AtomicU32) {
    // SAFETY: the kernel uses the address as a key only.
    unsafe { syscall!(SYS_futex, word as *const _, libc::FUTEX_WAKE | libc::FUTEX_PRIVATE_FLAG, 1) };
}

/// FUTEX_WAKE of all waiters, in any process.
pub fn futex_wake_shared(word: &AtomicU32) {
    // SAFETY: the kernel uses the address as a key only.
    unsafe { syscall!(SYS_futex, word as *const _, libc::FUTEX_WAKE, i32::MAX) };
}

/// Nanoseconds as the kernel wants them.
pub fn timespec(nanoseconds: u64) -> libc::timespec {
    libc::timespec { tv_sec: (nanoseconds / 1_000_000_000) as i64, tv_nsec: (nanoseconds % 1_000_000_000) as i64 }
}

/// The kernel's id of the calling thread.
pub fn gettid() -> i32 {
    // SAFETY: no arguments.
    unsafe { syscall!(SYS_gettid) as i32 }
}

/// The core that the calling thread is on.
pub fn core_here() -> usize {
    let mut core = 0u32;
    // SAFETY: the kernel writes one word.
    unsafe { syscall!(libc::SYS_getcpu, &mut core as *mut u32, 0, 0) };
    core as usize
}

/// The cores that the calling thread may run on, a bit each; 0 when they do not fit.
pub fn cores() -> u64 {
    let mut set = [0u64; 128];
    // SAFETY: the kernel writes into the set, and says how many bytes.
    let bytes = unsafe { syscall!(libc::SYS_sched_getaffinity, 0, size_of_val(&set), set.as_mut_ptr()) };
    match bytes > 0 && set[1..].iter().all(|word| *word == 0) {
        true => set[0],
        false => 0,
    }
}

/// Sets the cores on which a thread may run; 0 is the calling thread.
pub fn run_on(tid: i32, cores: u64) {
    // SAFETY: the kernel reads one word.
    unsafe { syscall!(libc::SYS_sched_setaffinity, tid, size_of_val(&cores), &cores as *const u64) };
}

/// The id of this process.
pub fn getpid() -> i32 {
    // SAFETY: no arguments.
    unsafe { syscall!(SYS_getpid) as i32 }
}

/// Kills a child of this process. Returns whether there is one of this number: what /proc shows may be the processes of
/// another namespace, and a child that was waited for is another process by now.
pub fn kill_child(pid: i32) -> bool {
    let options = libc::WEXITED | libc::WNOHANG | libc::WNOWAIT;
    // SAFETY: only asks; then a signal to a process that has not been waited for.
    unsafe {
        let ours = pid > 1 && syscall!(libc::SYS_waitid, libc::P_PID, pid, 0, options, 0) == 0;
        if ours {
            syscall!(SYS_kill, pid, libc::SIGKILL);
        }
        ours
    }
}

/// Closes one of our own descriptors; a negative number is ignored.
pub fn close(fd: i32) {
    if fd >= 0 {
        // SAFETY: the caller's descriptor.
        unsafe { syscall!(libc::SYS_close, fd) };
    }
}

/// The path under /proc of an open descriptor, ended by zeros.
pub fn descriptor_path(fd: i32) -> [u8; 26] {
    let mut path = *b"/proc/self/fd/\0\0\0\0\0\0\0\0\0\0\0\0";
    let mut digits = [0u8; 10];
    let mut rest = fd.unsigned_abs();
    let mut count = 0;
    while count == 0 || rest > 0 {
        digits[count] = b'0' + (rest % 10) as u8;
        rest /= 10;
        count += 1;
    }
    let places = path[14..].iter_mut();
    places.zip(digits[..count].iter().rev()).for_each(|(place, digit)| *place = *digit);
    path
}

/// Lets the kernel run another thread for a moment.
pub fn give_way() {
    sleep(20_000);
}

/// Sleeps in real time.
pub fn sleep(nanoseconds: u64) {
    let time = timespec(nanoseconds);
    // SAFETY: reads the time only.
    unsafe { syscall!(libc::SYS_nanosleep, &time as *const _, 0) };
}

/// Whether a thread of this process sleeps in the kernel and waits for something that may never come.
pub fn thread_sleeps(tid: i32) -> bool {
    let mut path = *b"/proc/self/task/0000000000/stat\0";
    let digits = &mut path[16..26];
    let mut rest = tid;
    for digit in digits.iter_mut().rev() {
        *digit = b'0' + (rest % 10) as u8;
        rest /= 10;
    }
    // The kernel knows numbers without leading zeros only.
    let zeros = digits.iter().position(|&digit| digit != b'0').unwrap_or(9);
    path.copy_within(16 + zeros.., 16);
    let mut text = [0u8; 128];
    // SAFETY: a path ended by zero, and a buffer of the length given.
    let read = unsafe {
        let fd = syscall!(SYS_open, path.as_ptr(), libc::O_RDONLY | libc::O_CLOEXEC);
        if fd < 0 {
            return false;
        }
        let read = syscall!(libc::SYS_read, fd, text.as_mut_ptr(), text.len());
        close(fd as i32);
        read
    };
    // The state follows the name, which is in brackets and may have any in it.
    let text = &text[..read.max(0) as usize];
    let state = text.iter().rposition(|&byte| byte == b')').and_then(|at| text.get(at + 2));
    state == Some(&b'S')
}

/// The real monotonic clock, in nanoseconds.
pub fn real_monotonic() -> u64 {
    time_of(libc::CLOCK_MONOTONIC)
}

/// The CPU time that this process has used, in nanoseconds.
pub fn cpu_time() -> u64 {
    time_of(libc::CLOCK_PROCESS_CPUTIME_ID)
}

fn time_of(clock: libc::clockid_t) -> u64 {
    let mut time = timespec(0);
    // SAFETY: the kernel writes one timespec.
    unsafe { syscall!(SYS_clock_gettime, clock, &mut time as *mut _) };
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

/// Ends the process at once.
#[link_section = "raddle_run"]
pub fn exit_group(status: i32) -> ! {
    loop {
        // SAFETY: does not return.
        unsafe { syscall!(SYS_exit_group, status) };
    }
}

/// Writes a line to standard error, for messages that have no other way out.
pub fn complain(text: &str) {
    // SAFETY: reads the text only.
    unsafe { syscall!(SYS_write, 2, text.as_ptr(), text.len()) };
}

/// The FS base: the thread pointer, which identifies a thread on any OS thread.
#[inline(always)]
pub fn thread_pointer() -> usize {
    let base;
    // SAFETY: on x86-64 glibc the first word of the thread control block is its own address.
    unsafe { asm!("mov {}, fs:0", out(reg) base, options(nostack, preserves_flags, readonly)) };
    base
}

/// The control words of floating-point arithmetic, as `raddle_swap` saves them.
pub fn rounding_modes() -> u64 {
    let mut modes = 0u64;
    // SAFETY: stores six bytes.
    unsafe {
        asm!("stmxcsr [{0}]", "fnstcw [{0} + 4]", in(reg) &mut modes, options(nostack, preserves_flags));
    }
    modes
}

/// Whether programs may set the FS base by an instruction (wrfsbase; Linux 5.9): bit 1 of AT_HWCAP2.
pub fn has_fsgsbase() -> bool {
    extern "C" {
        fn getauxval(kind: u64) -> u64;
    }
    const HWCAP2_FSGSBASE: u64 = 2;
    // SAFETY: reads the process's own auxiliary vector.
    unsafe { getauxval(libc::AT_HWCAP2) & HWCAP2_FSGSBASE != 0 }
}

/// Fresh zeroed memory of the runtime's own, at an address that does not depend on the target.
pub fn map_at(address: usize, size: usize) -> *mut u8 {
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE | libc::MAP_FIXED_NOREPLACE;
    // SAFETY: MAP_FIXED_NOREPLACE never replaces a mapping.
    let got = unsafe { syscall!(SYS_mmap, address, size, libc::PROT_READ | libc::PROT_WRITE, flags, -1isize, 0) };
    if got as usize != address {
        complain("raddle: cannot map the runtime's memory\n");
        exit_group(125);
    }
    address as *mut u8
}

/// Whether an id is that of a thread of this process, or of the process that forked it.
pub fn is_own_thread(tid: i32) -> bool {
    // SAFETY: signal 0 only asks.
    tid > 0 && unsafe { syscall!(SYS_tgkill, getpid(), tid, 0) == 0 || syscall!(libc::SYS_getppid) == tid as isize }
}

/// Goes back to what a signal has interrupted, past all frames above.
///
/// # Safety
/// `sp` is the stack pointer of a signal handler that has returned; nothing in the frames above needs to be dropped.
pub unsafe fn return_from_signal(sp: usize) -> ! {
    // SAFETY: the caller's promise.
    unsafe {
        core::arch::asm!("mov rsp, {}", "syscall", in(reg) sp, in("rax") libc::SYS_rt_sigreturn, options(noreturn));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_of_descriptors() {
        assert!(descriptor_path(0).starts_with(b"/proc/self/fd/0\0"));
        assert!(descriptor_path(1203).starts_with(b"/proc/self/fd/1203\0"));
        assert!(descriptor_path(i32::MAX).starts_with(b"/proc/self/fd/2147483647\0"));
    }
}
