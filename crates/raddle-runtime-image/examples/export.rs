//! Writes the runtime library to a file: the one that verifies itself, if this is built with the feature `verify`.
//!
//! ```sh
//! cargo run --release -p raddle-runtime-image --features verify --example export -- target/verify/libraddle_runtime.so
//! ```

use std::fs;
use std::path::Path;
use std::process::ExitCode;

#[cfg(not(feature = "verify"))]
use raddle_runtime_image::RUNTIME as IMAGE;
#[cfg(feature = "verify")]
use raddle_runtime_image::VERIFY as IMAGE;

fn main() -> ExitCode {
    let Some(path) = std::env::args_os().nth(1) else {
        eprintln!("error: no file is named; expected the path of the library to write");
        return ExitCode::from(2);
    };
    let path = Path::new(&path);
    let folder = path.parent().map_or(Ok(()), fs::create_dir_all);
    match folder.and_then(|()| fs::write(path, IMAGE.bytes())) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {} cannot be written: {error}", path.display());
            ExitCode::FAILURE
        }
    }
}
