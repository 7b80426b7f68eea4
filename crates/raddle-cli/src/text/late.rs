//! Delays, for a person: which threads have to be late, by how much and where.

use raddle_schedule::Late;

/// What a failure needs to happen, or, where smaller delays were not looked for, what it happened with; `None`: no
/// thread was late.
pub fn text(delays: &[Late], are_least: bool) -> Option<String> {
    let each = |late: &Late| {
        let place = late.place.as_ref().map_or(String::new(), |place| format!(" at {place}"));
        let to_be = if are_least { "to be " } else { "" };
        format!("t{} {to_be}{} late{place}", late.delay.thread, duration(late.delay.nanoseconds))
    };
    let all: Vec<_> = delays.iter().map(each).collect();
    let needs = if are_least { "needs" } else { "happened with" };
    (!all.is_empty()).then(|| format!("{needs} {}", all.join(", and ")))
}

/// A duration as a person would say it, with about two digits.
fn duration(nanoseconds: u64) -> String {
    let (unit, name) = match nanoseconds {
        0..1_000_000 => (1_000, "µs"),
        1_000_000..10_000_000_000 => (1_000_000, "ms"),
        _ => (1_000_000_000, "s"),
    };
    match (nanoseconds as f64 / unit as f64 * 10.0).round() / 10.0 {
        small if small < 10.0 => format!("{small} {name}"),
        large => format!("{} {name}", large.round()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use raddle_core::Delay;

    #[test]
    fn says_who_has_to_be_late_and_where() {
        let late = |nanoseconds, place: Option<&str>| Late {
            delay: Delay { point: 7, nanoseconds, thread: 1 },
            place: place.map(String::from),
        };
        assert_eq!(text(&[], true), None);
        let one = text(&[late(9_997_000, Some("worker.cc:31"))], true);
        assert_eq!(one.as_deref(), Some("needs t1 to be 10 ms late at worker.cc:31"));
        let not_least = text(&[late(9_997_000, Some("its start"))], false);
        assert_eq!(not_least.as_deref(), Some("happened with t1 10 ms late at its start"));
        let two = text(&[late(2_500_000, None), late(7_000, Some("main.rs:4"))], true);
        assert_eq!(two.as_deref(), Some("needs t1 to be 2.5 ms late, and t1 to be 7 µs late at main.rs:4"));
    }
}
