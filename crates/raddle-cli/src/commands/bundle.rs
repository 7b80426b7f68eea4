//! `raddle bundle`: packs a failure so that it replays elsewhere.

use raddle_engine::bundle;
use raddle_report::exit_code;

use super::print;
use crate::arguments;
use crate::error::Error;

/// Runs the command: says what was packed and what could not be.
pub fn run(args: &arguments::Bundle) -> Result<u8, Error> {
    let output = match &args.output {
        Some(output) => output.clone(),
        None => args.schedule.with_extension("tar"),
    };
    let packed = bundle::pack(&args.schedule, &output).map_err(raddle_engine::Error::from)?;
    let bytes: u64 = packed.files.iter().map(|file| file.size).sum();
    print(&format!(
        "{}: {} files, {:.1} MB; replay it elsewhere with `raddle replay {}`\n",
        output.display(),
        packed.files.len(),
        bytes as f64 / 1e6,
        output.display()
    ));
    for missing in &packed.missing {
        print(&format!("not in the bundle: {missing}\n"));
    }
    Ok(exit_code::OK)
}
