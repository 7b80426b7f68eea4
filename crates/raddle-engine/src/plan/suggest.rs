//! "did you mean …?"

/// The candidate that is most like a name, if any is like it at all.
pub fn nearest<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    candidates
        .into_iter()
        .map(|candidate| (strsim::damerau_levenshtein(name, candidate), candidate))
        .filter(|(distance, candidate)| *distance <= (candidate.len().max(name.len()) / 3).max(1))
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

/// A sentence's end that suggests the nearest candidate, or lists all of them.
pub fn hint(name: &str, candidates: &[&str]) -> String {
    match nearest(name, candidates.iter().copied()) {
        Some(candidate) => format!("did you mean `{candidate}`?"),
        None if candidates.is_empty() => "there are none".to_string(),
        None => format!("there are: {}", candidates.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn suggests_what_is_near() {
        assert_eq!(nearest("pcd", ["random", "pct"]), Some("pct"));
        assert_eq!(nearest("rndom", ["random", "pct"]), Some("random"));
        assert_eq!(nearest("quicksort", ["random", "pct"]), None);
    }

    #[test]
    fn lists_when_nothing_is_near() {
        assert_eq!(hint("quicksort", &["random", "pct"]), "there are: random, pct");
        assert_eq!(hint("x", &[]), "there are none");
    }
}
