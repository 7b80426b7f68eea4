//! A comparison as one page that stands by itself: no scripts, nothing from the network, readable in light and in dark,
//! and every chart's numbers are in a table that a screen reader can read.

mod bars;
mod cumulative;
mod missed;
mod page_table;
mod scatter;
mod survival;
mod svg;

use super::Comparison;
use raddle_report::words::{count, number};
use svg::escape;

/// The style of the page. Colours of series are those of Okabe and Ito, which people tell apart whatever they see.
const STYLE: &str = include_str!("page.css");

/// The page; `beside` is a text with a paper's numbers.
pub fn page(title: &str, comparison: &Comparison, beside: Option<&str>) -> String {
    let title = escape(title);
    let mut body = format!("<header>\n<h1>{title}</h1>\n<p>{}</p>\n</header>\n<main>\n", facts(comparison));
    let sections = [
        ("results", "Results", page_table::table(comparison)),
        ("paper", "Next to the paper", beside.map(|text| format!("<pre>{}</pre>\n", escape(text))).unwrap_or_default()),
        ("shares", "Failing share", bars::charts(comparison)),
        ("cumulative", "Bugs found against runs", cumulative::chart(comparison)),
        ("missed", "Programs without a finding", missed::chart(comparison)),
        ("survival", "First failures", survival::charts(comparison)),
        ("scatter", "Steps and failing share under the random walk", scatter::chart(comparison)),
        ("notes", "Left out", notes(comparison)),
    ];
    let there = || sections.iter().filter(|(_, _, content)| !content.is_empty());
    body.push_str("<nav aria-label=\"Sections\"><ul>\n");
    for (id, heading, _) in there() {
        body.push_str(&format!("<li><a href=\"#{id}\">{heading}</a></li>\n"));
    }
    body.push_str("</ul></nav>\n");
    for (id, heading, content) in there() {
        body.push_str(&format!(
            "<section id=\"{id}\" aria-labelledby=\"{id}-heading\">\n<h2 id=\"{id}-heading\">{heading}</h2>\n{content}</section>\n"
        ));
    }
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta name=\"viewport\" \
         content=\"width=device-width, initial-scale=1\">\n<title>{title}</title>\n<style>\n{STYLE}</style>\n</head>\n\
         <body>\n{body}</main>\n</body>\n</html>\n"
    )
}

fn facts(comparison: &Comparison) -> String {
    let end = match comparison.end {
        "interrupted" => "; interrupted",
        "time" => "; time ran out before everything was compared",
        _ => "",
    };
    format!(
        "{} under {}, {} each, {}, seed {}{end}.",
        count(comparison.programs.len() as u64, "program"),
        match comparison.policies.len() {
            1 => "1 policy".to_string(),
            n => format!("{} policies", number(n as u64)),
        },
        count(comparison.runs, "run"),
        count(comparison.repeat, "repetition"),
        comparison.seed
    )
}

fn notes(comparison: &Comparison) -> String {
    let programs = comparison.skipped.iter().map(|s| (&s.program, &s.reason));
    let policies = comparison.skipped_policies.iter().map(|s| (&s.program, &s.reason));
    let items: Vec<_> = programs
        .chain(policies)
        .map(|(name, reason)| format!("<li><strong>{}</strong>: {}</li>\n", escape(name), escape(reason)))
        .collect();
    if items.is_empty() {
        return String::new();
    }
    format!("<ul>\n{}</ul>\n", items.concat())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::sample;

    #[test]
    fn the_whole_page() {
        insta::assert_snapshot!(page("raddle compare", &sample::comparison(), Some("ours < theirs")));
    }

    #[test]
    fn what_is_opened_is_closed_and_nothing_comes_from_elsewhere() {
        let text = page("a & b", &sample::comparison(), None);
        let mut open: Vec<&str> = Vec::new();
        for tag in text.split('<').skip(1) {
            let name = tag.split(|c: char| c.is_whitespace() || c == '>').next().unwrap_or_default();
            let own_end = tag.split('>').next().is_some_and(|inside| inside.ends_with('/'));
            match name.strip_prefix('/') {
                Some(name) => assert_eq!(open.pop(), Some(name), "near {tag:?}"),
                None if own_end || ["!doctype", "meta", "br"].contains(&name) => {}
                None => open.push(name),
            }
        }
        assert_eq!(open, [""; 0]);
        for forbidden in ["http:", "https:", "<script", "src=", "url("] {
            assert!(!text.contains(forbidden), "{forbidden}");
        }
        assert!(text.contains("&lt;b&gt;bank &amp; co") && !text.contains("<b>"));
        assert!(text.contains("prefers-color-scheme: dark"));
    }

    #[test]
    fn first_failures_have_no_bars() {
        let mut comparison = sample::comparison();
        for cell in comparison.programs.iter_mut().flat_map(|program| &mut program.cells) {
            *cell = sample::first_only(cell.clone());
        }
        let text = page("first failures", &comparison, None);
        for shown in ["class=\"whisker\"", "bars-0", "scatter-chart", "class=\"best\"", "100.0%"] {
            assert!(!text.contains(shown), "{shown}");
        }
        assert!(text.contains("<td>found<small>first in 2</small></td>"), "{text}");
    }

    #[test]
    fn nothing_to_show() {
        let mut comparison = sample::comparison();
        comparison.programs.clear();
        let text = page("empty", &comparison, None);
        assert!(text.contains("0 programs under 3 policies") && !text.contains("<svg"), "{text}");
    }
}
