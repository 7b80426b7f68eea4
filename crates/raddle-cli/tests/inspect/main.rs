//! Programs and processes looked at from outside, on real programs that the tests compile.

mod elf;
mod stack;
mod support;
