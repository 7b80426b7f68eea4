//! What the runtime asks of the kernel, without libc: system calls, output, the address space;
//! and what the loader has loaded.

pub mod executable;
pub mod instruction;
pub mod memory;
pub mod objects;
pub mod out_of_line;
pub mod output;
pub mod sys;
