//! The header of a program in a suite: lines of `// key: value` at the top of the file, up to the first line that is
//! no comment. Lines without a key that is known are text.
//!
//! ```text
//! // bug: two accounts are locked in opposite orders
//! // kind: deadlock
//! // depth: 2
//! // threads: 3
//! // args: 10
//! // variants: small = 3; large = 100 [threads 12, depth 3]
//! ```

use raddle_protocol::Points;

use raddle_engine::plan::suggest;
use raddle_report::FailureKind;

const KEYS: [&str; 12] =
    ["bug", "kind", "depth", "pct-depth", "threads", "source", "finds", "points", "args", "variants", "flags", "row"];

/// The largest depth.
const DEEPEST: u64 = 1000;

/// The most variants of a program.
const MOST_VARIANTS: usize = 1000;

/// What a header says.
#[derive(Clone, Debug, PartialEq)]
pub struct Header {
    /// What is wrong with the program.
    pub bug: String,
    pub kind: FailureKind,
    /// The depth of the bug, by PCT's definition.
    pub depth: Option<u32>,
    /// The d with which PCT is run on it, when a smaller one than the depth finds it more often.
    pub pct_depth: Option<u32>,
    /// Threads, the main one included.
    pub threads: Option<u64>,
    /// Where the idea comes from.
    pub source: String,
    /// Which policies should find it, in words.
    pub finds: String,
    /// The level of schedule points that it needs.
    pub points: Points,
    pub arguments: Vec<String>,
    /// The same with other arguments; empty when there is only one.
    pub variants: Vec<Variant>,
    /// What the compiler is told.
    pub flags: Vec<String>,
    /// The rows of tables in papers that it stands for, such as `pct:Pbzip2`.
    pub rows: Vec<String>,
}

/// A program with other arguments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Variant {
    /// What is added to the program's name.
    pub suffix: String,
    pub arguments: Vec<String>,
    /// Threads, when they differ from the header's.
    pub threads: Option<u64>,
    /// The depth, when it differs.
    pub depth: Option<u32>,
}

/// What is wrong with a header.
#[derive(Clone, Debug, thiserror::Error, PartialEq, Eq)]
pub enum HeaderError {
    /// The file does not begin with one.
    #[error("it has no header with `// bug:` and `// kind:`")]
    None,
    #[error("line {line}: `{key}` is given twice")]
    Twice {
        /// The line, from 1.
        line: usize,
        key: String,
    },
    /// A key that is almost known.
    #[error("line {line}: there is no key `{key}`; {hint}")]
    Unknown {
        /// The line, from 1.
        line: usize,
        key: String,
        /// What may have been meant.
        hint: String,
    },
    /// A value that makes no sense.
    #[error("line {line}: `{value}` is no {what}; expected {expected}")]
    Value {
        /// The line, from 1.
        line: usize,
        /// What it should be.
        what: &'static str,
        value: String,
        expected: String,
    },
}

/// Reads the header of a source file.
pub fn parse(text: &str) -> Result<Header, HeaderError> {
    let mut found: Vec<(&str, usize, &str)> = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let line_number = number + 1;
        let Some(comment) = line.strip_prefix("//") else { break };
        let Some((key, value)) = comment.split_once(':') else { continue };
        let key = key.trim();
        if !KEYS.contains(&key) {
            if is_nearly_known(key) {
                let hint = suggest::hint(key, &KEYS);
                return Err(HeaderError::Unknown { line: line_number, key: key.to_string(), hint });
            }
            continue;
        }
        if found.iter().any(|(known, _, _)| *known == key) {
            return Err(HeaderError::Twice { line: line_number, key: key.to_string() });
        }
        found.push((key, line_number, value.trim()));
    }
    let get = |key: &str| found.iter().find(|(known, _, _)| *known == key).map(|&(_, line, value)| (line, value));
    let text_of = |key: &str| get(key).map_or(String::new(), |(_, value)| value.to_string());
    let depth = |key: &str| get(key).map(|(line, value)| depth_of(line, value)).transpose();
    let (Some((_, bug)), Some((kind_line, kind))) = (get("bug"), get("kind")) else { return Err(HeaderError::None) };
    Ok(Header {
        bug: bug.to_string(),
        kind: kind_of(kind_line, kind)?,
        depth: depth("depth")?,
        pct_depth: depth("pct-depth")?,
        threads: get("threads").map(|(line, value)| number(line, "number of threads", value, 100_000)).transpose()?,
        source: text_of("source"),
        finds: text_of("finds"),
        points: get("points").map_or(Ok(Points::Sync), |(line, value)| points_of(line, value))?,
        arguments: words(&text_of("args")),
        variants: get("variants").map_or(Ok(Vec::new()), |(line, value)| variants_of(line, value))?,
        flags: words(&text_of("flags")),
        rows: text_of("row").split(',').map(str::trim).filter(|row| !row.is_empty()).map(str::to_string).collect(),
    })
}

