//! The JSON schemas of the documents.

use schemars::{schema_for, Schema};

use crate::{ReplayReport, Report, TestReports};

/// The documents by name, each with its schema.
pub fn all() -> [(&'static str, Schema); 3] {
    [("test", schema_for!(Report)), ("tests", schema_for!(TestReports)), ("replay", schema_for!(ReplayReport))]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The files are what other tools read; `RADDLE_SCHEMA=write` renews them.
    #[test]
    fn the_files_are_up_to_date() {
        let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("schema");
        for (name, schema) in all() {
            let text = serde_json::to_string_pretty(&schema).expect("a schema is JSON") + "\n";
            let file = folder.join(format!("{name}.json"));
            if std::env::var_os("RADDLE_SCHEMA").is_some_and(|value| value == "write") {
                std::fs::create_dir_all(&folder).expect("a folder");
                std::fs::write(&file, &text).expect("written");
            }
            let known = std::fs::read_to_string(&file).unwrap_or_default();
            assert_eq!(known, text, "{} is not up to date: RADDLE_SCHEMA=write renews it", file.display());
        }
    }
}
