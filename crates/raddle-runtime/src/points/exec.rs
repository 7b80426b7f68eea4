//! execve(2) and execveat(2): another program takes the place of this one, in the same process. The runtime goes with it,
//! and the run goes on in the new program.
//!
//! libc's functions of the family all end in these system calls, which are trapped. In children they are not. The new program gets the environment that it was to have, with what loads the runtime into it added.
//! The runtime there takes it out again before main. The descriptor of the block is opened anew, because the program was
//! not to have it open.

use core::ffi::{c_char, c_int, CStr};
use core::fmt::{self, Write};
use core::sync::atomic::Ordering;

use raddle_core::{EventKind, ThreadId};
use raddle_protocol::block::{FD_VARIABLE, ROOM, ROOMS, USERS_PRELOAD};
use raddle_protocol::settings::flag;
use raddle_protocol::{Block, Escape, Fallback, Outcome};

use super::{alarm, tick};
use crate::control::{self, point, scheduler, Mode};
use crate::dispatch::Request;
use crate::os::executable::{self, Kind};
use crate::os::objects::Object;
use crate::os::sys;
use crate::process::failure;
use crate::{interpose, real, syscall};

type Strings = *const *const c_char;

/// The number under which the new program inherits the block, if it is free: see `BLOCK_DESCRIPTOR` in the engine.
const DESCRIPTOR: c_int = 900;

/// Makes the system call, of which the number of the path's argument is given; returns only if it fails.
pub(super) unsafe fn replace(me: ThreadId, mut request: Request, path: usize) -> isize {
    point(me, EventKind::ProcessExit, 0);
    let [directory, name, flags] = match path {
        0 => [libc::AT_FDCWD as usize, request.arguments[0], 0],
        _ => [request.arguments[0], request.arguments[1], request.arguments[4]],
    };
    // SAFETY: the program's own system call; `me` holds the baton.
    unsafe {
        let Some(block) = control::block() else { return request.pass_to_kernel() };
        match executable::kind(directory as c_int, name as *const c_char, flags as c_int) {
            // The kernel says what is wrong.
            None => request.pass_to_kernel(),
            Some(Kind::Foreign) => leave_behind(me, &request),
            Some(Kind::Dynamic) => {
                if block.settings.flags & flag::FORK_SERVER != 0 {
                    block.control.fallback.store(Fallback::Exec as u32, Ordering::Release);
                    sys::exit_group(0);
                }
                let environment = request.arguments[path + 2] as Strings;
                let Some(baggage) = Baggage::pack(block, environment) else { return leave_behind(me, &request) };
                request.arguments[path + 2] = baggage.environment as usize;
                let error = hand_over(me, block, &request);
                baggage.unpack();
                error
            }
        }
    }
}

interpose! {
    // Trapped, unless a child calls them.
    fn execve(path: *const c_char, arguments: Strings, environment: Strings) -> c_int |_| {
        real!(execve: fn(*const c_char, Strings, Strings) -> c_int)(path, arguments, environment)
    } before {
        note_child(arguments);
    }

    /// With the environment of the caller.
    fn execv(path: *const c_char, arguments: Strings) -> c_int |_| {
        real!(execv: fn(*const c_char, Strings) -> c_int)(path, arguments)
    } before {
        note_child(arguments);
    }

    /// Looks for the program.
    fn execvp(file: *const c_char, arguments: Strings) -> c_int |_| {
        real!(execvp: fn(*const c_char, Strings) -> c_int)(file, arguments)
    } before {
        note_child(arguments);
    }

    /// Looks for the program.
    fn execvpe(file: *const c_char, arguments: Strings, environment: Strings) -> c_int |_| {
        real!(execvpe: fn(*const c_char, Strings, Strings) -> c_int)(file, arguments, environment)
    } before {
        note_child(arguments);
    }
}

/// A child is about to start a program: if nothing is under control, the report names the command.
unsafe fn note_child(arguments: Strings) {
    let Some(block) = control::block().filter(|_| control::mode() == Mode::PassThrough) else { return };
    let block = block as *const Block as *mut Block;
    // SAFETY: the caller's list of strings, ended by null. Another child may write at the same time: then the text is
    // wrong, but it always ends with the field's last byte.
    unsafe {
        let field = &mut (*block).child_command;
        field.fill(0);
        let mut text = Words { field: &mut field[..255], used: 0 };
        let mut i = 0;
        while let Some(word) = arguments.as_ref().and_then(|_| (*arguments.add(i)).as_ref()) {
            if !text.put(CStr::from_ptr(word).to_bytes()) {
                // Half a command would be another one.
                return field.fill(0);
            }
            i += 1;
        }
    }
}

