//! One step through a signal handler to what the signal interrupted.
//!
//! A handler returns to a trampoline that does nothing but call `rt_sigreturn`; the registers of the
//! interrupted code lie on the stack, where the kernel put them. Call frame information for the
//! trampoline exists in glibc but not for a restorer that a program installs by itself, so the
//! trampoline is known by its instructions, as gdb knows it.

use addr2line::gimli::X86_64;

use super::cfi::Registers;
use super::memory::Memory;

/// `mov $15, %rax; syscall`, as glibc has it.
const LONG: [u8; 9] = [0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05];
/// `mov $15, %eax; syscall`, as compilers make it.
const SHORT: [u8; 7] = [0xb8, 0x0f, 0, 0, 0, 0x0f, 0x05];

/// Where the general registers start in the kernel's `struct ucontext`.
const REGISTERS: u64 = 40;
/// In which order the kernel stores them there (`struct sigcontext`).
const ORDER: [addr2line::gimli::Register; 17] = [
    X86_64::R8,
    X86_64::R9,
    X86_64::R10,
    X86_64::R11,
    X86_64::R12,
    X86_64::R13,
    X86_64::R14,
    X86_64::R15,
    X86_64::RDI,
    X86_64::RSI,
    X86_64::RBP,
    X86_64::RBX,
    X86_64::RDX,
    X86_64::RAX,
    X86_64::RCX,
    X86_64::RSP,
    X86_64::RA,
];

/// Whether an address is that of a trampoline which returns from a signal handler.
pub(super) fn is_trampoline(address: u64, memory: &mut Memory) -> bool {
    let mut matches = |code: &[u8]| {
        let mut bytes = [0; LONG.len()];
        let bytes = &mut bytes[..code.len()];
        memory.copy(address, bytes).is_some() && bytes == code
    };
    matches(&LONG) || matches(&SHORT)
}

/// The registers at the moment of the signal. The stack pointer at the trampoline is the address of
/// the context, since the return into the trampoline took its address off the stack.
pub(super) fn interrupted(registers: &Registers, memory: &mut Memory) -> Option<Registers> {
    let context = registers.sp()?.checked_add(REGISTERS)?;
    let mut interrupted = *registers;
    for (index, register) in (0..).zip(ORDER) {
        let value = memory.word(context.checked_add(8 * index)?)?;
        interrupted.set(register, Some(value));
    }
    Some(interrupted)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_trampolines_are_known_by_their_code() {
        let mut memory = Memory::of(std::process::id() as i32);
        let long = LONG.to_vec();
        let short = [&SHORT[..], &[0x90; 8]].concat();
        let other = [0x90; 16];
        assert!(is_trampoline(long.as_ptr() as u64, &mut memory));
        assert!(is_trampoline(short.as_ptr() as u64, &mut memory));
        assert!(!is_trampoline(other.as_ptr() as u64, &mut memory));
        assert!(!is_trampoline(0, &mut memory));
    }
}
