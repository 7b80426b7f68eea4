//! `raddle header`: where compilers find `raddle.h`.

use raddle_report::exit_code;
use raddle_runtime_image::HEADER;

use super::print;
use crate::arguments;
use crate::error::Error;

/// Prints the folder, or the header itself.
pub fn run(args: &arguments::Header) -> Result<u8, Error> {
    if args.text {
        print(HEADER.text());
    } else {
        print(&format!("{}\n", HEADER.folder()?.display()));
    }
    Ok(exit_code::OK)
}
