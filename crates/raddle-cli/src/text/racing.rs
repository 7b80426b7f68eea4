//! The places that were seen to race, as a person finds them: by function and line.

use raddle_report::RacingPlace;

/// One place, in a line.
pub fn line(place: &RacingPlace) -> String {
    let RacingPlace { file, address, .. } = place;
    match (&place.function, &place.source) {
        (Some(function), Some(source)) => format!("{function} ({source})"),
        (Some(function), None) => format!("{function} ({file} {address})"),
        (None, Some(source)) => source.clone(),
        (None, None) => format!("{file} {address}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn says_what_is_known() {
        let place = |function: Option<&str>, source: Option<&str>| {
            line(&RacingPlace {
                file: "bank".into(),
                address: "0x11d5".into(),
                function: function.map(str::to_string),
                source: source.map(str::to_string),
            })
        };
        assert_eq!(place(Some("deposit"), Some("bank.c:31")), "deposit (bank.c:31)");
        assert_eq!(place(Some("deposit"), None), "deposit (bank 0x11d5)");
        assert_eq!(place(None, Some("bank.c:31")), "bank.c:31");
        assert_eq!(place(None, None), "bank 0x11d5");
    }
}
