//! The live line: runs, runs per second, distinct schedules, failures.

use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::tally::Tally;
use crate::report::number;

/// How often the line changes.
const EVERY: Duration = Duration::from_millis(100);

/// The live line on standard error; nothing at all when that is no terminal.
pub struct Progress {
    bar: ProgressBar,
    started: Instant,
    shown: Option<Instant>,
}

impl Progress {
    /// A line for so many runs, if there is to be one.
    pub fn new(runs: u64, show: bool) -> Progress {
        let target = if show { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() };
        let bar = ProgressBar::with_draw_target(Some(runs), target);
        // No template of ours can be wrong; the default one would do as well.
        if let Ok(style) = ProgressStyle::with_template("{bar:20} {wide_msg}") {
            bar.set_style(style.progress_chars("━╸─"));
        }
        Progress { bar, started: Instant::now(), shown: None }
    }

    /// Shows where the campaign is, now and then.
    pub fn show(&mut self, tally: &Tally, runs: u64) {
        if self.bar.is_hidden() || self.shown.is_some_and(|shown| shown.elapsed() < EVERY) {
            return;
        }
        self.shown = Some(Instant::now());
        self.bar.set_position(tally.runs);
        self.bar.set_message(line(tally, runs, self.started.elapsed()));
    }

    /// Takes the line away.
    pub fn finish(&self) {
        self.bar.finish_and_clear();
    }
}

fn line(tally: &Tally, runs: u64, elapsed: Duration) -> String {
    let rate = tally.runs as f64 / elapsed.as_secs_f64().max(0.001);
    format!(
        "{} of {} runs · {} runs/s · {} schedules · {} failing",
        number(tally.runs),
        number(runs),
        number(rate as u64),
        number(tally.distinct_schedules()),
        number(tally.failing_runs),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn says_where_the_campaign_is() {
        let mut tally = Tally::default();
        (tally.runs, tally.failing_runs) = (1234, 1);
        assert_eq!(
            line(&tally, 10_000, Duration::from_secs(2)),
            "1,234 of 10,000 runs · 617 runs/s · 0 schedules · 1 failing"
        );
    }
}
