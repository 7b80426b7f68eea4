//! Explores a program from one's own code: `explore PROGRAM [ARGS…]`.

use std::process::ExitCode;

use raddle_engine::{Campaign, Error, Event};

fn main() -> Result<ExitCode, Error> {
    let mut words = std::env::args_os().skip(1);
    let Some(program) = words.next() else {
        eprintln!("usage: explore PROGRAM [ARGS…]");
        return Ok(ExitCode::from(2));
    };
    let campaign = Campaign::builder(program).arguments(words).seed(1).runs(500).jobs(2).start()?;
    let mut failed = false;
    for event in campaign {
        match event {
            Event::Progress(progress) => eprintln!("{} of {} runs", progress.runs, progress.planned),
            Event::Finding(finding) => {
                failed = true;
                println!("{}: {}", finding.failure.kind.title(), finding.failure.message);
                if let Ok(schedule) = &finding.schedule {
                    println!("its schedule is in {}", schedule.display());
                }
            }
            Event::Over(outcome) => {
                println!("{} runs, {} schedules", outcome.tally.runs, outcome.tally.distinct_schedules())
            }
            Event::Run(_) | Event::Note(_) => {}
        }
    }
    Ok(if failed { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}
