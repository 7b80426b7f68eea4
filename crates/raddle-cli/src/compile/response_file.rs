//! Response files: `@FILE` stands for the words in the file. The syntax is libiberty's (`expandargv`,
//! `writeargv`), which clang shares: words are separated by white space, quotes of both kinds hold
//! them together, and a backslash takes the next character as it is, also within quotes.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::Path;

/// Files within files, at most. libiberty gives up after some thousands, at a file that names itself.
const DEPTH: usize = 100;

/// Expands the response files among some words; says whether there were any. A word whose file cannot be
/// read stays as it is, and the compiler complains about it.
pub fn expand(words: &[OsString]) -> (Vec<OsString>, bool) {
    let mut out = Vec::with_capacity(words.len());
    let any = expand_into(words, &mut out, 0);
    (out, any)
}

fn expand_into(words: &[OsString], out: &mut Vec<OsString>, depth: usize) -> bool {
    let mut any = false;
    for word in words {
        let file = word.as_bytes().strip_prefix(b"@").filter(|_| depth < DEPTH);
        match file.and_then(|file| std::fs::read(Path::new(OsStr::from_bytes(file))).ok()) {
            Some(text) => {
                expand_into(&split(&text), out, depth + 1);
                any = true;
            }
            None => out.push(word.clone()),
        }
    }
    any
}

fn split(text: &[u8]) -> Vec<OsString> {
    let mut words = Vec::new();
    let mut word: Option<Vec<u8>> = None;
    let mut quote = None;
    let mut bytes = text.iter().copied();
    while let Some(byte) = bytes.next() {
        match byte {
            b'\\' => word.get_or_insert_default().extend(bytes.next()),
            b'\'' | b'"' if quote.is_none() => {
                quote = Some(byte);
                word.get_or_insert_default();
            }
            byte if quote == Some(byte) => quote = None,
            byte if quote.is_none() && (byte.is_ascii_whitespace() || byte == b'\x0b') => words.extend(word.take()),
            byte => word.get_or_insert_default().push(byte),
        }
    }
    words.extend(word);
    words.into_iter().map(OsString::from_vec).collect()
}

/// The text of a response file with these words.
pub fn text(words: &[OsString]) -> Vec<u8> {
    let mut text = Vec::new();
    for word in words {
        if word.is_empty() {
            text.extend_from_slice(b"\"\"");
        }
        for &byte in word.as_bytes() {
            if byte.is_ascii_whitespace() || b"\x0b\\'\"".contains(&byte) {
                text.push(b'\\');
            }
            text.push(byte);
        }
        text.push(b'\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn strings(words: &[OsString]) -> Vec<&str> {
        words.iter().map(|word| word.to_str().expect("text")).collect()
    }

    #[test]
    fn words_and_quotes() {
        let words = split(b" -DA='x y'  -DB=\"it's\"\n\\ c '' a\\\"b \"\\\"\"\t");
        assert_eq!(strings(&words), ["-DA=x y", "-DB=it's", " c", "", "a\"b", "\""]);
    }

    #[test]
    fn what_is_written_is_read() {
        let words: Vec<OsString> = ["a b", "", "\\", "'", "\"x\"", "-DX=1", "tab\t\n"].map(OsString::from).to_vec();
        assert_eq!(split(&text(&words)), words);
    }

    #[test]
    fn files_within_files() {
        let folder = tempfile::tempdir().expect("a folder");
        let inner = folder.path().join("inner");
        let outer = folder.path().join("outer");
        std::fs::write(&inner, "-c x.c").expect("a file");
        std::fs::write(&outer, format!("-O2 @{}\n-g", inner.display())).expect("a file");
        let at = |path: &Path| OsString::from(format!("@{}", path.display()));
        let (words, any) = expand(&["-a".into(), at(&outer), "@/no/such".into()]);
        assert_eq!(strings(&words), ["-a", "-O2", "-c", "x.c", "-g", "@/no/such"]);
        assert!(any);
        assert_eq!(expand(&["@/no/such".into()]), (vec!["@/no/such".into()], false));
        // One that names itself comes to an end.
        std::fs::write(&inner, format!("@{}", inner.display())).expect("a file");
        assert_eq!(expand(&[at(&inner)]).0.len(), 1);
    }
}
