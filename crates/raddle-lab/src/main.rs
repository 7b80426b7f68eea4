//! The binary `raddle-lab`.

use std::process::ExitCode;

fn main() -> ExitCode {
    ExitCode::from(raddle_lab::run::run(std::env::args_os()))
}
