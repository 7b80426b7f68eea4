//! dlsym and dlvsym: a program that looks for a function of libc by its name gets ours, as it does when it calls the
//! function. Otherwise the threads of a library that asks for the next `pthread_create`, or for that of libc's handle,
//! would run outside control.
//!
//! A wrapper, which defines the function itself and looks for the one that it wraps (sanitizers, allocators), gets
//! what the loader gives it: ours would call it again.

use core::arch::naked_asm;
use core::ffi::{c_char, c_void, CStr};
use core::sync::atomic::{AtomicUsize, Ordering};

use crate::os::objects::{self, next_definition, Object, HANDLE_DEFAULT, HANDLE_NEXT};

/// The loader's functions: 0 before they are known.
static REAL_DLSYM: AtomicUsize = AtomicUsize::new(0);
static REAL_DLVSYM: AtomicUsize = AtomicUsize::new(0);

type Dlsym = unsafe extern "C" fn(*mut c_void, *const c_char) -> *mut c_void;
type Dlvsym = unsafe extern "C" fn(*mut c_void, *const c_char, *const c_char) -> *mut c_void;

fn real(of: &AtomicUsize, name: &CStr) -> usize {
    if of.load(Ordering::Relaxed) == 0 {
        of.store(next_definition(name), Ordering::Relaxed);
    }
    of.load(Ordering::Relaxed)
}

/// What a call gets: an address, or, when that is 0, what this function of the loader gives.
#[repr(C)]
struct Answer {
    address: usize,
    real: usize,
}

// The loader's functions look at their return address to know who asks. So they are jumped to, with the registers and the
// stack of the caller.

/// Finds a function by its name.
#[cfg_attr(not(test), unsafe(no_mangle))]
#[unsafe(naked)]
pub unsafe extern "C" fn dlsym(handle: *mut c_void, name: *const c_char) -> *mut c_void {
    naked_asm!(
        "mov rdx, [rsp]",
        "push rdi",
        "push rsi",
        "sub rsp, 8",
        "call {answer}",
        "add rsp, 8",
        "pop rsi",
        "pop rdi",
        "test rax, rax",
        "jnz 2f",
        "jmp rdx",
        "2:",
        "ret",
        answer = sym answer
    )
}

/// Finds a version of a function by its name.
#[cfg_attr(not(test), unsafe(no_mangle))]
#[unsafe(naked)]
pub unsafe extern "C" fn dlvsym(handle: *mut c_void, name: *const c_char, version: *const c_char) -> *mut c_void {
    naked_asm!(
        "mov rcx, [rsp]",
        "push rdi",
        "push rsi",
        "push rdx",
        "call {answer}",
        "mov r11, rdx",
        "pop rdx",
        "pop rsi",
        "pop rdi",
        "test rax, rax",
        "jnz 2f",
        "jmp r11",
        "2:",
        "ret",
        answer = sym answer_versioned
    )
}

unsafe extern "C" fn answer(handle: *mut c_void, name: *const c_char, caller: usize) -> Answer {
    let real = real(&REAL_DLSYM, c"dlsym");
    // SAFETY: the caller's handle and name.
    let address = unsafe {
        let look = core::mem::transmute::<usize, Dlsym>(real);
        match handle == HANDLE_DEFAULT {
            // What is found everywhere is ours anyway, or that of a program that defines it itself.
            true => None,
            false => ours(handle, name, caller, &|handle| look(handle, name)),
        }
    };
    Answer { address: address.unwrap_or(0), real }
}

unsafe extern "C" fn answer_versioned(
    handle: *mut c_void,
    name: *const c_char,
    version: *const c_char,
    caller: usize,
) -> Answer {
    let real = real(&REAL_DLVSYM, c"dlvsym");
    // SAFETY: the caller's handle, name and version.
    let address = unsafe {
        let look = core::mem::transmute::<usize, Dlvsym>(real);
        ours(handle, name, caller, &|handle| look(handle, name, version))
    };
    Answer { address: address.unwrap_or(0), real }
}

/// Our function of this name, if the caller is to have it: where it would get the newest one of libc. `look` asks the
/// loader what a handle knows.
unsafe fn ours(
    handle: *mut c_void,
    name: *const c_char,
    caller: usize,
    look: &dyn Fn(*mut c_void) -> *mut c_void,
) -> Option<usize> {
    if name.is_null() {
        return None;
    }
    // SAFETY: the caller's name, ended by a zero.
    let name = unsafe { CStr::from_ptr(name) };
    let own = Object::own()?;
    let ours = own.definition(name)?;
    let asks = objects::containing(caller)?;
    if core::ptr::eq(asks, own) || asks.definition(name).is_some() {
        return None;
    }
    let libc = own.behind().find(|object| object.is_named(b"libc.so"))?;
    let of_libc = libc.definition(name)?;
    if handle == HANDLE_NEXT {
        let mut others = asks.behind().filter(|object| !core::ptr::eq(*object, own));
        if !core::ptr::eq(others.find(|object| object.definition(name).is_some())?, libc) {
            return None;
        }
    }
    // The loader sees that we ask: next is then what follows this library.
    (look(handle) as usize == of_libc).then_some(ours)
}
