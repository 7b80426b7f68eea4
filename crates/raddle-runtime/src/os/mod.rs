//! What the runtime asks of the kernel, without libc: system calls, output, the address space.

pub mod memory;
pub mod output;
pub mod sys;
