//! Tests that run many schedules in one process.
//!
//! ```
//! use std::sync::{Arc, Mutex};
//! use std::thread;
//!
//! raddle::check(|| {
//!     let count = Arc::new(Mutex::new(0));
//!     let other = Arc::clone(&count);
//!     let thread = thread::spawn(move || *other.lock().unwrap() += 1);
//!     *count.lock().unwrap() += 1;
//!     thread.join().unwrap();
//!     assert_eq!(*count.lock().unwrap(), 2);
//! });
//! ```
//!
//! Under `raddle test -- ./test-binary` the body runs again and again, each time under another schedule. Without
//! raddle it runs once, as any function does: the same test is an ordinary one for `cargo test`.
//!
//! As an attribute, with all that may be said:
//!
//! ```
//! #[raddle::test(runs = 10_000, policy = "pct:d=3", seed = 7, max_steps = 1_000_000)]
//! fn hands_over() {
//!     let (sender, receiver) = std::sync::mpsc::channel();
//!     let thread = std::thread::spawn(move || sender.send(1).unwrap());
//!     assert_eq!(receiver.recv(), Ok(1));
//!     thread.join().unwrap();
//! }
//! ```
//!
//! A body uses plain threads, locks and channels; nothing is replaced. It makes all that it needs, joins all its
//! threads and leaves nothing behind.
//!
//! `RADDLE_RUNS`, `RADDLE_POLICY` and `RADDLE_SEED` in the environment go before what a test says, and the command line
//! of raddle goes before both.

#![warn(missing_docs)]

mod check;
mod iteration;
mod note;
mod outcome;
mod runtime;
mod settings;

pub use check::{check, Check};
pub use outcome::Outcome;
/// Makes a test of a function, and its body the body of a [`Check`].
///
/// ```
/// #[raddle::test]
/// fn plain() {}
///
/// #[raddle::test(runs = 10_000, policy = "pct:d=3", seed = 7, max_steps = 1_000_000)]
/// fn with_settings() {}
///
/// #[raddle::test]
/// fn may_return_an_error() -> Result<(), std::num::ParseIntError> {
///     let _number: u32 = "7".parse()?;
///     Ok(())
/// }
/// ```
///
/// | Key | Meaning |
/// |---|---|
/// | `runs` | [`Check::runs`] |
/// | `policy` | [`Check::policy`] |
/// | `seed` | [`Check::seed`] |
/// | `max_steps` | [`Check::max_steps`] |
/// | `crate` | the path of this crate, if it was renamed: `crate = my_raddle` |
///
/// The name of the check is the path of the function. Other attributes stay: with `#[should_panic]`, a test passes when
/// a run fails and the process can go on; `expected` is looked for in raddle's report, which has the panic's message.
pub use raddle_macros::test;
