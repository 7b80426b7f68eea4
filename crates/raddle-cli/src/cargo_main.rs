//! The binary `cargo-raddle`, which cargo starts for `cargo raddle`.

use std::process::ExitCode;

fn main() -> ExitCode {
    ExitCode::from(raddle_cli::cargo::run(std::env::args_os().collect()))
}
