//! Assertions that end in `abort`: `assert` of any libc, the checks of libstdc++, `g_assert` of GLib.

use super::failure::{Assertion, Location};

pub(super) fn failures(lines: &[&str]) -> Vec<Assertion> {
    lines.iter().enumerate().filter_map(|(at, line)| of_libc(line, at).or_else(|| of_glib(line, at))).collect()
}

/// `program: file.c:12: function: Assertion 'text' failed.`, in which libstdc++ leaves out the program.
pub fn of_libc(line: &str, at: usize) -> Option<Assertion> {
    let begin = [": Assertion `", ": Assertion '"].iter().find_map(|mark| line.find(mark))?;
    let (before, text) = (&line[..begin], &line[begin + 2..]);
    if !text.contains(" failed") {
        return None;
    }
    // The function may have colons of its own, and what comes before the file, too.
    let (place, _) = before.split(": ").find_map(|part| Some((Location::parse(part)?, part)))?;
    Some(Assertion::new(Some(place), at).says([text]))
}

/// `ERROR:../file.c:12:function: assertion failed (a == b): (1 == 2)`, perhaps behind the name of a library.
fn of_glib(line: &str, at: usize) -> Option<Assertion> {
    let begin = line.find("ERROR:").filter(|begin| *begin == 0 || line[..*begin].ends_with(':'))?;
    let (place, text) = line[begin + "ERROR:".len()..].split_once(": ")?;
    let (place, _function) = place.rsplit_once(':')?;
    Some(Assertion::new(Some(Location::parse(place)?), at).says([text]))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn messages(text: &str) -> Vec<String> {
        failures(&text.lines().collect::<Vec<_>>()).iter().map(Assertion::message).collect()
    }

    #[test]
    fn of_libraries() {
        assert_eq!(messages("bank: a.c:2: main: Assertion `n == 7' failed.\n"), ["a.c:2: Assertion `n == 7' failed."]);
        assert_eq!(
            messages(
                "/usr/include/c++/12/bits/stl_vector.h:1123: std::vector<_Tp>::reference std::vector<_Tp>::operator[] \
                 [with _Tp = int]: Assertion '__n < this->size()' failed.\n"
            ),
            ["/usr/include/c++/12/bits/stl_vector.h:1123: Assertion '__n < this->size()' failed."]
        );
        assert_eq!(
            messages("**\nERROR:a.c:9:main: assertion failed (n == 2): (1 == 2)\nBail out! ERROR:…\n"),
            ["a.c:9: assertion failed (n == 2): (1 == 2)"]
        );
        assert_eq!(messages("**\nGLib:ERROR:../b.c:3:f: should not be reached\n"), ["../b.c:3: should not be reached"]);
        assert_eq!(messages("ERROR: disk full\nAssertion failed\n"), [""; 0]);
    }
}
