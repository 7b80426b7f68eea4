//! Numbers as people write them: `1e6` and `10_000` runs, `5s` and `2m` of time.

use std::fmt::Display;
use std::str::FromStr;

use serde::{Deserialize, Deserializer};

/// The units of time, the longer names first, in seconds.
const UNITS: [(&str, f64); 5] = [("ms", 0.001), ("min", 60.0), ("s", 1.0), ("m", 60.0), ("h", 3600.0)];

/// A whole number: `1000`, `10_000`, `10,000` or `1e6`.
pub fn count(text: &str) -> Result<u64, String> {
    let digits = text.replace(['_', ','], "");
    if let Ok(number) = digits.parse() {
        return Ok(number);
    }
    // Above this, not every whole number is one of these.
    const EXACT: f64 = (1u64 << 53) as f64;
    let scientific = digits.contains(['e', 'E']).then(|| digits.parse::<f64>().ok()).flatten();
    match scientific.filter(|number| number.fract() == 0.0 && (0.0..=EXACT).contains(number)) {
        Some(number) => Ok(number as u64),
        None => Err("expected a whole number, such as 1000 or 1e6".to_string()),
    }
}

/// Seconds: `2.5`, or with a unit `500ms`, `5s`, `2m`, `1h`.
pub fn seconds(text: &str) -> Result<f64, String> {
    let (number, unit) =
        UNITS.iter().find_map(|(unit, seconds)| Some((text.strip_suffix(unit)?, *seconds))).unwrap_or((text, 1.0));
    let number = number.trim_end().parse::<f64>().ok().filter(|number| number.is_finite());
    number.map(|number| number * unit).ok_or_else(|| "expected seconds, such as 2.5, or 5s, 2m, 1h".to_string())
}

/// A number, or text that stands for one, in a project file.
#[derive(Deserialize)]
#[serde(untagged)]
enum Written {
    Whole(u64),
    Number(f64),
    Text(String),
}

fn read<'de, D: Deserializer<'de>, T: FromStr>(
    from: D,
    parse: fn(&str) -> Result<T, String>,
) -> Result<Option<T>, D::Error>
where
    T::Err: Display,
{
    let text = match Written::deserialize(from)? {
        Written::Whole(number) => number.to_string(),
        Written::Number(number) => format!("{number:e}"),
        Written::Text(text) => text,
    };
    parse(&text).map(Some).map_err(serde::de::Error::custom)
}

/// For a field of a project file: see [`count()`].
pub fn count_in_file<'de, D: Deserializer<'de>>(from: D) -> Result<Option<u64>, D::Error> {
    read(from, count)
}

/// For a field of a project file: see [`seconds()`].
pub fn seconds_in_file<'de, D: Deserializer<'de>>(from: D) -> Result<Option<f64>, D::Error> {
    read(from, seconds)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts() {
        assert_eq!(["7", "1e6", "10_000", "10,000", "2.5e3"].map(count), [7, 1_000_000, 10_000, 10_000, 2500].map(Ok));
        for wrong in ["", "many", "1.5", "1.5e0", "-1", "1e30", "5s", "inf"] {
            assert!(count(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn times() {
        assert_eq!(["2", "0.5", "5s", "5 s", "250ms"].map(seconds), [2.0, 0.5, 5.0, 5.0, 0.25].map(Ok));
        assert_eq!(["2m", "2min", "1h", "-1"].map(seconds), [120.0, 120.0, 3600.0, -1.0].map(Ok));
        for wrong in ["", "s", "soon", "5x", "inf", "nan"] {
            assert!(seconds(wrong).is_err(), "{wrong}");
        }
    }
}
