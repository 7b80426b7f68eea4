//! Whether a library has examples in its documentation, which rustdoc compiles and runs and we do not.

use std::path::Path;

/// Whether a source file below this folder has a comment with a block of code.
pub fn has_any(folder: &Path) -> bool {
    let Ok(entries) = std::fs::read_dir(folder) else { return false };
    entries.flatten().any(|entry| {
        let path = entry.path();
        match entry.file_type() {
            Ok(kind) if kind.is_dir() => has_any(&path),
            Ok(_) if path.extension().is_some_and(|extension| extension == "rs") => {
                std::fs::read_to_string(path).is_ok_and(|text| text.lines().any(is_block))
            }
            _ => false,
        }
    })
}

fn is_block(line: &str) -> bool {
    let line = line.trim_start();
    let comment = line.strip_prefix("///").or_else(|| line.strip_prefix("//!"));
    let marks = comment.and_then(|comment| comment.trim_start().strip_prefix("```"));
    // Blocks of other languages, and those that are not to be run.
    marks.is_some_and(|attributes| {
        let words = attributes.split([',', ' ']).filter(|word| !word.is_empty());
        !words.clone().any(|word| word == "ignore" || word == "text") && words.clone().all(is_of_rust)
    })
}

fn is_of_rust(word: &str) -> bool {
    matches!(word, "rust" | "should_panic" | "no_run" | "compile_fail" | "standalone_crate")
        || word.starts_with("edition")
        || word.starts_with("ignore-")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_of_rust_only() {
        for line in ["/// ```", "    //! ```rust,should_panic", "///```no_run"] {
            assert!(is_block(line), "{line}");
        }
        for line in ["// ```", "/// ```text", "/// ```ignore", "/// ```sh", "let a = \"```\";"] {
            assert!(!is_block(line), "{line}");
        }
    }
}
