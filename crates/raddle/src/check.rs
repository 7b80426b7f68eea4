//! The check that tests make.

use std::panic;

use crate::note::note;
use crate::outcome::Outcome;
use crate::runtime::Runtime;
use crate::settings::Settings;

/// Runs `body` under many schedules, with raddle's defaults: [`Check::run`] without settings.
#[track_caller]
pub fn check<F, R>(body: F)
where
    F: Fn() -> R,
    R: Outcome,
{
    Check::new().run(body);
}

/// A check and what a test says about it.
///
/// ```
/// raddle::Check::new().name("empty").runs(10_000).policy("pct:d=3").seed(7).run(|| {});
/// ```
///
/// What is not said has raddle's default. `RADDLE_RUNS`, `RADDLE_POLICY` and `RADDLE_SEED` in the environment go before
/// what is said here, and the command line of raddle goes before both.
#[derive(Clone, Debug, Default)]
#[must_use = "a check does nothing until it is `run`"]
pub struct Check {
    settings: Settings,
}

impl Check {
    /// A check of which nothing is said.
    pub fn new() -> Check {
        Check::default()
    }

    /// The test's name, for reports.
    pub fn name(mut self, name: impl Into<String>) -> Check {
        self.settings.name = Some(name.into());
        self
    }

    /// How many runs, at least 1.
    pub fn runs(mut self, runs: u64) -> Check {
        self.settings.runs = Some(runs);
        self
    }

    /// The policy, as on the command line: `pct:d=3`.
    pub fn policy(mut self, policy: impl Into<String>) -> Check {
        self.settings.policy = Some(policy.into());
        self
    }

    /// Where all choices come from.
    pub fn seed(mut self, seed: u64) -> Check {
        self.settings.seed = Some(seed);
        self
    }

    /// After how many steps a run is cut, at least 1.
    pub fn max_steps(mut self, steps: u64) -> Check {
        self.settings.max_steps = Some(steps);
        self
    }

    /// Runs `body` under many schedules, on this thread. Without raddle it runs once, and its panics are its own.
    ///
    /// The body is called many times in one process. It makes all that it needs, joins all its threads and leaves
    /// nothing behind. What it captures must be the same for every run.
    ///
    /// # Panics
    ///
    /// When the body panicked or returned an error. The message is raddle's report. A deadlock, a signal, an abort,
    /// threads that are left running and state that leaks from one run to the next end the process, and raddle reports
    /// them.
    ///
    /// When a setting is wrong.
    #[track_caller]
    pub fn run<F, R>(&self, body: F)
    where
        F: Fn() -> R,
        R: Outcome,
    {
        note!();
        self.run_body(&|| body().failure());
    }

    /// All of `run` that need not be compiled again for each body.
    #[track_caller]
    fn run_body(&self, body: &dyn Fn() -> Option<String>) {
        let wrong = |error: String| -> ! { panic!("{error}") };
        let settings = self.settings.with_environment(|name| std::env::var_os(name)).unwrap_or_else(|e| wrong(e));
        match Runtime::find().unwrap_or_else(|e| wrong(e)) {
            None => {
                if let Some(failure) = body() {
                    panic!("{failure}");
                }
            }
            Some(runtime) => {
                if let Err(report) = runtime.check(&settings, body) {
                    fail(report);
                }
            }
        }
    }
}

/// Unwinds with the report as the message.
///
/// Not by `panic!`: that calls the panic hook, which was called for the body's own panic when it happened. A second
/// call would print the report as a panic at a line that has nothing to do with the failure, and a backtrace of the
/// machinery that found it. `resume_unwind` is silent, so the report is printed here, where `cargo test` captures it.
fn fail(report: String) -> ! {
    eprintln!("{report}");
    panic::resume_unwind(Box::new(report))
}
