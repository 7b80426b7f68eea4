//! What the runtime asks of the kernel, without libc: system calls, output, the address space.

pub mod instruction;
pub mod memory;
pub mod out_of_line;
pub mod output;
pub mod sys;
