//! `raddle policies`: the policies with their parameters and sources.

use std::path::Path;

use comfy_table::{presets, ContentArrangement, Table};
use raddle_core::policies;
use raddle_core::policy::Descriptor;
use serde::Serialize;

use super::{print, write_json};
use crate::arguments;
use crate::error::Error;
use crate::text::command_line::quoted;
use raddle_engine::plan::own_policies;
use raddle_engine::plan::policy_choice::{range, shown};
use raddle_report::exit_code;

pub fn run(args: &arguments::Policies) -> Result<u8, Error> {
    let runtime = args.runtime.as_deref();
    // Only when it was asked for: the list must not fail because of a variable.
    let own = runtime.map(|file| own_policies::of_named_runtime(Some(file))).transpose()?.flatten();
    let all = own.unwrap_or(policies::ALL);
    if args.json {
        let all: Vec<_> = all.iter().map(PolicyReport::new).collect();
        write_json(Path::new("-"), &all)?;
    } else {
        let width = console::Term::stdout().size_checked().map_or(100, |(_, columns)| columns);
        print(&format!("{}\n\n{}\n", table(all, width), example(all, runtime)));
    }
    Ok(exit_code::OK)
}

fn table(all: &[Descriptor], width: u16) -> String {
    let mut table = Table::new();
    table.load_style(presets::UTF8_BORDERS_ONLY);
    table.set_content_arrangement(ContentArrangement::Dynamic).set_width(width);
    table.set_header(["policy", "what it does", "source"]);
    for policy in all {
        let mut text = policy.summary.to_string();
        for parameter in policy.parameters {
            let default = shown(parameter, parameter.default);
            text += &format!("\n  {}={default}: {}; {}", parameter.name, parameter.help, range(parameter));
        }
        table.add_row([policy.name, &text, policy.source]);
    }
    table.to_string()
}

/// A command line that uses one of them.
fn example(all: &[Descriptor], runtime: Option<&Path>) -> String {
    let with_parameters = all.iter().find_map(|policy| Some((policy, policy.parameters.first()?)));
    let policy = match with_parameters {
        Some((policy, parameter)) => {
            format!("{}:{}={}", policy.name, parameter.name, shown(parameter, parameter.default))
        }
        None => "NAME".to_string(),
    };
    let runtime = runtime.map(|file| format!("--runtime {} ", quoted(file.as_os_str()))).unwrap_or_default();
    format!("raddle test {runtime}--policy {policy} -- PROGRAM")
}

#[derive(Serialize)]
struct PolicyReport {
    name: &'static str,
    summary: &'static str,
    source: &'static str,
    kind: &'static str,
    learns: &'static str,
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
    choices: &'static [&'static str],
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
            choices: p.choices,
        });
        PolicyReport {
            name: policy.name,
            summary: policy.summary,
            source: policy.source,
            kind: policy.kind.name(),
            learns: policy.learns.name(),
            parameters: parameters.collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_every_policy_and_parameter() {
        let text = table(policies::ALL, 100);
        for policy in policies::ALL {
            assert!(text.contains(policy.name), "{text}");
            for parameter in policy.parameters {
                assert!(
                    text.contains(&format!("{}={}", parameter.name, shown(parameter, parameter.default))),
                    "{text}"
                );
            }
        }
    }

    #[test]
    fn the_example_can_be_copied() {
        assert_eq!(example(policies::ALL, None), "raddle test --policy pct:d=3 -- PROGRAM");
        let with_runtime = example(&policies::ALL[..1], Some(Path::new("my own.so")));
        assert_eq!(with_runtime, "raddle test --runtime 'my own.so' --policy NAME -- PROGRAM");
    }
}
