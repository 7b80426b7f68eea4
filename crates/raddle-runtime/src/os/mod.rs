//! What the runtime asks of the kernel, without libc: system calls, output, the address space;
//! and what the loader has loaded.

pub mod executable;
pub mod memory;
pub mod objects;
pub mod output;
pub mod sys;
