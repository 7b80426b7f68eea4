//! The runtime library, with the policies of raddle.

#![no_std]

raddle_runtime::runtime!();
