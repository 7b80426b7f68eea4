//! Programs and processes looked at from outside, on real programs that the tests compile.

mod builds;
mod bundle;
mod each_test;
mod elf;
mod stack;
mod support;
mod variables;
