//! Where a text is shown: in colours or not, and how wide lines may be.

use std::fmt::Display;

use console::{measure_text_width, Style, Term};

/// Below this many columns for the text, wrapped lines are harder to read than the terminal's own.
const NARROWEST: usize = 20;

#[derive(Clone, Copy, Debug, Default)]
pub struct Screen {
    pub colors: bool,
    /// The columns of the terminal. `None`: not a terminal, lines are as long as they are.
    pub width: Option<usize>,
}

impl Screen {
    pub fn stdout() -> Screen {
        Screen { colors: console::colors_enabled(), width: columns(&Term::stdout()) }
    }

    pub fn stderr() -> Screen {
        Screen { colors: console::colors_enabled_stderr(), width: columns(&Term::stderr()) }
    }

    /// Breaks lines between words where the terminal would break them inside. The text begins at column `at`, and lines
    /// that are broken go on at column `indent`.
    pub fn wrap(self, text: &str, at: usize, indent: usize) -> String {
        let Some(width) = self.width.filter(|&width| width >= indent + NARROWEST) else { return text.to_string() };
        let mut wrapped = String::new();
        let mut column = at;
        for (i, word) in text.split(' ').enumerate() {
            let (first, last) = (word.lines().next().unwrap_or_default(), word.rsplit('\n').next().unwrap_or_default());
            if i > 0 && column + 1 + measure_text_width(first) > width {
                wrapped.push('\n');
                wrapped.push_str(&" ".repeat(indent));
                column = indent;
            } else if i > 0 {
                wrapped.push(' ');
                column += 1;
            }
            wrapped.push_str(word);
            column = if word.contains('\n') { 0 } else { column } + measure_text_width(last);
        }
        wrapped
    }

    pub fn red(self, text: &str) -> String {
        self.apply(Style::new().red().bold(), text)
    }

    pub fn green(self, text: &str) -> String {
        self.apply(Style::new().green().bold(), text)
    }

    pub fn yellow(self, text: &str) -> String {
        self.apply(Style::new().yellow().bold(), text)
    }

    pub fn bold(self, text: &str) -> String {
        self.apply(Style::new().bold(), text)
    }

    fn apply(self, style: Style, text: &str) -> String {
        if self.colors {
            style.force_styling(true).apply_to(text).to_string()
        } else {
            text.to_string()
        }
    }
}

/// Says on standard error why a command failed.
pub fn print_error(error: &impl Display) {
    let title = console::style("error:").for_stderr().red().bold();
    eprintln!("{}", Screen::stderr().wrap(&format!("{title} {error}"), 0, 2));
}

fn columns(terminal: &Term) -> Option<usize> {
    terminal.is_term().then(|| terminal.size_checked()).flatten().map(|(_, columns)| columns.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "one two three four five six seven eight";

    fn wrap(width: usize, text: &str) -> String {
        Screen { colors: false, width: Some(width) }.wrap(text, 5, 2)
    }

    #[test]
    fn lines_are_broken_between_words() {
        assert_eq!(wrap(24, TEXT), "one two three four\n  five six seven eight");
        assert_eq!(wrap(23, TEXT), "one two three four\n  five six seven eight");
        assert_eq!(wrap(22, TEXT), "one two three\n  four five six seven\n  eight");
    }

    #[test]
    fn what_has_no_blanks_stays_whole() {
        let path = "/a/folder/with/a/long/name/and/a/file";
        assert_eq!(wrap(24, &format!("in {path} it")), format!("in\n  {path}\n  it"));
    }

    #[test]
    fn lines_of_the_text_stay() {
        assert_eq!(wrap(24, "one two\nthree four five six"), "one two\nthree four five six");
    }

    #[test]
    fn without_a_terminal_or_room_nothing_is_broken() {
        assert_eq!(Screen::default().wrap(TEXT, 0, 0), TEXT);
        assert_eq!(wrap(21, TEXT), TEXT);
    }

    #[test]
    fn colors_take_no_room() {
        let bold = Screen { colors: true, width: None }.bold("one");
        assert_eq!(wrap(24, &TEXT.replacen("one", &bold, 1)), format!("{bold} two three four\n  five six seven eight"));
    }
}