/// A word that somebody has mistyped; other words before a colon are text.
fn is_nearly_known(key: &str) -> bool {
    let word = !key.is_empty() && key.bytes().all(|byte| byte.is_ascii_lowercase());
    word && KEYS.iter().any(|known| known.len() > 3 && strsim::damerau_levenshtein(known, key) == 1)
}

fn words(text: &str) -> Vec<String> {
    text.split_whitespace().map(str::to_string).collect()
}

fn kind_of(line: usize, value: &str) -> Result<FailureKind, HeaderError> {
    FailureKind::ALL.into_iter().find(|kind| kind.name() == value).ok_or_else(|| HeaderError::Value {
        line,
        what: "kind of failure",
        value: value.to_string(),
        expected: FailureKind::ALL.map(FailureKind::name).join(", "),
    })
}

fn points_of(line: usize, value: &str) -> Result<Points, HeaderError> {
    Points::from_name(value).ok_or_else(|| HeaderError::Value {
        line,
        what: "level of points",
        value: value.to_string(),
        expected: Points::ALL.map(Points::name).join(", "),
    })
}

fn number(line: usize, what: &'static str, value: &str, most: u64) -> Result<u64, HeaderError> {
    value.parse().ok().filter(|n| (1..=most).contains(n)).ok_or_else(|| HeaderError::Value {
        line,
        what,
        value: value.to_string(),
        expected: format!("a number from 1 to {most}"),
    })
}

fn depth_of(line: usize, value: &str) -> Result<u32, HeaderError> {
    Ok(number(line, "depth", value, DEEPEST)? as u32)
}

fn variants_of(line: usize, text: &str) -> Result<Vec<Variant>, HeaderError> {
    let mut variants: Vec<Variant> = Vec::new();
    for part in text.split(';').map(str::trim).filter(|part| !part.is_empty()) {
        let wrong = |expected: &str| HeaderError::Value {
            line,
            what: "variant",
            value: part.to_string(),
            expected: expected.to_string(),
        };
        let (suffix, rest) = part.split_once('=').ok_or_else(|| wrong("`suffix = arguments`"))?;
        let suffix = suffix.trim();
        let good = |c: char| c.is_ascii_alphanumeric() || "-_.+".contains(c);
        if suffix.is_empty() || !suffix.chars().all(good) {
            return Err(wrong("a suffix of letters, digits, `-`, `_`, `.` and `+`"));
        }
        if variants.iter().any(|variant| variant.suffix == suffix) || variants.len() == MOST_VARIANTS {
            return Err(wrong("each suffix once, and at most 1,000 of them"));
        }
        let (arguments, extra) = match rest.split_once('[') {
            None => (rest, ""),
            Some((arguments, extra)) => {
                let extra = extra.trim_end().strip_suffix(']');
                (arguments, extra.ok_or_else(|| wrong("`]` at its end"))?)
            }
        };
        let mut variant =
            Variant { suffix: suffix.to_string(), arguments: words(arguments), threads: None, depth: None };
        for setting in extra.split(',').map(str::trim).filter(|setting| !setting.is_empty()) {
            match setting.split_once(' ') {
                Some(("threads", n)) => variant.threads = Some(number(line, "number of threads", n.trim(), 100_000)?),
                Some(("depth", n)) => variant.depth = Some(depth_of(line, n.trim())?),
                _ => return Err(wrong("`threads N` and `depth N` in brackets")),
            }
        }
        variants.push(variant);
    }
    Ok(variants)
}

