//! Numbers as people read them.

/// A number with its thousands apart.
pub fn number(n: u64) -> String {
    let digits = n.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A number of things, such as `1 run` or `1,000 runs`.
pub fn count(n: u64, thing: &str) -> String {
    format!("{} {thing}{}", number(n), if n == 1 { "" } else { "s" })
}

/// A share for a person.
pub fn percent(share: f64) -> String {
    match share * 100.0 {
        0.0 => "0%".to_string(),
        p if p < 0.001 => format!("{p:.0e}%"),
        p if p < 0.1 => format!("{p:.3}%"),
        p if p < 10.0 => format!("{p:.2}%"),
        p => format!("{p:.1}%"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thousands_stand_apart() {
        let texts: Vec<_> = [0, 999, 1000, 1234567].into_iter().map(number).collect();
        assert_eq!(texts, ["0", "999", "1,000", "1,234,567"]);
        assert_eq!([count(1, "run"), count(1000, "run")], ["1 run", "1,000 runs"]);
    }
}
