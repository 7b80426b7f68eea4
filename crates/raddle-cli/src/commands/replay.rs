//! `raddle replay`: runs one recorded schedule again.

use std::io::Write;
use std::path::Path;

use raddle_engine::campaign::{Campaign, End};
use raddle_engine::replay::{Replay, ReplayOptions};
use raddle_engine::run::output::Output;

use super::{print, write_json};
use crate::arguments;
use crate::arguments::resolve::{with_dashes, Process};
use crate::display;
use crate::error::Error;
use crate::text::replay;

pub fn run(args: &arguments::Replay) -> Result<u8, Error> {
    let process = Process::of(&args.process)?;
    let options = ReplayOptions {
        runs: args.runs,
        run_timeout: process.run_timeout,
        switch: process.switch,
        exec: args.process.exec,
        runtime: args.process.runtime.clone(),
        command: args.command.clone(),
        any_environment: args.any_env,
    };
    let recorded = Replay::open(&args.schedule, &options).map_err(with_dashes)?;
    for warning in &recorded.warnings {
        eprintln!("warning: {warning}");
    }
    let to_stderr = args.json.as_deref() == Some(Path::new("-"));
    let campaign = Campaign::start(recorded.plan.clone()).map_err(raddle_engine::Error::from)?;
    let outcome = display::follow(campaign, !args.quiet && args.runs > 1);
    if let Some(output) = outcome.output.as_ref().filter(|_| !args.quiet) {
        show_output(output, to_stderr);
    }
    if let End::Broken(error) = outcome.end {
        return Err(raddle_engine::Error::from(error).into());
    }
    let replayed = recorded.compare(&outcome);
    let text = replay::text(&replayed, args.quiet);
    if to_stderr {
        eprint!("{text}");
    } else {
        print(&text);
    }
    if let Some(path) = &args.json {
        write_json(path, &replayed.report(&args.schedule))?;
    }
    Ok(replayed.status())
}

/// Shows what the last run printed.
fn show_output(output: &Output, to_stderr: bool) {
    let stdout = output.stdout.read().unwrap_or_default();
    let stderr = output.stderr.read().unwrap_or_default();
    // A reader that has gone away is no error.
    let _ = match to_stderr {
        true => std::io::stderr().write_all(&stdout),
        false => std::io::stdout().write_all(&stdout),
    };
    let _ = std::io::stderr().write_all(&stderr);
}
