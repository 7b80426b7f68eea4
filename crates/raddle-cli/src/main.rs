//! The binary `raddle`.

use std::process::ExitCode;

fn main() -> ExitCode {
    ExitCode::from(raddle_cli::run(std::env::args_os()))
}
