//! The raddle command line.
