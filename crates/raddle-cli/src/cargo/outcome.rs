//! What became of one test.

use raddle_engine::campaign::{self, End};
use raddle_report::exit_code;
use raddle_report::words::{count, number};

use crate::commands::test::Ended;

/// How a test ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// No schedule made it fail.
    Passed,
    Failed,
    /// It has one thread: there is only one schedule.
    NotConcurrent,
    /// It has threads, and nothing of them was seen.
    NotControlled,
    /// No run came to its end.
    Cut,
    /// The time was over before the first run was.
    NotExplored,
    Interrupted,
    /// It could not be explored.
    Broken,
}

impl Verdict {
    /// Of a campaign in which so many threads are the harness's own.
    pub fn of(campaign: &campaign::Outcome, harness: u64) -> Verdict {
        let tally = &campaign.tally;
        match &campaign.end {
            _ if !campaign.findings.is_empty() => Verdict::Failed,
            End::Broken(_) => Verdict::Broken,
            End::Interrupted => Verdict::Interrupted,
            _ if tally.runs == 0 => Verdict::NotExplored,
            // Threads might have come after the limit of steps.
            _ if tally.all_cut() => Verdict::Cut,
            // What a harness without threads of its own has is the main thread.
            _ if tally.threads_max <= harness.max(1) => Verdict::NotConcurrent,
            _ if tally.nothing_controlled().is_some() => Verdict::NotControlled,
            _ => Verdict::Passed,
        }
    }

    /// The word in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Verdict::Passed => "passed",
            Verdict::Failed => "failed",
            Verdict::NotConcurrent => "not_concurrent",
            Verdict::NotControlled => "not_controlled",
            Verdict::Cut => "cut",
            Verdict::NotExplored => "not_explored",
            Verdict::Interrupted => "interrupted",
            Verdict::Broken => "broken",
        }
    }

    /// The word in a line of the list.
    pub fn word(self) -> &'static str {
        match self {
            Verdict::Passed => "ok",
            Verdict::Failed => "FAILED",
            Verdict::NotConcurrent => "not concurrent",
            Verdict::NotControlled => "not controlled",
            Verdict::Cut => "cut",
            Verdict::NotExplored => "not explored",
            Verdict::Interrupted => "interrupted",
            Verdict::Broken => "error",
        }
    }
}

/// What became of one test.
#[derive(Clone, Debug)]
pub struct Outcome {
    pub verdict: Verdict,
    /// The exit status of `raddle test`.
    pub status: u8,
    pub runs: u64,
    /// How many were asked for, when the time was over before.
    pub planned: Option<u64>,
    /// Those of them that were cut at the step limit.
    pub cut_runs: u64,
    pub schedules: u64,
    /// How long it took.
    pub seconds: f64,
    /// The kind of the first failure, and its message.
    pub failure: Option<(String, String)>,
    /// The report for a person, of a failure.
    pub text: String,
    /// What the first run printed, if that is to be shown.
    pub printed: String,
    /// The report for a program.
    pub report: Option<Box<raddle_report::Report>>,
}

impl Outcome {
    /// For the tests of what shows outcomes.
    #[cfg(test)]
    pub fn sample(verdict: Verdict) -> Outcome {
        let (status, failure, report) = (0, None, None);
        let (runs, planned, cut_runs, schedules) = (1000, None, 0, 312);
        Outcome {
            verdict,
            status,
            runs,
            planned,
            cut_runs,
            schedules,
            seconds: 0.5,
            failure,
            text: String::new(),
            printed: String::new(),
            report,
        }
    }

    /// Of a test that could not be explored.
    pub fn broken(message: String, status: u8) -> Outcome {
        Outcome {
            verdict: Verdict::Broken,
            status,
            runs: 0,
            planned: None,
            cut_runs: 0,
            schedules: 0,
            seconds: 0.0,
            failure: Some(("error".to_string(), message.clone())),
            text: format!("error: {message}\n"),
            printed: String::new(),
            report: None,
        }
    }

    /// Of a test whose exploration did not come to its end.
    pub fn lost(how: &str) -> Outcome {
        Outcome::broken(format!("the thread that explored this test {how}"), exit_code::INTERNAL)
    }

    /// For the exit status of several tests.
    pub fn ended(&self) -> Ended {
        let explored = !matches!(self.verdict, Verdict::NotExplored | Verdict::Cut | Verdict::Interrupted);
        Ended { status: self.status, explored }
    }

    /// How much was done.
    pub fn amount(&self) -> String {
        match self.verdict {
            Verdict::Broken => self.failure.as_ref().map_or(String::new(), |(_, message)| message.clone()),
            Verdict::NotConcurrent | Verdict::NotControlled => count(self.runs, "run"),
            Verdict::NotExplored => "0 runs: time ran out before the first one finished".to_string(),
            Verdict::Cut => format!("{}, all cut at the step limit", count(self.runs, "run")),
            _ => {
                let cut = match self.cut_runs {
                    0 => String::new(),
                    cut => format!(", {} cut at the step limit", number(cut)),
                };
                let runs = match self.planned {
                    Some(planned) => format!("{} of {} (time ran out)", number(self.runs), count(planned, "run")),
                    None => count(self.runs, "run"),
                };
                format!("{runs}, {}{cut}", count(self.schedules, "schedule"))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_that_were_cut_are_no_secret() {
        let mut outcome = Outcome { verdict: Verdict::Passed, runs: 1000, schedules: 7, ..Outcome::lost("") };
        assert_eq!(outcome.amount(), "1,000 runs, 7 schedules");
        outcome.cut_runs = 400;
        assert_eq!(outcome.amount(), "1,000 runs, 7 schedules, 400 cut at the step limit");
        outcome.planned = Some(2000);
        assert_eq!(outcome.amount(), "1,000 of 2,000 runs (time ran out), 7 schedules, 400 cut at the step limit");
        outcome.verdict = Verdict::Cut;
        assert_eq!(outcome.amount(), "1,000 runs, all cut at the step limit");
    }
}
