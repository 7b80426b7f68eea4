//! The named limits: rows that knowingly differ. `docs/src/limits.md` shows them.

use std::fs;

use super::rows::folder;
use super::support::programs::root;

/// A row that differs, and why that stays so.
pub struct Limit {
    pub row: String,
    what: String,
    why: String,
}

/// Where the table of the limits is in the page.
const BEGIN: &str = "<!-- conformance/limits.toml -->\n";
const END: &str = "<!-- end -->\n";

/// The limits of `limits.toml`.
pub fn all() -> Vec<Limit> {
    let text = fs::read_to_string(folder().join("limits.toml")).expect("the list of limits");
    let table: toml::Table = text.parse().expect("limits.toml is TOML");
    let empty = toml::Value::Array(Vec::new());
    let limits = table.get("limit").unwrap_or(&empty).as_array().expect("[[limit]]").clone();
    let limit = |entry: &toml::Value| {
        let field = |name: &str| entry.get(name).and_then(toml::Value::as_str).map(str::to_owned);
        let complete = || Some(Limit { row: field("row")?, what: field("what")?, why: field("why")? });
        complete().unwrap_or_else(|| panic!("a limit has row, what and why: {entry}"))
    };
    limits.iter().map(limit).collect()
}

/// The page must have the table; RADDLE_SAMPLES=write puts it there.
pub fn compare_with_the_book() {
    let page = root().join("docs/src/limits.md");
    let text = fs::read_to_string(&page).expect("the page of limits");
    let (before, rest) = text.split_once(BEGIN).expect("the page says where the table begins");
    let (now, after) = rest.split_once(END).expect("the page says where the table ends");
    let table = table();
    if std::env::var_os("RADDLE_SAMPLES").is_some_and(|value| value == "write") {
        fs::write(&page, format!("{before}{BEGIN}{table}{END}{after}")).expect("the page");
    } else {
        assert_eq!(now, table, "the table in {} is not that of limits.toml", page.display());
    }
}

fn table() -> String {
    let rows: String =
        all().iter().map(|limit| format!("| `{}` | {} | {} |\n", limit.row, limit.what, limit.why)).collect();
    if rows.is_empty() {
        return "There are none at the moment.\n".into();
    }
    format!("| Row | What differs | Why |\n|---|---|---|\n{rows}")
}