/// Words of a shell in a field of a fixed size.
struct Words<'a> {
    field: &'a mut [u8],
    used: usize,
}

impl Words<'_> {
    /// Returns whether there was room.
    fn put(&mut self, word: &[u8]) -> bool {
        let is_plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"-_./=:,+@%".contains(byte);
        let quoted = word.is_empty() || !word.iter().all(is_plain);
        let separated = self.used == 0 || self.push(b" ");
        separated
            && (!quoted || self.push(b"'"))
            && word.iter().all(|byte| self.push(if *byte == b'\'' { b"'\\''" } else { core::slice::from_ref(byte) }))
            && (!quoted || self.push(b"'"))
    }

    fn push(&mut self, part: &[u8]) -> bool {
        let Some(room) = self.field.get_mut(self.used..self.used + part.len()) else { return false };
        room.copy_from_slice(part);
        self.used += part.len();
        true
    }
}

/// The new program cannot be put under control.
unsafe fn leave_behind(me: ThreadId, request: &Request) -> isize {
    // SAFETY: `me` holds the baton.
    unsafe {
        let s = scheduler();
        s.escaped(Escape::Exec);
        failure::record(s, Outcome::Exited);
        let state = KernelState::lend(me);
        alarm::give_to_kernel();
        let error = request.pass_to_kernel();
        alarm::take_from_kernel();
        state.take_back();
        s.results().outcome = Outcome::Unknown as u32;
        error
    }
}

/// The run goes on in the new program.
unsafe fn hand_over(me: ThreadId, block: &Block, request: &Request) -> isize {
    // SAFETY: `me` holds the baton.
    unsafe {
        let control = &block.control;
        let (left, interval) = alarm::left();
        control.alarm.store(left, Ordering::Relaxed);
        control.alarm_interval.store(interval, Ordering::Relaxed);
        control.clock.store(scheduler().clock.now(), Ordering::Relaxed);
        control.execs.fetch_add(1, Ordering::Relaxed);
        let state = KernelState::lend(me);
        let error = request.pass_to_kernel();
        state.take_back();
        control.execs.fetch_sub(1, Ordering::Relaxed);
        control.alarm.store(0, Ordering::Relaxed);
        error
    }
}

/// What the new program inherits of the kernel's state and the runtime has changed.
struct KernelState {
    mask: u64,
}

impl KernelState {
    /// Makes it what the thread believes that it is. Handlers are gone with the program, and ignored signals are ignored.
    unsafe fn lend(me: ThreadId) -> KernelState {
        let mut mask = 0u64;
        // SAFETY: the kernel reads one mask and writes the other; the baton.
        unsafe {
            tick::stop();
            let own = scheduler().threads[me.index()].signal_mask;
            let size = size_of_val(&mask);
            syscall!(sys::SYS_rt_sigprocmask, libc::SIG_SETMASK, &own as *const _, &mut mask as *mut _, size);
            // It is the main thread's alone.
            syscall!(sys::SYS_prctl, libc::PR_SET_PDEATHSIG, libc::SIGKILL, 0, 0, 0);
        }
        KernelState { mask }
    }

    unsafe fn take_back(self) {
        // SAFETY: the kernel reads the mask.
        unsafe {
            syscall!(sys::SYS_rt_sigprocmask, libc::SIG_SETMASK, &self.mask as *const _, 0, size_of_val(&self.mask));
        }
        tick::start();
    }
}

/// What the runtime takes along: an environment, and the block's descriptor.
struct Baggage {
    environment: Strings,
    memory: usize,
    size: usize,
    descriptor: c_int,
}

