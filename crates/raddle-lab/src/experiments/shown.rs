//! What an experiment shows: a table and remarks, for a terminal or as a part of a page.

use comfy_table::{presets, ContentArrangement, Table};

/// A table with its title and what to know when reading it.
pub struct Shown {
    pub title: &'static str,
    /// The header and the rows.
    pub rows: Vec<Vec<String>>,
    /// What to know.
    pub remarks: Vec<String>,
}

impl Shown {
    /// For a terminal.
    pub fn text(&self) -> String {
        let mut out = format!("{}\n", self.title);
        if let [header, rows @ ..] = &self.rows[..] {
            let mut table = Table::new();
            table.load_style(presets::UTF8_BORDERS_ONLY);
            table.set_content_arrangement(ContentArrangement::Disabled);
            table.set_header(header);
            table.add_rows(rows);
            out.push_str(&format!("{table}\n"));
        }
        for remark in &self.remarks {
            out.push_str(&format!("- {remark}\n"));
        }
        out
    }

    /// As a section of a page.
    pub fn markdown(&self) -> String {
        let line = |cells: &[String]| {
            let cells: Vec<_> = cells.iter().map(|cell| cell.replace('|', "\\|")).collect();
            format!("| {} |\n", cells.join(" | "))
        };
        let mut out = format!("## {}\n\n", self.title);
        if let [header, rows @ ..] = &self.rows[..] {
            out.push_str(&line(header));
            out.push_str(&format!("|{}\n", "---|".repeat(header.len())));
            rows.iter().for_each(|row| out.push_str(&line(row)));
            out.push('\n');
        }
        self.remarks.iter().for_each(|remark| out.push_str(&format!("- {remark}\n")));
        out
    }
}

/// The page with all of them: how it was made, and the sections.
pub fn page((title, introduction): (&str, &str), command: &str, machine: &str, sections: &[Shown]) -> String {
    let head =
        format!("# {title}\n\nThis page was made by\n\n```text\n{command}\n```\n\non {machine}. {introduction}\n");
    sections.iter().fold(head, |page, section| page + "\n" + &section.markdown())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown() -> Shown {
        let row = |cells: [&str; 2]| cells.map(str::to_string).to_vec();
        Shown { title: "A table", rows: vec![row(["a", "b"]), row(["1", "x|y"])], remarks: vec!["mind this".into()] }
    }

    #[test]
    fn a_section_of_a_page() {
        let expected = "## A table\n\n| a | b |\n|---|---|\n| 1 | x\\|y |\n\n- mind this\n";
        assert_eq!(shown().markdown(), expected);
        let page = page(("Compared with the papers", "Mind this."), "raddle compare", "a machine", &[shown(), shown()]);
        assert!(page.starts_with("# Compared with the papers\n") && page.matches(expected).count() == 2, "{page}");
    }

    #[test]
    fn a_table_for_a_terminal() {
        let text = shown().text();
        assert!(
            text.starts_with("A table\n") && text.contains("│ 1   x|y │") && text.ends_with("- mind this\n"),
            "{text}"
        );
    }
}
