//! `raddle policies`: the policies with their parameters and sources.

use std::path::Path;

use comfy_table::{presets, ContentArrangement, Table};
use raddle_core::policies;
use raddle_core::policy::Descriptor;
use serde::Serialize;

use super::{print, write_json};
use crate::args;
use crate::error::Error;
use crate::exit_code;
use crate::policy_choice::range;

/// Runs the command.
pub fn run(args: &args::Policies) -> Result<u8, Error> {
    if args.json {
        let all: Vec<_> = policies::ALL.iter().map(PolicyReport::new).collect();
        write_json(Path::new("-"), &all)?;
    } else {
        let width = console::Term::stdout().size_checked().map_or(100, |(_, columns)| columns);
        print(&table(width));
    }
    Ok(exit_code::OK)
}

fn table(width: u16) -> String {
    let mut table = Table::new();
    table.load_style(presets::UTF8_BORDERS_ONLY);
    table.set_content_arrangement(ContentArrangement::Dynamic).set_width(width);
    table.set_header(["policy", "what it does", "source"]);
    for policy in policies::ALL {
        let mut text = policy.summary.to_string();
        for parameter in policy.parameters {
            text += &format!("\n  {}={}: {}; {}", parameter.name, parameter.default, parameter.help, range(parameter));
        }
        table.add_row([policy.name, &text, policy.source]);
    }
    format!("{table}\n\nraddle test --policy {} -- PROGRAM\n", example())
}

fn example() -> String {
    let with_parameters = policies::ALL.iter().find(|policy| !policy.parameters.is_empty());
    match with_parameters.and_then(|policy| Some((policy, policy.parameters.first()?))) {
        Some((policy, parameter)) => format!("{}:{}={}", policy.name, parameter.name, parameter.default),
        None => "NAME".to_string(),
    }
}

#[derive(Serialize)]
struct PolicyReport {
    name: &'static str,
    summary: &'static str,
    source: &'static str,
    learns: bool,
    parameters: Vec<ParameterReport>,
}

#[derive(Serialize)]
struct ParameterReport {
    name: &'static str,
    help: &'static str,
    default: f64,
    min: f64,
    max: f64,
    whole: bool,
}

impl PolicyReport {
    fn new(policy: &Descriptor) -> PolicyReport {
        let parameters = policy.parameters.iter().map(|p| ParameterReport {
            name: p.name,
            help: p.help,
            default: p.default,
            min: p.min,
            max: p.max,
            whole: p.whole,
        });
        PolicyReport {
            name: policy.name,
            summary: policy.summary,
            source: policy.source,
            learns: policy.learns,
            parameters: parameters.collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_every_policy_and_parameter() {
        let text = table(100);
        for policy in policies::ALL {
            assert!(text.contains(policy.name), "{text}");
            for parameter in policy.parameters {
                assert!(text.contains(&format!("{}={}", parameter.name, parameter.default)), "{text}");
            }
        }
    }
}