#[cfg(test)]
mod tests {
    use super::*;
    use raddle_core::rng::Rng;

    const GOOD: &str = "// bug: an increment: lost\n// kind: assert\n// depth: 2\n// threads: 4\n// points: atomic\n\
                        // args: 8  1\n// variants: t = 8 1; t+15 = 23 1 [threads 5, depth 3]\n// flags: -lm\n\
                        // row: needlepoint:Memc, pct:Two words\n// Arguments: how many.\n// a remark: text\n\
                        #include <x>\n// bug: not this\n";

    #[test]
    fn a_good_header() {
        let header = parse(GOOD).expect("is right");
        assert_eq!(
            (header.bug.as_str(), header.kind, header.depth),
            ("an increment: lost", FailureKind::Assert, Some(2))
        );
        assert_eq!((header.points, header.threads), (Points::Atomic, Some(4)));
        assert_eq!(header.arguments, ["8", "1"]);
        assert_eq!(header.rows, ["needlepoint:Memc", "pct:Two words"]);
        assert_eq!(header.flags, ["-lm"]);
        let variants: Vec<_> =
            header.variants.iter().map(|v| (v.suffix.as_str(), v.arguments.join(" "), v.threads, v.depth)).collect();
        assert_eq!(variants, [("t", "8 1".into(), None, None), ("t+15", "23 1".into(), Some(5), Some(3))]);
    }

    #[test]
    fn mistakes_are_named() {
        let error = |text: &str| parse(text).expect_err("is wrong").to_string();
        assert_eq!(error("int main(void) {}\n"), "it has no header with `// bug:` and `// kind:`");
        let with = |line: &str| error(&format!("// bug: x\n// kind: exit\n{line}\n"));
        assert_eq!(with("// kind: exit"), "line 3: `kind` is given twice");
        assert_eq!(with("// dept: 2"), "line 3: there is no key `dept`; did you mean `depth`?");
        assert_eq!(with("// depth: two"), "line 3: `two` is no depth; expected a number from 1 to 1000");
        assert_eq!(with("// variants: 3"), "line 3: `3` is no variant; expected `suffix = arguments`");
        assert_eq!(
            with("// variants: 3 = 3 [thread 4]"),
            "line 3: `3 = 3 [thread 4]` is no variant; expected `threads N` and `depth N` in brackets"
        );
        assert!(with("// points: all").contains("expected sync, atomic, race, memory"));
        assert!(error("// bug: x\n// kind: crash\n").contains("`crash` is no kind of failure; expected assert, "));
    }

    #[test]
    fn no_text_breaks_it() {
        // Random changes of a good header, and random lines of its own words: an answer, whatever it is, and for
        // those that are right a header whose variants differ.
        let words = [
            "// ", "bug", "kind", ":", "variants", "=", ";", "[", "]", "threads", "depth", "3", "\n", " ", "é", "exit",
        ];
        let mut rng = Rng::new(23);
        let (mut right, mut wrong) = (0, 0);
        for round in 0..20_000 {
            let text = if round % 2 == 0 {
                let mut bytes = GOOD.as_bytes().to_vec();
                for _ in 0..=rng.below(4) {
                    // What was cut off at its first byte has one left.
                    let at = rng.below(bytes.len() as u64) as usize;
                    match rng.below(3) {
                        0 => bytes[at] = rng.below(256) as u8,
                        1 if bytes.len() > 1 => drop(bytes.remove(at)),
                        _ => bytes.truncate(at.max(1)),
                    }
                }
                String::from_utf8_lossy(&bytes).into_owned()
            } else {
                let random = (0..rng.below(40)).map(|_| words[rng.below(words.len() as u64) as usize]);
                format!("// bug: x\n// kind: exit\n// variants: {}", random.collect::<String>())
            };
            match parse(&text) {
                Ok(header) => {
                    right += 1;
                    let mut suffixes: Vec<_> = header.variants.iter().map(|v| &v.suffix).collect();
                    suffixes.sort();
                    suffixes.dedup();
                    assert_eq!(suffixes.len(), header.variants.len(), "{text:?}");
                }
                Err(_) => wrong += 1,
            }
        }
        assert!(right > 1000 && wrong > 1000, "{right} right, {wrong} wrong");
    }
}
