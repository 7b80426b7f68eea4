//! The live line: runs, runs per second, distinct schedules, failures.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use raddle_engine::campaign;
use raddle_report::words::number;

/// The live line on standard error; nothing at all when that is not a terminal.
pub struct Progress {
    bar: ProgressBar,
}

impl Progress {
    /// A line for a number of runs, if there is to be one.
    pub fn new(runs: u64, show: bool) -> Progress {
        let target = if show { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() };
        let bar = ProgressBar::with_draw_target(Some(runs), target);
        // No template of ours can be wrong; the default one would do as well.
        if let Ok(style) = ProgressStyle::with_template("{bar:20} {wide_msg}") {
            bar.set_style(style.progress_chars("━╸─"));
        }
        Progress { bar }
    }

    /// Shows where the campaign is.
    pub fn show(&mut self, progress: &campaign::Progress) {
        if !self.bar.is_hidden() {
            self.bar.set_position(progress.runs);
            self.bar.set_message(line(progress));
        }
    }

    /// Takes the line away.
    pub fn finish(&self) {
        self.bar.finish_and_clear();
    }
}

fn line(progress: &campaign::Progress) -> String {
    let rate = progress.runs as f64 / progress.elapsed.as_secs_f64().max(0.001);
    format!(
        "{} of {} runs · {} runs/s · {} schedules · {} failing",
        number(progress.runs),
        number(progress.planned),
        number(rate as u64),
        number(progress.schedules),
        number(progress.failing),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn says_where_the_campaign_is() {
        let elapsed = Duration::from_secs(2);
        let progress = campaign::Progress { runs: 1234, planned: 10_000, schedules: 0, failing: 1, elapsed };
        assert_eq!(line(&progress), "1,234 of 10,000 runs · 617 runs/s · 0 schedules · 1 failing");
    }
}
