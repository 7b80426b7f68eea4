//! Programs and processes, looked at from outside.
//!
//! Nothing here runs a schedule. [`elf`] answers, before a campaign starts, whether a program can be
//! controlled at all and what it is made of; [`stack`] answers, when a run has stopped, where each
//! of its threads stands. Both only look: no program is changed, and a process that was looked at
//! runs on as before.
//!
//! | file | one idea |
//! |---|---|
//! | `elf` | what a program file is, or why it cannot be controlled |
//! | `refusal` | the reasons, in words that say what to do |
//! | `search_path` | where `execvp` would find a command |
//! | `libraries` | which shared libraries the dynamic loader would load |
//! | `build_id` | build-id, or a hash of the contents |
//! | `stack` | backtraces of the threads of a live process |
//! | `tracee` | threads held still while they are read, and let go as they were |
//! | `walk` | from a thread's registers to all its callers |
//! | `process`, `memory`, `maps`, `image` | what is in the process, and at which address |
//! | `cfi` | one step up the stack by call frame information |
//! | `signal_frame` | one step through a signal handler to what it interrupted |
//! | `builds`, `held` | what is known of a build is read once, and from the file that it was |
//! | `dynamic_symbols` | the names that a library offers, and those that it asks for |
//! | `symbols`, `symbol_table`, `debug_file` | function, file and line of an address |
//! | `names` | names of the linker, for a person |
//! | `variables` | the variable at an address |

pub mod build_id;
pub mod builds;
mod cfi;
mod debug_file;
pub mod dynamic_symbols;
pub mod elf;
mod held;
mod image;
pub mod libraries;
mod maps;
mod memory;
pub mod names;
mod process;
mod refusal;
pub mod search_path;
mod signal_frame;
pub mod stack;
mod symbol_table;
pub mod symbols;
mod tracee;
pub mod variables;
mod walk;