impl Baggage {
    /// `None`: the block cannot be opened, or there is no memory.
    unsafe fn pack(block: &Block, environment: Strings) -> Option<Baggage> {
        // SAFETY: the program's list of strings, ended by null, or null; memory of the size that was asked for.
        unsafe {
            let variables = |i: usize| match environment.is_null() {
                true => None,
                false => (*environment.add(i)).as_ref(),
            };
            let count = (0..).take_while(|&i| variables(i).is_some()).count();
            let users = (0..count).filter_map(variables).find_map(|variable| value(variable, "LD_PRELOAD"));
            let runtime = Object::own()?.path()?;
            let texts = 128 + runtime.len() + 2 * users.map_or(0, <[u8]>::len);
            let size = (count + ROOMS + 4) * size_of::<usize>() + texts;
            let descriptor = open(block)?;
            let Some(memory) = map(size) else {
                sys::close(descriptor);
                return None;
            };
            let mut list = memory as *mut *const c_char;
            let mut texts = Texts { at: memory + size - texts };
            let mut put = |entry: *const c_char| {
                list.write(entry);
                list = list.add(1);
            };
            let kept = (0..count).filter_map(variables).filter(|variable| value(variable, "LD_PRELOAD").is_none());
            kept.for_each(|variable| put(variable));
            match users {
                None => put(texts.join(&[b"LD_PRELOAD=", runtime])),
                Some(users) => {
                    put(texts.join(&[b"LD_PRELOAD=", runtime, b":", users]));
                    put(texts.join(&[USERS_PRELOAD.as_bytes(), b"=", users]));
                }
            }
            put(texts.format(format_args!("{FD_VARIABLE}={descriptor}")));
            let room = texts.join(&[ROOM.as_bytes()]);
            (0..ROOMS).for_each(|_| put(room));
            put(core::ptr::null());
            Some(Baggage { environment: memory as Strings, memory, size, descriptor })
        }
    }

    /// There was no departure.
    unsafe fn unpack(self) {
        sys::close(self.descriptor);
        // SAFETY: mapped for this alone.
        unsafe { syscall!(libc::SYS_munmap, self.memory, self.size) };
    }
}

/// The value of a variable, if it has this name.
unsafe fn value<'a>(variable: &'a c_char, name: &str) -> Option<&'a [u8]> {
    // SAFETY: the program's text, ended by a zero.
    let text = unsafe { CStr::from_ptr(variable) }.to_bytes();
    text.strip_prefix(name.as_bytes())?.strip_prefix(b"=")
}

/// Opens the block again, for the next program.
fn open(block: &Block) -> Option<c_int> {
    // SAFETY: a path ended by zero; descriptors of ours.
    unsafe {
        let fd = syscall!(sys::SYS_open, block.settings.block_path.as_ptr(), libc::O_RDWR | libc::O_CLOEXEC) as c_int;
        if fd < 0 {
            return None;
        }
        // Where the limit of open files is low, a low number does as well.
        let copy = |least: c_int| syscall!(libc::SYS_fcntl, fd, libc::F_DUPFD, least) as c_int;
        let copy = [DESCRIPTOR, 3].into_iter().map(copy).find(|&copy| copy >= 0);
        sys::close(fd);
        copy
    }
}

fn map(size: usize) -> Option<usize> {
    let (rights, flags) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS);
    // SAFETY: new memory.
    let at = unsafe { syscall!(sys::SYS_mmap, 0, size, rights, flags, -1isize, 0) };
    (at > 0).then_some(at as usize)
}

/// Memory into which texts are put, each ended by a zero. There is enough of it, and it is zero.
struct Texts {
    at: usize,
}

impl Texts {
    unsafe fn join(&mut self, parts: &[&[u8]]) -> *const c_char {
        let start = self.at;
        // SAFETY: `Baggage::pack` has counted.
        parts.iter().for_each(|part| unsafe { self.push(part) });
        self.at += 1;
        start as *const c_char
    }

    unsafe fn format(&mut self, text: fmt::Arguments<'_>) -> *const c_char {
        let start = self.at;
        // There is nothing that could fail.
        let _ = self.write_fmt(text);
        self.at += 1;
        start as *const c_char
    }

    unsafe fn push(&mut self, part: &[u8]) {
        // SAFETY: as above.
        unsafe { core::ptr::copy_nonoverlapping(part.as_ptr(), self.at as *mut u8, part.len()) };
        self.at += part.len();
    }
}

impl fmt::Write for Texts {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        // SAFETY: as above.
        unsafe { self.push(text.as_bytes()) };
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_quoted_as_a_shell_reads_them() {
        let mut field = [0u8; 32];
        let mut words = Words { field: &mut field, used: 0 };
        assert!([&b"./a"[..], b"", b"two words", b"it's"].into_iter().all(|word| words.put(word)));
        assert!(!words.put(b"too long for it"));
        assert!(field.starts_with(b"./a '' 'two words' 'it'\\''s'"));
    }
}
