//! The experiments of the papers that raddle implements, beside what the papers print; and the shares of the portfolio.
//!
//! It is a front end like the command line, whose comparisons it makes, and is not published: no user's program needs it.

pub mod arguments;
pub mod experiments;
pub mod run;
