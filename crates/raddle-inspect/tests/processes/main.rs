//! Programs and processes looked at from outside, on real programs that the tests compile.

mod builds;
mod elf;
mod stack;
mod support;
mod variables;
