//! A comparison as CSV: a line for each program and policy.

use std::fmt::Write;

use super::Comparison;

const COLUMNS: &str = "program,policy,found,runs,failing_runs,share,share_low,share_high,first_failure_lower,\
                       first_failure_median,first_failure_upper,seconds_to_first_failure,repetitions,\
                       repetitions_that_found,runs_per_second,threads_max,steps_max,steps_mean,distinct_schedules,\
                       unseen,unseen_low,unseen_high,cut_runs,guard_fired,first_only,error";

/// A field: quoted when it has to be.
pub fn field(text: &str) -> String {
    if text.contains([',', '"', '\n', '\r']) {
        return format!("\"{}\"", text.replace('"', "\"\""));
    }
    text.to_string()
}

pub fn table(comparison: &Comparison) -> String {
    let mut out = format!("{COLUMNS}\n");
    for program in &comparison.programs {
        for cell in &program.cells {
            let or_nothing = |value: Option<f64>| value.map(|v| v.to_string()).unwrap_or_default();
            let seen = cell.worth.as_ref().and_then(|worth| worth.of_one());
            let unseen = seen.and_then(|seen| seen.unseen);
            let interval = seen.and_then(|seen| seen.unseen_interval);
            let found = cell.repetitions.iter().filter(|r| r.first_failing_run.is_some()).count();
            let fields = [
                field(&program.name),
                field(&cell.policy),
                cell.found.to_string(),
                cell.runs.to_string(),
                cell.failing_runs.to_string(),
                or_nothing(cell.share),
                or_nothing(cell.share_interval.map(|i| i[0])),
                or_nothing(cell.share_interval.map(|i| i[1])),
                or_nothing(cell.first_failure.lower),
                or_nothing(cell.first_failure.median),
                or_nothing(cell.first_failure.upper),
                or_nothing(cell.seconds_to_first_failure.median),
                cell.repetitions.len().to_string(),
                found.to_string(),
                cell.runs_per_second.to_string(),
                cell.threads_max.to_string(),
                cell.steps_max.to_string(),
                cell.steps_mean.to_string(),
                cell.distinct_schedules.to_string(),
                or_nothing(unseen),
                or_nothing(interval.map(|i| i[0])),
                or_nothing(interval.map(|i| i[1])),
                cell.cut_runs.to_string(),
                cell.guard_fired.to_string(),
                cell.first_only.to_string(),
                field(cell.error.as_deref().unwrap_or("")),
            ];
            // Writing to a string cannot fail.
            let _ = writeln!(out, "{}", fields.join(","));
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::sample;
    use raddle_report::worth::{Seen, Worth};

    #[test]
    fn fields_are_quoted_when_they_must_be() {
        assert_eq!(field("pct"), "pct");
        assert_eq!(field("pct:d=2,k=0"), "\"pct:d=2,k=0\"");
        assert_eq!(field("a \"b\"\n"), "\"a \"\"b\"\"\n\"");
    }

    #[test]
    fn a_share_that_was_not_measured_is_not_there() {
        let mut comparison = sample::comparison();
        let cell = &mut comparison.programs[0].cells[2];
        *cell = sample::first_only(cell.clone());
        let line = table(&comparison).lines().nth(3).map(str::to_string).expect("a line");
        assert!(line.starts_with("reorder,stride,true,1,1,,,,") && line.ends_with(",true,"), "{line}");
        let json = serde_json::to_value(&comparison).expect("JSON");
        let cell = &json["programs"][0]["cells"][2];
        assert_eq!((&cell["first_only"], &cell["share"]), (&true.into(), &serde_json::Value::Null));
        assert_eq!(cell["share_interval"], serde_json::Value::Null);
    }

    #[test]
    fn an_estimate_is_there_for_one_policy_only() {
        let seen = || Seen {
            policy: "pct".into(),
            runs: 10,
            distinct: 9,
            once: 8,
            twice: 1,
            unseen: Some(0.8125),
            unseen_interval: Some([0.5, 1.0]),
        };
        let text = |schedules| {
            let mut comparison = sample::comparison();
            let (bound, event_pairs) = Default::default();
            comparison.programs[0].cells[0].worth = Some(Worth { bound, schedules, event_pairs });
            table(&comparison)
        };
        assert!(text(vec![seen()]).contains(",0.8125,0.5,1,"));
        assert!(!text(vec![seen(), seen()]).contains("0.8125"));
    }

    #[test]
    fn a_line_for_each_cell() {
        insta::assert_snapshot!(table(&sample::comparison()));
    }
}
