// bug: the length of another text is read first and its content copied afterwards, when the text may have become shorter
// kind: assert
// depth: 2
// threads: 3
// source: the stringbuffer of the corpus's list; stride (ASE'17), figure 5
// finds: pct, random
// points: atomic
// args: 4
// variants: 1 = 1; 4 = 4; 32 = 32
// row: stride:stringbuffer
// Argument: how often one thread appends and the other one clears and writes.

use std::ops::Range;
use std::sync::{Arc, Mutex};
use std::thread;

/// A text that threads may share: each operation has the lock.
struct TextBuffer {
    text: Mutex<String>,
}

impl TextBuffer {
    fn new(text: &str) -> TextBuffer {
        TextBuffer { text: Mutex::new(text.to_owned()) }
    }

    fn length(&self) -> usize {
        self.text.lock().unwrap().len()
    }

    fn copy(&self, range: Range<usize>) -> String {
        let text = self.text.lock().unwrap();
        assert!(range.end <= text.len(), "{range:?} of a text of {}", text.len());
        text[range].to_owned()
    }

    fn set(&self, new: &str) {
        let mut text = self.text.lock().unwrap();
        text.clear();
        text.push_str(new);
    }

    /// This text is locked all the time, but the other one is locked twice.
    fn append(&self, other: &TextBuffer) {
        let mut mine = self.text.lock().unwrap();
        let copy = if cfg!(fixed) {
            other.text.lock().unwrap().clone()
        } else {
            let length = other.length();
            other.copy(0..length)
        };
        mine.push_str(&copy);
    }
}

fn main() {
    let times: usize = std::env::args().nth(1).map_or(4, |word| word.parse().expect("a number"));
    let (all, line) = (Arc::new(TextBuffer::new("")), Arc::new(TextBuffer::new("a line of text\n")));

    let (target, source) = (all.clone(), line.clone());
    let appends = thread::spawn(move || (0..times).for_each(|_| target.append(&source)));
    let changes = thread::spawn(move || {
        for _ in 0..times {
            line.set("");
            line.set("another line of text\n");
        }
    });
    appends.join().unwrap();
    changes.join().unwrap();
    let length = all.length();
    assert!(all.copy(0..length).lines().all(|line| line.ends_with("line of text")));
}
