//! Programs and processes looked at from outside, on real programs that the tests compile.

mod builds;
mod calls;
mod elf;
mod stack;
mod support;
mod undisturbed;
mod variables;
